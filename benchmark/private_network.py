# Copyright 2026 The gr-spead authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Where sweep.py sends to: networks that nothing leaves, or a real one.

The namespaces of a private network have no names. They are held by this process and its
children only, and are gone when those end, however that happens.
"""

import ctypes
import errno
import os
import shlex
import socket
import subprocess
import sys
import threading
from dataclasses import dataclass, field

CLONE_NEWNET = 0x40000000
NEAR, FAR = "10.77.0.1", "10.77.0.2"
PORT = 7148
libc = ctypes.CDLL(None, use_errno=True)

KINDS = {
    "drop": "a device that drops each packet at once, MTU 65535",
    "veth": "a veth pair to a second network namespace, MTU 9200, segmentation offload",
    "cut": "a veth pair to a second network namespace, MTU 9200, without segmentation "
    "offload: the kernel cuts, as for a card that cannot",
    "loopback": "the loopback device, to a socket that nobody reads",
    "card": "a real one",
}


@dataclass
class Network:
    kind: str
    host: str
    port: int
    held: list = field(default_factory=list)  # what is to live as long

    @property
    def description(self):
        return KINDS[self.kind]


def system_call(result):
    if result != 0:
        raise OSError(ctypes.get_errno(), os.strerror(ctypes.get_errno()))


class NetworkError(Exception):
    """There can be no private network; the text says why, and what rights it takes."""

    def __init__(self, trouble):
        text = f"no private network: {trouble}"
        # the kernel's words, whichever program passes them on
        if os.strerror(errno.EPERM) in text:
            text += (
                " (it takes root: sudo, or --privileged for a container;"
                " loopback does not)"
            )
        super().__init__(text)


def tool(*args):
    try:
        subprocess.run(args, check=True, timeout=30, capture_output=True, text=True)
    except subprocess.CalledProcessError as error:
        raise NetworkError(f"{shlex.join(args)}: {error.stderr.strip()}") from None
    except (OSError, subprocess.TimeoutExpired) as error:
        raise NetworkError(error) from None


def new_namespace():
    """A network namespace, in which this thread and its children are from now on."""
    try:
        system_call(libc.unshare(CLONE_NEWNET))
    except OSError as error:
        raise NetworkError(error) from None
    tool("ip", "link", "set", "lo", "up")
    return open("/proc/thread-self/ns/net")


def possible(kind=None):
    """Whether a private network is, one of KINDS or an empty one; if not, says that it
    will be loopback, and why.

    In a container it is not enough to be root, and a kernel need not have all devices.
    So it is tried, by a thread of its own, with which the network ends.
    """
    troubles = []

    def attempt():
        try:
            held = open_network(kind).held if kind else [new_namespace()]
            for each in held:
                each.close()
        except (OSError, NetworkError) as error:
            troubles.append(error)

    thread = threading.Thread(target=attempt)
    thread.start()
    thread.join()
    for trouble in troubles:
        print(f"on loopback: {trouble}", file=sys.stderr)
    return not troubles


def enter(namespace):
    system_call(libc.setns(namespace.fileno(), CLONE_NEWNET))


def unread_socket(host, port=0):
    """A bound socket, so that no ICMP errors come back; what it cannot hold is lost."""
    sock = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    sock.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 0)  # as small as it gets
    sock.bind((host, port))
    return sock


def loopback():
    sock = unread_socket("127.0.0.1")
    return Network("loopback", *sock.getsockname(), [sock])


def drop():
    """An ifb device to which nothing is redirected: it drops what it is to send."""
    new_namespace()
    tool("ip", "link", "add", "sink0", "type", "ifb")
    tool("ip", "addr", "add", f"{NEAR}/24", "dev", "sink0")
    tool("ip", "link", "set", "sink0", "mtu", "65535", "up")
    tool("tc", "qdisc", "replace", "dev", "sink0", "root", "noqueue")
    return Network("drop", FAR, PORT)


def pair(kind):
    far = new_namespace()
    near = new_namespace()
    # By the descriptor: a namespace without a name has no other name for `ip`.
    far_path = f"/proc/{os.getpid()}/fd/{far.fileno()}"
    peer = ["peer", "name", "v1", "netns", far_path]
    tool("ip", "link", "add", "v0", "type", "veth", *peer)
    enter(far)
    set_up("v1", FAR)
    sock = unread_socket(FAR, PORT)
    enter(near)
    set_up("v0", NEAR)
    if kind == "cut":
        tool("ethtool", "-K", "v0", "tx-udp-segmentation", "off")
    return Network(kind, FAR, PORT, [near, far, sock])


def set_up(device, address):
    tool("ip", "addr", "add", f"{address}/24", "dev", device)
    tool("ip", "link", "set", device, "mtu", "9200", "up")


def open_network(kind):
    """One of KINDS but a card. All but loopback need root, and change this thread."""
    if kind == "loopback":
        return loopback()
    return drop() if kind == "drop" else pair(kind)
