# Copyright 2026 The gr-spead authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""A network of this process's own, for scenarios that tests run in processes of theirs.

It is two namespaces with a veth pair between them, and ends with the process. That one
sends from 10.77.0.1 in the near namespace to 10.77.0.2 in the far one. After
set_ipv6_addresses(), it may send from fd77::1 to fd77::2.
"""

import contextlib
import ctypes
import ipaddress
import json
import os
import socket
import struct
import subprocess
import sys

from conservation import check_nothing_pending
from places import BOUND, SO_RCVBUFFORCE, eventually

NEAR_HOST, FAR_HOST = "10.77.0.1", "10.77.0.2"
NEAR = {"ipv4": NEAR_HOST, "ipv6": "fd77::1"}
FAR = {"ipv4": FAR_HOST, "ipv6": "fd77::2"}
CLONE_NEWNET = 0x40000000
libc = ctypes.CDLL(None, use_errno=True)


def tool(*args):
    subprocess.run(args, check=True, timeout=BOUND)


def shape(rate, burst, limit, device="v0"):
    """Let the near device send at no more than this rate."""
    queue = ["tbf", "rate", rate, "burst", burst, "limit", limit]
    tool("tc", "qdisc", "replace", "dev", device, "root", *queue)


def system_call(result):
    if result != 0:
        raise OSError(ctypes.get_errno(), os.strerror(ctypes.get_errno()))


def new_namespace():
    """A network namespace, in which this thread is from now on."""
    system_call(libc.unshare(CLONE_NEWNET))
    return open("/proc/self/ns/net")


@contextlib.contextmanager
def inside(namespace):
    """This thread is in another namespace; sockets that it opens there stay there."""
    with open("/proc/self/ns/net") as here:
        system_call(libc.setns(namespace.fileno(), CLONE_NEWNET))
        try:
            yield
        finally:
            system_call(libc.setns(here.fileno(), CLONE_NEWNET))


def set_up(device, address):
    tool("ip", "addr", "add", f"{address}/24", "dev", device)
    tool("ip", "link", "set", device, "up")


def add_address(address, width, device):
    """Linux takes an IPv6 address first and accepts packets for it somewhat later."""
    tool("ip", "addr", "replace", f"{address}/{width}", "dev", device, "nodad")
    route = ["ip", "route", "get", address, "oif", device]

    def accepts():
        answer = subprocess.run(route, timeout=BOUND, capture_output=True)
        return answer.stdout.startswith(b"local")

    eventually(accepts)


def set_ipv6_addresses(far):
    """They go when an interface goes down. The far end's first."""
    with inside(far):
        add_address(FAR["ipv6"], 64, "v1")
    add_address(NEAR["ipv6"], 64, "v0")


def make_network():
    """Both ends of the network; this thread is at the near one."""
    far = new_namespace()
    new_namespace()
    add_link(far)
    set_up("v0", NEAR_HOST)
    return far


def add_link(far):
    """A veth pair of which the far end is up."""
    with inside(far):
        # ends with this process, whose end of the pipe it reads
        holder = subprocess.Popen(["cat"], stdin=subprocess.PIPE)
    peer = ["peer", "name", "v1", "netns", str(holder.pid)]
    tool("ip", "link", "add", "v0", "type", "veth", *peer)
    with inside(far):
        set_up("v1", FAR_HOST)
        receive_on_one_cpu("v1")


def receive_on_one_cpu(device):
    """Keep the order of packets, whichever CPUs they are sent from.

    By default a CPU passes on what it sends over a veth pair itself, so packets that
    two CPUs send may overtake each other.
    """
    file = f"/sys/class/net/{device}/queues/rx-0/rps_cpus"
    script = f"mount -t sysfs sysfs /sys && echo 1 > {file}"
    tool("unshare", "--mount", "sh", "-c", script)


def receive_buffer(sock):
    """Room for what a test sends."""
    sock.setsockopt(socket.SOL_SOCKET, SO_RCVBUFFORCE, 64 << 20)


def listen(far, address=FAR_HOST):
    """A socket in the far namespace, at its address or in a multicast group."""
    family = socket.AF_INET6 if ":" in address else socket.AF_INET
    with inside(far):
        sock = socket.socket(family, socket.SOCK_DGRAM)
        receive_buffer(sock)
        sock.bind((address, 7148))
        if ipaddress.ip_address(address).is_multicast:
            join(sock, address)
    sock.settimeout(BOUND)
    return sock


def join(sock, group):
    """A multicast group, at the far end, where this thread is."""
    index = struct.pack("@I", socket.if_nametoindex("v1"))
    if sock.family == socket.AF_INET6:
        membership = socket.inet_pton(sock.family, group) + index
        sock.setsockopt(socket.IPPROTO_IPV6, socket.IPV6_JOIN_GROUP, membership)
    else:
        membership = socket.inet_aton(group) + bytes(4) + index
        sock.setsockopt(socket.IPPROTO_IP, socket.IP_ADD_MEMBERSHIP, membership)


def main(scenarios):
    name = sys.argv[1]
    report = scenarios[name](make_network(), *sys.argv[2:])
    check_nothing_pending()
    print(json.dumps({"scenario": name, **report}), flush=True)
    # blocks that are still there must not hold up the end of the process
    os._exit(0)
