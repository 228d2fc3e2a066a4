# Copyright 2026 The gr-spead authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""UDP sockets that do not lose what comes fast, for the receivers of the examples."""

import ipaddress
import socket
import struct
import sys

SOCKET_BUFFER = 64 << 20  # bytes, about 0.3 s of 200 MB/s


def endpoints(text):
    """Pairs of an address and a port from a list as the sink takes it.

    "239.1.2.3+7:7148" is eight consecutive IPv4 addresses, "[ff15::1]:7148" is one of
    IPv6, and a comma separates. Raises ValueError for anything else.
    """
    found = []
    for endpoint in text.split(","):
        host, colon, port = endpoint.strip().rpartition(":")
        if not colon or not port.isdecimal() or int(port) > 65535:
            raise ValueError(f"{endpoint!r} is not ADDRESS:PORT, 0 to 65535")
        host, plus, more = host.strip("[]").partition("+")
        if not plus:
            found.append((host, int(port)))
            continue
        try:
            first, last = ipaddress.IPv4Address(host), int(more)
            found += [(str(first + n), int(port)) for n in range(last + 1)]
        except ValueError:
            last = -1
        if last < 0:
            raise ValueError(f"{endpoint!r} is not IPV4+N:PORT")
    return found


def bound_socket(address, port, interface=""):
    """A UDP socket bound to the address, its buffer as large as the system grants.

    If the address is a multicast group, it is joined on the interface (its name, or one
    of its IPv4 addresses), or on the one that the system chooses.
    """
    found = socket.getaddrinfo(address, port, type=socket.SOCK_DGRAM)
    family, kind, protocol, _, endpoint = found[0]
    sock = socket.socket(family, kind, protocol)
    if ipaddress.ip_address(endpoint[0].split("%")[0]).is_multicast:
        # Others on this host may listen to the group as well.
        sock.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    sock.bind(endpoint)
    join_group(sock, endpoint, interface)
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


def join_group(sock, endpoint, interface=""):
    """Join the group, if the address is one."""
    group = socket.inet_pton(sock.family, endpoint[0].split("%")[0])
    if sock.family == socket.AF_INET and 224 <= group[0] < 240:
        address, index = bytes(4), 0
        try:
            address = socket.inet_aton(interface or "0.0.0.0")
        except OSError:  # then it is a name
            index = socket.if_nametoindex(interface)
        membership = group + address + struct.pack("@i", index)
        sock.setsockopt(socket.IPPROTO_IP, socket.IP_ADD_MEMBERSHIP, membership)
    elif sock.family == socket.AF_INET6 and group[0] == 255:
        index = socket.if_nametoindex(interface) if interface else endpoint[3]
        membership = group + struct.pack("@I", index)
        sock.setsockopt(socket.IPPROTO_IPV6, socket.IPV6_JOIN_GROUP, membership)


def listening(sock):
    """Where a bound socket listens, as ADDRESS:PORT."""
    address, port = sock.getsockname()[:2]
    return f"[{address}]:{port}" if ":" in address else f"{address}:{port}"
