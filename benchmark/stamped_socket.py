# Copyright 2026 The gr-spead authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""A UDP socket with the kernel's receive timestamps, in ns.

The kernel takes a timestamp when a device delivers the message; loopback and veth
devices deliver it within the send call. A late read does not affect the timestamp.
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
SETTLE = 0.05  # s until the kernel starts to take timestamps


@dataclass(frozen=True)
class Message:
    time: int  # ns since 1970
    size: int  # bytes, may exceed the buffer
    packets: int


class StampedSocket:
    """Receives timestamped messages. `whole`: UDP GRO merges segments of a message."""

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
        # settimeout() would cost a system call per message.
        timeval = TIMESPEC.pack(int(timeout), int(timeout % 1 * 1e6))
        set_option(socket.SOL_SOCKET, socket.SO_RCVTIMEO, timeval)
        self.socket.bind((host, 0))
        time.sleep(SETTLE)

    @property
    def address(self):
        return "{}:{}".format(*self.socket.getsockname())

    def receive(self, buffer):
        """Read the start of the next Message into the buffer; None after a timeout."""
        try:
            size, ancillary, _, _ = self.socket.recvmsg_into(
                [buffer], ANCILLARY, socket.MSG_TRUNC
            )
        except BlockingIOError:
            return None
        arrival = segment = 0
        for level, kind, data in ancillary:
            if level == socket.SOL_SOCKET and kind == SO_TIMESTAMPNS:
                seconds, nanoseconds = TIMESPEC.unpack_from(data)
                arrival = seconds * 10**9 + nanoseconds
            elif level == socket.IPPROTO_UDP and kind == UDP_GRO:
                (segment,) = struct.unpack_from("@i", data)
        return Message(arrival, size, -(-size // segment) if segment else 1)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.socket.close()
