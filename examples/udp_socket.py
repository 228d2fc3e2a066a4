# Copyright 2026 The gr-spead authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""A UDP socket that does not lose what comes fast, for receive.py."""

import socket
import sys

SOCKET_BUFFER = 64 << 20  # bytes, about 0.3 s of 200 MB/s


def bound_socket(address, port):
    """A UDP socket bound to the address, its buffer as large as the system grants."""
    found = socket.getaddrinfo(address, port, type=socket.SOCK_DGRAM)
    family, kind, protocol, _, endpoint = found[0]
    sock = socket.socket(family, kind, protocol)
    sock.bind(endpoint)
    join_group(sock, endpoint)
    try:
        so_rcvbufforce = 33  # Linux; not in Python's socket module
        sock.setsockopt(socket.SOL_SOCKET, so_rcvbufforce, SOCKET_BUFFER)
    except PermissionError:
        sock.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, SOCKET_BUFFER)
        granted = sock.getsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF) // 2
        if granted < SOCKET_BUFFER:
            print(
                f"the socket buffer is limited to {granted} bytes; for fast streams:"
                f" sysctl -w net.core.rmem_max={SOCKET_BUFFER}",
                file=sys.stderr,
            )
    return sock


def join_group(sock, endpoint):
    """Join the group, if the address is one, on the interface the system chooses."""
    group = socket.inet_pton(sock.family, endpoint[0].split("%")[0])
    if sock.family == socket.AF_INET and 224 <= group[0] < 240:
        sock.setsockopt(socket.IPPROTO_IP, socket.IP_ADD_MEMBERSHIP, group + bytes(4))
    elif sock.family == socket.AF_INET6 and group[0] == 255:
        index = endpoint[3].to_bytes(4, sys.byteorder)
        sock.setsockopt(socket.IPPROTO_IPV6, socket.IPV6_JOIN_GROUP, group + index)
