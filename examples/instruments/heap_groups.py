# Copyright 2026 The gr-spead authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Puts the heaps of several streams in order of time."""

from dataclasses import dataclass


@dataclass(frozen=True)
class Positions:
    """Describes a stream whose items are found by position, as headers of mkrecv do.

    heap_bytes: length of a heap (HEAP_SIZE); heaps of other lengths are rejected
    step: ticks from heap to heap (IDX1_STEP)
    timestamp: position of the timestamp among the items (IDX1_ITEM), counted from 0
        after the four items that each packet must have
    stream: position of the item that tells the streams apart (IDX2_ITEM)
    mask: bits of that item that do so (IDX2_MASK)
    values: value of these bits for each stream (IDX2_LIST)
    """

    heap_bytes: int = 4096
    step: int = 4096
    timestamp: int = 0
    stream: int = 1
    mask: int = 1
    values: tuple = (0, 1)

    @classmethod
    def from_header(cls, header):
        """From a dada.Header; fields that it lacks have the defaults above."""
        return cls(
            header.integer("HEAP_SIZE", header.integer("HEAP_NBYTES", cls.heap_bytes)),
            header.integer("IDX1_STEP", cls.step),
            header.integer("IDX1_ITEM", cls.timestamp),
            header.integer("IDX2_ITEM", cls.stream),
            header.integer("IDX2_MASK", cls.mask),
            header.integers("IDX2_LIST", cls.values),
        )


MAX_JUMP = 1 << 18  # steps; a timestamp that is farther from the last one is wrong


class HeapGroups:
    """Collects the heaps of the same timestamp into groups, and writes them in order.

    `write(timestamp, heaps)` gets a list of bytes, a heap of each stream. Missing heaps
    are zeros. If all heaps of a timestamp are missing, a group of zeros is written. A
    group is written when a heap arrives that is `window` steps later.

    received, missing: lists of the heaps written, for each stream
    complete: heaps of which all packets have arrived
    late: packets that arrived after their group was written
    duplicates: packets that arrived again
    first, last: timestamps of the groups written
    """

    def __init__(self, positions, write, window=1024):
        self.received = [0] * len(positions.values)
        self.missing = [0] * len(positions.values)
        self.complete = self.late = self.duplicates = 0
        self.first = self.last = None
        self._positions = positions
        self._write = write
        self._window = window * positions.step
        self._groups = {}

    def on_grid(self, timestamp):
        """Whether it is a whole number of steps from the others."""
        return (timestamp - self._known(timestamp)) % self._positions.step == 0

    def within_reach(self, timestamp):
        """Whether it is at most MAX_JUMP steps from the others."""
        away = abs(timestamp - self._known(timestamp))
        return away <= MAX_JUMP * self._positions.step

    def _known(self, timestamp):
        if self.last is not None:
            return self.last
        return next(iter(self._groups), timestamp)

    def add(self, timestamp, stream, offset, payload):
        """Add the payload of a packet, at its offset in the heap."""
        if self.last is not None and timestamp <= self.last:
            self.late += 1
            return
        group = self._groups.setdefault(timestamp, {})
        pieces = group.setdefault(stream, {})
        if offset in pieces:
            self.duplicates += 1
            return
        pieces[offset] = bytes(payload)
        if sum(map(len, pieces.values())) == self._positions.heap_bytes:
            self.complete += 1
        while timestamp - min(self._groups) >= self._window:
            self._write_up_to(min(self._groups))

    def flush(self):
        """Write all groups."""
        for timestamp in sorted(self._groups):
            self._write_up_to(timestamp)

    def _write_up_to(self, timestamp):
        """Write groups of zeros for the timestamps that are missing, then the group."""
        step = self._positions.step
        if self.first is None:
            self.first = timestamp
        else:
            for absent in range(self.last + step, timestamp, step):
                self._write_group(absent, {})
        self._write_group(timestamp, self._groups.pop(timestamp))

    def _write_group(self, timestamp, group):
        size = self._positions.heap_bytes
        heaps = []
        for stream in range(len(self.received)):
            pieces = group.get(stream, {})
            heap = b"".join(pieces[offset] for offset in sorted(pieces))
            if len(heap) == size:
                self.received[stream] += 1
            else:
                self.missing[stream] += 1
                heap = bytes(size)
            heaps.append(heap)
        self._write(timestamp, heaps)
        self.last = timestamp
