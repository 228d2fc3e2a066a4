# Copyright 2026 The gr-spead authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Two hosts in network namespaces, for scenarios that tests run in their own processes.

A veth pair, v0 and v1, connects the near and the far namespace. Both end with the
process. The process sends from 10.77.0.1 in the near namespace to 10.77.0.2 in the far
one, or after set_ipv6_addresses() from fd77::1 to fd77::2.
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
    """Limit the rate of a near device with a token bucket filter."""
    queue = ["tbf", "rate", rate, "burst", burst, "limit", limit]
    tool("tc", "qdisc", "replace", "dev", device, "root", *queue)


def system_call(result):
    if result != 0:
        raise OSError(ctypes.get_errno(), os.strerror(ctypes.get_errno()))


def new_namespace():
    """Create a network namespace and move this thread into it."""
    system_call(libc.unshare(CLONE_NEWNET))
    return open("/proc/self/ns/net")


@contextlib.contextmanager
def inside(namespace):
    """Move this thread into a namespace temporarily. Its new sockets stay there."""
    with open("/proc/self/ns/net") as present:
        system_call(libc.setns(namespace.fileno(), CLONE_NEWNET))
        try:
            yield
        finally:
            system_call(libc.setns(present.fileno(), CLONE_NEWNET))


def set_up(device, address):
    tool("ip", "addr", "add", f"{address}/24", "dev", device)
    tool("ip", "link", "set", device, "up")


def add_address(address, width, device):
    """Add an address, and wait: Linux accepts packets for a new IPv6 address later."""
    tool("ip", "addr", "replace", f"{address}/{width}", "dev", device, "nodad")
    route = ["ip", "route", "get", address, "oif", device]

    def accepts():
        answer = subprocess.run(route, timeout=BOUND, capture_output=True)
        return answer.stdout.startswith(b"local")

    eventually(accepts)


def set_ipv6_addresses(far):
    """Set the IPv6 addresses, also again after an interface was down and lost them."""
    with inside(far):
        add_address(FAR["ipv6"], 64, "v1")
    add_address(NEAR["ipv6"], 64, "v0")


def make_network():
    """Create both namespaces; returns the far one. This thread is in the near one."""
    far = new_namespace()
    new_namespace()
    add_link(far)
    set_up("v0", NEAR_HOST)
    return far


def add_link(far):
    """Add the veth pair, and set up its far end."""
    with inside(far):
        # reads from a pipe, so it exits with this process
        holder = subprocess.Popen(["cat"], stdin=subprocess.PIPE)
    peer = ["peer", "name", "v1", "netns", str(holder.pid)]
    tool("ip", "link", "add", "v0", "type", "veth", *peer)
    with inside(far):
        set_up("v1", FAR_HOST)
        receive_on_one_cpu("v1")


def receive_on_one_cpu(device):
    """Prevent reordering of packets that are sent from different CPUs.

    By default, the CPU that sends a packet over a veth pair also receives it. Packets
    from two CPUs may then overtake each other.
    """
    file = f"/sys/class/net/{device}/queues/rx-0/rps_cpus"
    script = f"mount -t sysfs sysfs /sys && echo 1 > {file}"
    tool("unshare", "--mount", "sh", "-c", script)


def enlarge_receive_buffer(sock):
    """Enlarge the receive buffer of a socket."""
    sock.setsockopt(socket.SOL_SOCKET, SO_RCVBUFFORCE, 64 << 20)


def listen(namespace, address=FAR_HOST, port=7148):
    """A socket in a namespace, bound to an address or a multicast group."""
    family = socket.AF_INET6 if ":" in address else socket.AF_INET
    with inside(namespace):
        sock = socket.socket(family, socket.SOCK_DGRAM)
        enlarge_receive_buffer(sock)
        sock.bind((address, port))
        if ipaddress.ip_address(address).is_multicast:
            join(sock, address)
    sock.settimeout(BOUND)
    return sock


def join(sock, group):
    """Join a multicast group on v1. This thread must be in the far namespace."""
    index = struct.pack("@I", socket.if_nametoindex("v1"))
    if sock.family == socket.AF_INET6:
        membership = socket.inet_pton(sock.family, group) + index
        sock.setsockopt(socket.IPPROTO_IPV6, socket.IPV6_JOIN_GROUP, membership)
    else:
        membership = socket.inet_aton(group) + bytes(4) + index
        sock.setsockopt(socket.IPPROTO_IP, socket.IP_ADD_MEMBERSHIP, membership)


def counter_of(packet):
    """The heap counter of a packet."""
    return int.from_bytes(packet[11:16], "big")


def main(scenarios):
    name = sys.argv[1]
    report = scenarios[name](make_network(), *sys.argv[2:])
    check_nothing_pending()
    print(json.dumps({"scenario": name, **report}), flush=True)
    # Exit without destructors: the blocks must not delay the end of the process.
    os._exit(0)
