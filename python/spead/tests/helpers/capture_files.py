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


def frame(link_type, packet, vlan=None, vlan_type=0x8100):
    """A frame with an IP packet."""
    ether_type = 0x86DD if packet[0] >> 4 == 6 else 0x0800
    if link_type == RAW_IP:
        return packet
    if link_type == COOKED:
        return struct.pack(">HHH8sH", 0, 1, 6, b"", ether_type) + packet
    if link_type == COOKED_2:
        return struct.pack(">HHIHBB8s", ether_type, 0, 1, 1, 0, 6, b"") + packet
    tag = struct.pack(">HH", vlan_type, vlan) if vlan else b""
    return bytes(12) + tag + struct.pack(">H", ether_type) + packet


def write_capture(path, frames, link_type=ETHERNET, *, times=None, lengths=None):
    """Write a pcap file.

    times: of the frames, in seconds (default: 1 ms apart)
    lengths: of the frames before the capture cut them (default: they are whole)
    """
    times = [i * 0.001 for i in range(len(frames))] if times is None else times
    lengths = [len(data) for data in frames] if lengths is None else lengths
    with path.open("wb") as file:
        file.write(struct.pack("=IHHiIII", 0xA1B2C3D4, 2, 4, 0, 0, 262144, link_type))
        for data, time, length in zip(frames, times, lengths, strict=True):
            seconds, microseconds = divmod(round(time * 1e6), 10**6)
            seconds += 1_700_000_000
            file.write(struct.pack("=IIII", seconds, microseconds, len(data), length))
            file.write(data)
    return path


def pcapng_block(type, body, order="<"):
    body += bytes(-len(body) % 4)
    size = struct.pack(order + "I", 12 + len(body))
    return struct.pack(order + "I", type) + size + body + size


def pcapng(frames, order="<", link_types=(ETHERNET,), *, interfaces=None, times=None):
    """A pcapng file: blocks of a section, of interfaces and of packets.

    order: byte order
    interfaces: index of the interface of each frame (default: 0)
    times: of the frames, in microseconds (default: 1 ms apart)
    """
    content = pcapng_block(
        0x0A0D0D0A, struct.pack(order + "IHHq", 0x1A2B3C4D, 1, 0, -1), order
    )
    content += pcapng_block(4, bytes(4), order)  # names, of which there are none
    for link_type in link_types:
        content += pcapng_block(
            1, struct.pack(order + "HHI", link_type, 0, 262144), order
        )
    for i, data in enumerate(frames):
        microseconds = times[i] if times else 1_700_000_000_000_000 + 1000 * i
        interface = interfaces[i] if interfaces else 0
        fields = interface, *divmod(microseconds, 2**32), len(data), len(data)
        content += pcapng_block(6, struct.pack(order + "IIIII", *fields) + data, order)
    return content


def capture(path, datagrams, link_type=ETHERNET, *, times=None, **options):
    """Write a capture of datagrams to port 7148, one frame each.

    options: of frame() and ip_packets()
    """
    vlan = {
        name: options.pop(name) for name in ("vlan", "vlan_type") if name in options
    }
    frames = [
        frame(link_type, packet, **vlan)
        for payload in datagrams
        for packet in ip_packets(udp(payload, 5000, 7148), **options)
    ]
    return write_capture(path, frames, link_type, times=times)
