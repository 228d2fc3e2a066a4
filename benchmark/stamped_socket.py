# Copyright 2026 The gr-spead authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""A UDP socket with the kernel's receive timestamps, in ns.

The kernel takes the time when a device delivers the message: on loopback and veth
devices while the sender sends it. It does not matter when the message is read.
"""

import socket
import struct
import time
from dataclasses import dataclass

# Linux; not in Python's socket module.
SO_TIMESTAMPNS = 35
SO_RCVBUFFORCE = 33
UDP_GRO = 104

SOCKET_BUFFER = 128 << 20
TIMESPEC = struct.Struct("@ll")
ANCILLARY = socket.CMSG_SPACE(TIMESPEC.size) + socket.CMSG_SPACE(4)
SETTLE = 0.05  # s until the kernel takes timestamps


@dataclass(frozen=True)
class Message:
    time: int  # ns since 1970
    size: int  # bytes, even if more than fit into the buffer
    packets: int


class StampedSocket:
    """If `whole`, packets that were sent as one message arrive as one."""

    def __init__(self, host, whole, timeout=0.2):
        self.socket = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        set_option = self.socket.setsockopt
        try:
            set_option(socket.SOL_SOCKET, SO_RCVBUFFORCE, SOCKET_BUFFER)
        except PermissionError:
            set_option(socket.SOL_SOCKET, socket.SO_RCVBUF, SOCKET_BUFFER)
        set_option(socket.SOL_SOCKET, SO_TIMESTAMPNS, 1)
        if whole:
            set_option(socket.IPPROTO_UDP, UDP_GRO, 1)
        # Not settimeout(), which costs a system call for each message.
        timeval = TIMESPEC.pack(int(timeout), int(timeout % 1 * 1e6))
        set_option(socket.SOL_SOCKET, socket.SO_RCVTIMEO, timeval)
        self.socket.bind((host, 0))
        time.sleep(SETTLE)

    @property
    def address(self):
        return "{}:{}".format(*self.socket.getsockname())

    def receive(self, buffer):
        """The next Message, its beginning in the buffer; None after a timeout."""
        try:
            size, ancillary, _, _ = self.socket.recvmsg_into(
                [buffer], ANCILLARY, socket.MSG_TRUNC
            )
        except BlockingIOError:
            return None
        at = segment = 0
        for level, kind, data in ancillary:
            if level == socket.SOL_SOCKET and kind == SO_TIMESTAMPNS:
                seconds, nanoseconds = TIMESPEC.unpack_from(data)
                at = seconds * 10**9 + nanoseconds
            elif level == socket.IPPROTO_UDP and kind == UDP_GRO:
                (segment,) = struct.unpack_from("@i", data)
        return Message(at, size, -(-size // segment) if segment else 1)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.socket.close()
