# Copyright 2026 The gr-spead authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""UDP endpoints, and sockets that receive from them."""

import ipaddress
import re
import socket
import struct
import sys

SOCKET_BUFFER = 64 << 20  # bytes: 0.3 s at 200 MB/s
SO_RCVBUFFORCE = 33  # Linux; not in Python's socket module

ENDPOINT = re.compile(
    r"((\[(?P<ipv6>[^]]+)\]|(?P<host>[^]:+[]+)(\+(?P<more>\d{1,4}))?):)?(?P<port>\d+)"
)


def endpoints(text):
    """Parse a comma-separated list into pairs of an address and a port.

    An element is "239.1.2.3:7148", "[ff15::1]:7148", "239.1.2.3+7:7148" (eight
    consecutive IPv4 addresses) or "7148" (127.0.0.1). Raises ValueError otherwise.
    """
    found = []
    for part in map(str.strip, text.split(",")):
        match = ENDPOINT.fullmatch(part)
        if not match or int(match["port"]) > 65535:
            raise ValueError(f"{part!r} is not [ADDRESS[+N]:]PORT with a port to 65535")
        hosts = [match["ipv6"] or match["host"] or "127.0.0.1"]
        if match["more"]:
            try:
                first = ipaddress.IPv4Address(hosts[0])
                hosts = [str(first + n) for n in range(int(match["more"]) + 1)]
            except ipaddress.AddressValueError as error:
                raise ValueError(
                    f"{part!r}: +N is for IPv4 addresses: {error}"
                ) from None
        found += [(host, int(match["port"])) for host in hosts]
    return found


def endpoint_text(address, port):
    """Format an endpoint in the syntax of endpoints()."""
    return f"[{address}]:{port}" if ":" in address else f"{address}:{port}"


def bound_socket(address, port, interface=""):
    """A UDP socket bound to an address of this host or to a multicast group.

    `interface` joins the group on that interface (its name, or one of its IPv4
    addresses); by default, the system chooses. Errors name the endpoint.
    """
    try:
        return _bound_socket(address, port, interface)
    except (OSError, UnicodeError) as error:
        endpoint = endpoint_text(address, port)
        if interface:
            endpoint += f" on interface {interface}"
        reason = getattr(error, "strerror", None) or error
        raise OSError(f"cannot receive at {endpoint}: {reason}") from None


def _bound_socket(address, port, interface):
    found = socket.getaddrinfo(address, port, type=socket.SOCK_DGRAM)
    family, kind, protocol, _, endpoint = found[0]
    sock = socket.socket(family, kind, protocol)
    multicast = ipaddress.ip_address(endpoint[0]).is_multicast
    if multicast:
        # Let several receivers on this host join the same group.
        sock.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    elif interface:
        raise OSError("an interface is for multicast groups only")
    sock.bind(endpoint)
    if multicast:
        join_group(sock, endpoint, interface)
    _enlarge_buffer(sock)
    return sock


def join_group(sock, endpoint, interface=""):
    """Join the multicast group of an endpoint."""
    group = socket.inet_pton(sock.family, endpoint[0].split("%")[0])
    if sock.family == socket.AF_INET6:
        index = socket.if_nametoindex(interface) if interface else endpoint[3]
        membership = group + struct.pack("@I", index)
        sock.setsockopt(socket.IPPROTO_IPV6, socket.IPV6_JOIN_GROUP, membership)
        return
    address, index = bytes(4), 0
    try:
        address = socket.inet_aton(interface or "0.0.0.0")
    except OSError:  # not an address
        index = socket.if_nametoindex(interface)
    membership = group + address + struct.pack("@i", index)
    sock.setsockopt(socket.IPPROTO_IP, socket.IP_ADD_MEMBERSHIP, membership)


def _enlarge_buffer(sock):
    try:
        sock.setsockopt(socket.SOL_SOCKET, SO_RCVBUFFORCE, SOCKET_BUFFER)
        return
    except PermissionError:
        sock.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, SOCKET_BUFFER)
    granted = sock.getsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF) // 2
    if granted < SOCKET_BUFFER:
        print(
            f"the socket buffer is limited to {granted} bytes; for fast streams:"
            f" sysctl -w net.core.rmem_max={SOCKET_BUFFER}",
            file=sys.stderr,
        )
