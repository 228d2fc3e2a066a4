# Copyright 2026 The gr-spead authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Parses SPEAD packets of any flavour."""

from typing import NamedTuple

DESCRIPTOR = 0x05
STREAM_CONTROL = 0x06
STREAM_CONTROL_STOP = 2


class ItemPointer(NamedTuple):
    """An item pointer; `value` is the immediate value or the address in the heap."""

    immediate: bool
    id: int
    value: int


class Packet(NamedTuple):
    heap_address_bits: int
    items: list
    payload: memoryview

    def is_end_of_stream(self):
        return (True, STREAM_CONTROL, STREAM_CONTROL_STOP) in self.items

    def has_descriptors(self):
        return any(item.id == DESCRIPTOR and not item.immediate for item in self.items)


def parse(datagram):
    """Parse a datagram (bytes-like); raises ValueError if it is not SPEAD-64."""
    datagram = memoryview(datagram).cast("B")
    if len(datagram) < 8 or bytes(datagram[:2]) != b"\x53\x04":
        raise ValueError("not SPEAD 4")
    id_bytes, address_bytes = datagram[2], datagram[3]
    if id_bytes + address_bytes != 8 or not id_bytes or not address_bytes:
        raise ValueError("not SPEAD-64")
    payload_start = 8 + 8 * int.from_bytes(datagram[6:8], "big")
    if len(datagram) < payload_start:
        raise ValueError("truncated item pointers")
    bits = 8 * address_bytes
    items = []
    for offset in range(8, payload_start, 8):
        pointer = int.from_bytes(datagram[offset : offset + 8], "big")
        item_id = pointer >> bits & (1 << 63 - bits) - 1
        value = pointer & (1 << bits) - 1
        items.append(ItemPointer(bool(pointer >> 63), item_id, value))
    return Packet(bits, items, datagram[payload_start:])
