# Copyright 2026 The gr-spead authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Captures of UDP datagrams, written field by field as tcpdump writes them."""

import ipaddress
import struct

ETHERNET, RAW_IP, COOKED, COOKED_2 = 1, 101, 113, 276


def udp(payload, source, destination):
    return struct.pack(">HHHH", source, destination, 8 + len(payload), 0) + payload


def ip_packets(content, source="10.0.0.1", destination="10.0.0.2", mtu=65535, id=1):
    """IP packets with a UDP datagram; several fragments if it exceeds the MTU."""
    source, destination = map(ipaddress.ip_address, (source, destination))
    is_v6 = source.version == 6
    header = 48 if is_v6 else 20
    size = (mtu - header) // 8 * 8
    pieces = [content[i : i + size] for i in range(0, len(content), size)]
    for i, piece in enumerate(pieces):
        has_more = i + 1 < len(pieces)
        offset = i * size
        if is_v6:
            extension, next_header = b"", 17
            if len(pieces) > 1:
                extension = struct.pack(">BBHI", 17, 0, offset | has_more, id)
                next_header = 44
            yield (
                struct.pack(">IHBB", 6 << 28, len(extension + piece), next_header, 64)
                + source.packed
                + destination.packed
                + extension
                + piece
            )
        else:
            flags = has_more << 13 | offset // 8
            yield (
                struct.pack(">BBHHHBBH", 0x45, 0, 20 + len(piece), id, flags, 64, 17, 0)
                + source.packed
                + destination.packed
                + piece
            )


def frame(link_type, packet, vlan=None):
    """A frame with an IP packet."""
    ether_type = 0x86DD if packet[0] >> 4 == 6 else 0x0800
    if link_type == RAW_IP:
        return packet
    if link_type == COOKED:
        return struct.pack(">HHH8sH", 0, 1, 6, b"", ether_type) + packet
    if link_type == COOKED_2:
        return struct.pack(">HHIHBB8s", ether_type, 0, 1, 1, 0, 6, b"") + packet
    tag = struct.pack(">HH", 0x8100, vlan) if vlan else b""
    return bytes(12) + tag + struct.pack(">H", ether_type) + packet


def write_capture(path, frames, link_type=ETHERNET, step=0.001):
    """Write a pcap file; frames are `step` seconds apart."""
    with path.open("wb") as file:
        file.write(struct.pack("=IHHiIII", 0xA1B2C3D4, 2, 4, 0, 0, 262144, link_type))
        for i, data in enumerate(frames):
            seconds, microseconds = divmod(round(i * step * 1e6), 10**6)
            file.write(
                struct.pack(
                    "=IIII", 1_700_000_000 + seconds, microseconds, len(data), len(data)
                )
            )
            file.write(data)
    return path


def pcapng(frames, order="<", link_type=ETHERNET):
    """A pcapng file: blocks of a section, an interface and packets, in a byte order."""

    def block(type, body):
        body += bytes(-len(body) % 4)
        size = struct.pack(order + "I", 12 + len(body))
        return struct.pack(order + "I", type) + size + body + size

    content = block(0x0A0D0D0A, struct.pack(order + "IHHq", 0x1A2B3C4D, 1, 0, -1))
    content += block(4, bytes(4))  # names, of which there are none
    content += block(1, struct.pack(order + "HHI", link_type, 0, 262144))
    for i, data in enumerate(frames):
        microseconds = 1_700_000_000_000_000 + 1000 * i
        high, low = divmod(microseconds, 2**32)
        header = struct.pack(order + "IIIII", 0, high, low, len(data), len(data))
        content += block(6, header + data)
    return content


def capture(path, datagrams, link_type=ETHERNET, *, vlan=None, mtu=65535, **addresses):
    """Write a capture of datagrams to port 7148."""
    frames = [
        frame(link_type, packet, vlan)
        for id, payload in enumerate(datagrams)
        for packet in ip_packets(udp(payload, 5000, 7148), mtu=mtu, id=id, **addresses)
    ]
    return write_capture(path, frames, link_type)
