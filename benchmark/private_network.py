# Copyright 2026 The gr-spead authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Creates the networks for the benchmarks.

A private network consists of unnamed network namespaces, which end with this process
and its children.
"""

import contextlib
import ctypes
import os
import socket
import subprocess
import sys
from dataclasses import dataclass

CLONE_NEWNET = 0x40000000
NEAR, FAR, PORT = "10.77.0.1", "10.77.0.2", 7148
libc = ctypes.CDLL(None, use_errno=True)

PRIVATE = {
    "drop": "a device that drops every packet, MTU 65535",
    "veth": "a veth pair to a second network namespace, MTU 9200, segmentation offload",
    "cut": "a veth pair to a second network namespace, MTU 9200, without segmentation "
    "offload: the kernel segments, as for a card without the offload",
}
KINDS = {
    **PRIVATE,
    "loopback": "the loopback device, to a socket that nobody reads",
    "card": "a real network",
}


class NetworkError(Exception):
    """A private network cannot be created; the text is the reason."""


@dataclass
class Network:
    kind: str  # one of KINDS
    host: str
    port: int = PORT
    near: object = None  # the namespaces of a veth pair, as open files
    far: object = None
    unread: socket.socket | None = None  # prevents ICMP port unreachable

    @contextlib.contextmanager
    def far_end(self):
        """Move this thread to the far end of the network, to open sockets there."""
        if self.far:
            enter(self.far)
        try:
            yield
        finally:
            if self.near:
                enter(self.near)


def system_call(result):
    if result != 0:
        raise OSError(ctypes.get_errno(), os.strerror(ctypes.get_errno()))


def enter(namespace):
    system_call(libc.setns(namespace.fileno(), CLONE_NEWNET))


def tool(*command):
    subprocess.run(command, check=True, timeout=30, capture_output=True, text=True)


def this_namespace():
    return open("/proc/thread-self/ns/net")


def new_namespace():
    """Move this thread and its future children to a new network namespace."""
    system_call(libc.unshare(CLONE_NEWNET))
    tool("ip", "link", "set", "lo", "up")
    return this_namespace()


def unread_socket(host, port=0):
    sock = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    sock.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 0)  # the kernel's minimum
    sock.bind((host, port))
    return sock


def set_up(device, address, mtu):
    tool("ip", "addr", "add", f"{address}/24", "dev", device)
    tool("ip", "link", "set", device, "mtu", mtu, "up")


def open_drop():
    """Use an ifb device, which drops packets that were not redirected to it."""
    new_namespace()
    tool("ip", "link", "add", "sink0", "type", "ifb")
    set_up("sink0", NEAR, "65535")
    tool("tc", "qdisc", "replace", "dev", "sink0", "root", "noqueue")
    return Network("drop", FAR)


def open_veth(kind):
    far, near = new_namespace(), new_namespace()
    # `ip` accepts an unnamed namespace as the path of an open file.
    far_path = f"/proc/{os.getpid()}/fd/{far.fileno()}"
    peer = ("peer", "name", "v1", "netns", far_path)
    tool("ip", "link", "add", "v0", "type", "veth", *peer)
    network = Network(kind, FAR, near=near, far=far)
    with network.far_end():
        set_up("v1", FAR, "9200")
        network.unread = unread_socket(FAR, PORT)
    set_up("v0", NEAR, "9200")
    if kind == "cut":
        tool("ethtool", "-K", "v0", "tx-udp-segmentation", "off")
    return network


def open_loopback():
    sock = unread_socket("127.0.0.1")
    host, port = sock.getsockname()
    return Network("loopback", host, port, unread=sock)


def open_private(kind):
    """Create a network of this kind and move this thread to it.

    Raises NetworkError if the privileges or the devices are missing.
    """
    with this_namespace() as before:
        try:
            return open_drop() if kind == "drop" else open_veth(kind)
        except (OSError, subprocess.SubprocessError) as error:
            with contextlib.suppress(OSError):
                enter(before)
            reason = getattr(error, "stderr", None) or error
            raise NetworkError(
                f"no private network, which needs root: {reason}".strip()
            ) from error


def open_private_or_loopback(kind):
    try:
        return open_private(kind)
    except NetworkError as error:
        print(f"using loopback: {error}", file=sys.stderr)
        return open_loopback()
