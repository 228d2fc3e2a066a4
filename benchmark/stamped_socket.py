# Copyright 2026 The gr-spead authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""A UDP socket that says when the kernel got each message, to the nanosecond.

The kernel takes the time when a device hands it the message. On loopback, and between
veth devices, that is while the sender sends it. How late it is read does not matter.
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
SETTLE = 0.05  # s; the kernel begins to take times a little after it is asked to


@dataclass(frozen=True)
class Message:
    time: int  # ns since 1970
    size: int  # bytes, even if more than fit into the buffer
    packets: int


class StampedSocket:
    """Messages with their times; `whole` leaves together what was sent together."""

    def __init__(self, host, whole, patience=0.2):
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
        timeout = TIMESPEC.pack(int(patience), int(patience % 1 * 1e6))
        set_option(socket.SOL_SOCKET, socket.SO_RCVTIMEO, timeout)
        self.socket.bind((host, 0))
        time.sleep(SETTLE)

    @property
    def address(self):
        return "{}:{}".format(*self.socket.getsockname())

    def receive(self, buffer):
        """The next Message, its beginning in the buffer; None if none came in time."""
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
