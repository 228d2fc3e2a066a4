# Copyright 2026 The gr-spead authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Explains packets word by word."""

NAMES = {
    0x00: "null",
    0x01: "heap counter",
    0x02: "heap length",
    0x03: "payload offset",
    0x04: "payload length",
    0x05: "descriptor",
    0x06: "stream control",
}
STREAM_CONTROLS = {
    0: "start",
    1: "descriptor reissue",
    2: "stop",
    3: "descriptor update",
}
WORD = 8  # bytes
MAX_WORDS = 16  # shown of a packet


def explanation(inspector):
    """The first packet of each kind."""
    found: dict[int, set[str]] = {}
    for stream in inspector.streams():
        for d in stream["descriptions"]:
            found.setdefault(d["id"], set()).add(f'"{d["name"]}"')
    # senders may use an ID for different items
    names = {id: texts.pop() for id, texts in found.items() if len(texts) == 1}
    for number, kind in enumerate(inspector.packet_kinds()):
        data = kind["first"]
        yield ""
        yield (
            f"packet {number + 1}: the first of {kind['packets']:,} of its kind"
            + (f", {len(data):,} bytes" if data else "")
        )
        if reason := kind["rejection"].removeprefix("packets are rejected: "):
            yield f"  rejected: {reason}"
        yield from (f"  {line}" for line in words(data, names))
    if others := inspector.packets_of_other_kinds():
        yield f"and {others:,} packets of other kinds"


def words(packet, names):
    """A line for each word of a packet, with its meaning."""
    if len(packet) < WORD or packet[:2] != b"\x53\x04":
        if packet:
            yield _line(
                packet, 0, "no SPEAD header: 53 is the magic number, 04 the version"
            )
        return
    id_bytes, address_bytes = packet[2], packet[3]
    items = int.from_bytes(packet[6:8], "big")
    text = f"SPEAD version 4, {items:,} items of {id_bytes} + {address_bytes} bytes"
    if id_bytes and address_bytes and id_bytes + address_bytes == WORD:
        text = f"SPEAD-64-{8 * address_bytes}, {items:,} items"
    yield _line(packet, 0, text)
    if id_bytes + address_bytes != WORD:
        return
    end = WORD * (1 + items)
    for offset in range(WORD, min(end, WORD * MAX_WORDS, len(packet) - WORD + 1), WORD):
        yield _line(
            packet,
            offset,
            _meaning(packet[offset : offset + WORD], address_bytes, names),
        )
    if min(end, len(packet)) > WORD * MAX_WORDS:
        yield f"... {items - MAX_WORDS + 1:,} more items"
    if end > len(packet):
        yield "the packet ends here"
    elif end < len(packet):
        yield _line(packet, end, f"payload, {len(packet) - end:,} bytes")


def _meaning(word, address_bytes, names):
    bits = 8 * address_bytes
    number = int.from_bytes(word, "big")
    is_immediate = number >> 63
    id, value = (number & ~(1 << 63)) >> bits, number & ((1 << bits) - 1)
    name = NAMES.get(id) or names.get(id)
    text = f"item {id:#x}{f' ({name})' if name else ''}: "
    if not is_immediate:
        return f"{text}at {value:,} of the heap's payload"
    if id == 0x06:
        return f"{text}{value}, {STREAM_CONTROLS.get(value, 'unknown')}"
    return f"{text}{value:,} = {value:#x}"


def _line(packet, offset, text):
    return f"{offset:5}  {packet[offset : offset + WORD].hex(' '):23}  {text}"
