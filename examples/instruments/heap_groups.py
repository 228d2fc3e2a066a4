# Copyright 2026 The gr-spead authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Heaps of several streams, in whatever order they arrive, put in order of time."""

from dataclasses import dataclass


@dataclass(frozen=True)
class Positions:
    """Where a receiver finds in a heap what it needs, as the headers of mkrecv say it.

    heap_bytes: the only length of a heap that is accepted (HEAP_SIZE)
    step: ticks from heap to heap (IDX1_STEP)
    timestamp: position of the timestamp among the items, from 0, the four that each
        packet must have not counted (IDX1_ITEM)
    stream: position of the item that tells the streams apart (IDX2_ITEM)
    mask: its bits that do so (IDX2_MASK)
    values: their values, in the order of the streams (IDX2_LIST)
    """

    heap_bytes: int = 4096
    step: int = 4096
    timestamp: int = 0
    stream: int = 1
    mask: int = 1
    values: tuple = (0, 1)

    @classmethod
    def from_header(cls, header):
        """From a dada.Header; what it does not say is as above."""
        return cls(
            header.integer("HEAP_SIZE", header.integer("HEAP_NBYTES", cls.heap_bytes)),
            header.integer("IDX1_STEP", cls.step),
            header.integer("IDX1_ITEM", cls.timestamp),
            header.integer("IDX2_ITEM", cls.stream),
            header.integer("IDX2_MASK", cls.mask),
            header.integers("IDX2_LIST", cls.values),
        )


REACH = 1 << 18  # steps between two timestamps that can be of one stream


class HeapGroups:
    """Collects the heaps of one timestamp, one of each stream, and hands them on.

    `write(timestamp, heaps)` gets them in the order of time, `heaps` a list of bytes
    with zeros for those that are missing, also for times of which nothing has come. A
    group is handed on when one arrives that is `window` steps later.

    received, missing: lists of heaps handed on, for each stream
    complete: heaps that have come
    late: heaps that came after their group was handed on
    twice: packets that came again
    """

    def __init__(self, positions, write, window=1024):
        self.received = [0] * len(positions.values)
        self.missing = [0] * len(positions.values)
        self.complete = self.late = self.twice = 0
        self.first = self.last = None  # timestamps, handed on
        self._positions = positions
        self._write = write
        self._window = window * positions.step
        self._groups = {}

    def on_grid(self, timestamp):
        """Whether it is a whole number of steps from the others."""
        return (timestamp - self._known(timestamp)) % self._positions.step == 0

    def within_reach(self, timestamp):
        """Whether it is so close to the others that what is between may be missing."""
        away = abs(timestamp - self._known(timestamp))
        return away <= REACH * self._positions.step

    def _known(self, timestamp):
        if self.last is not None:
            return self.last
        return next(iter(self._groups), timestamp)

    def add(self, timestamp, stream, offset, payload):
        """Take in the payload of a packet, at its offset in the heap."""
        if self.last is not None and timestamp <= self.last:
            self.late += 1
            return
        group = self._groups.setdefault(timestamp, {})
        pieces = group.setdefault(stream, {})
        if offset in pieces:
            self.twice += 1
            return
        pieces[offset] = bytes(payload)
        if sum(map(len, pieces.values())) == self._positions.heap_bytes:
            self.complete += 1
        while timestamp - min(self._groups) >= self._window:
            self._hand_on(min(self._groups))

    def flush(self):
        """Hand on all there is."""
        for timestamp in sorted(self._groups):
            self._hand_on(timestamp)

    def _hand_on(self, timestamp):
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
