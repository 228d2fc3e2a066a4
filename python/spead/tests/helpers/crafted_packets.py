# Copyright 2026 The gr-spead authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""SPEAD packets and descriptors that spead2's Python sender cannot generate."""

import struct

HEAP_COUNTER, HEAP_LENGTH, OFFSET, PAYLOAD_LENGTH, DESCRIPTOR = 1, 2, 3, 4, 5
NAME, DESCRIPTION, SHAPE, FORMAT, DESCRIBED_ID, NUMPY_HEADER = range(0x10, 0x16)
STREAM_CONTROL, STOP = 6, 2


def immediate(id, value, bits=40):
    """An item pointer with an immediate value."""
    return struct.pack(">Q", 1 << 63 | id << bits | value & (1 << bits) - 1)


def addressed(id, address, bits=40):
    """An item pointer with an address: an offset in the payload of the heap."""
    return struct.pack(">Q", id << bits | address)


def packet(counter, pointers, payload, offset=0, heap_length=None, bits=40):
    """A packet of a heap.

    pointers: item pointers, placed after those that describe the packet
    heap_length: 0 omits the item; by default, the packet contains the whole heap
    """
    length = len(payload) if heap_length is None else heap_length
    items = [immediate(HEAP_COUNTER, counter, bits)]
    items += [immediate(HEAP_LENGTH, length, bits)] if length else []
    items += [
        immediate(OFFSET, offset, bits),
        immediate(PAYLOAD_LENGTH, len(payload), bits),
        *pointers,
    ]
    header = struct.pack(">BBBBHH", 0x53, 4, 8 - bits // 8, bits // 8, 0, len(items))
    return header + b"".join(items) + payload


def descriptor(name, id, numpy_header=None, format=(), shape=(), bits=40):
    """The descriptor of an item: a packet embedded in the payload of a heap.

    format: (type, bits) of each field of an element
    shape: size of each dimension; None if it is variable
    """
    fields = [
        (NAME, name.encode()),
        (DESCRIPTION, b""),
        (
            FORMAT,
            b"".join(
                kind.encode() + width.to_bytes(8 - bits // 8, "big")
                for kind, width in format
            ),
        ),
        (
            SHAPE,
            b"".join(
                bytes([size is None]) + (size or 0).to_bytes(bits // 8, "big")
                for size in shape
            ),
        ),
    ]
    if numpy_header is not None:
        fields.append((NUMPY_HEADER, numpy_header.encode()))
    pointers, payload = [immediate(DESCRIBED_ID, id, bits)], b""
    for field, content in fields:
        pointers.append(addressed(field, len(payload), bits))
        payload += content
    return packet(1, pointers, payload, bits=bits)


def descriptor_heap(descriptors, counter, bits=40):
    """A heap that contains only descriptors, in one packet."""
    pointers, payload = [], b""
    for content in descriptors:
        pointers.append(addressed(DESCRIPTOR, len(payload), bits))
        payload += content
    return packet(counter, pointers, payload, bits=bits)


def end_of_stream(counter, bits=40):
    return packet(
        counter,
        [immediate(STREAM_CONTROL, STOP, bits), addressed(0, 0, bits)],
        b"\0",
        bits=bits,
    )


def split_heap(counter, pointers, payload, packet_bytes, heap_length=None, bits=40):
    """The packets of a heap. As in spead2, only the first carries the item pointers.

    heap_length: 0 omits the item
    """
    length = len(payload) if heap_length is None else heap_length
    packets = []
    for offset in range(0, len(payload), packet_bytes):
        part = payload[offset : offset + packet_bytes]
        items = () if offset else pointers
        packets.append(packet(counter, items, part, offset, length, bits))
    return packets


def data_heap(counter, timestamp, samples, bits=40, more=(), **options):
    """A heap with a timestamp and samples, in one packet."""
    return packet(
        counter,
        [immediate(0x1600, timestamp, bits), *more, addressed(0x3300, 0, bits)],
        samples.tobytes(),
        bits=bits,
        **options,
    )
