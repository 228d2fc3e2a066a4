# Copyright 2026 The gr-spead authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""How heaps follow each other in time, and which items tell streams apart."""

from collections import Counter
from itertools import combinations, pairwise

HEAP_COUNTER = 1
MAX_SELECTED = 64  # values of an item that selects: num_outputs
MAX_ITEMS = 12  # that may tell streams apart
MAX_SELECTIONS = 4  # to be tried
MAX_SWAPPED = 32  # steps by which a heap may be late; a restart goes back further


class HeapTimes:
    """The times of heaps with samples.

    streams: for each stream the heaps in order of arrival, as (heap counter, {ID: value
        or None})
    timestamp: ID of the item that gives the time, HEAP_COUNTER: the counter of the heap
    is_apart: whether each stream has times of its own

    step: ticks from one time to the next; 0: unknown
    per_time: heaps of each time; 0: unknown
    are_in_counters: whether heap counters hold the times, and are no sequence
    """

    def __init__(self, streams, timestamp, is_apart=False):
        self._items = []  # of each heap that has a time
        self._keys: list[tuple] = []  # its time, and what else distinguishes times
        times = [[_time(heap, timestamp) for heap in heaps] for heaps in streams]
        self.step, self.regularity = _steps(time for each in times for time in each)
        offsets = set()  # of heap counters from times
        for number, (heaps, heap_times) in enumerate(zip(streams, times, strict=True)):
            latest: dict[int, int] = {}
            for (counter, items), time in zip(heaps, heap_times, strict=True):
                latest = latest | {i: v for i, v in items.items() if v is not None}
                if time is not None:
                    self._items.append(latest)
                    self._keys.append((number if is_apart else 0, time))
                    offsets.add(counter - time)
        self.are_in_counters = 1 < len(offsets) <= len(self._keys) / 4
        self._several = self._items_of_several_values({timestamp})
        self._number_runs()
        self.per_time = 0
        if self.step:
            counts = sorted(Counter(self._keys).values())
            is_several = counts[len(counts) // 2] > 1
            self.per_time = counts[-1] if is_several else 1

    def selections(self, excluded):
        """Tuples of items that tell the heaps of a time apart, likeliest first."""
        if self.per_time < 2:
            return []
        several = [id for id in self._several if id not in excluded][:MAX_ITEMS]
        for number in (1, 2, 3):
            likely = []
            for ids in combinations(several, number):
                streams = [tuple(items.get(id) for id in ids) for items in self._items]
                distinct = len(set(zip(self._keys, streams, strict=True)))
                if distinct > 0.98 * len(streams):  # a sender may have restarted
                    likely.append((abs(len(set(streams)) - self.per_time), ids))
            if likely:
                return [ids for _, ids in sorted(likely)[:MAX_SELECTIONS]]
        return []

    def _items_of_several_values(self, excluded):
        values: dict[int, set[int]] = {}
        for items in self._items:
            for id, value in items.items():
                if len(found := values.setdefault(id, set())) <= MAX_SELECTED:
                    found.add(value)
        return [
            id
            for id, found in values.items()
            if id not in excluded and 1 < len(found) <= MAX_SELECTED
        ]

    def _number_runs(self):
        """Tell times before a restart of the sender from the same ones after it."""
        run, newest = 0, None
        seen: set[tuple] = set()
        for i, (key, items) in enumerate(zip(self._keys, self._items, strict=True)):
            heap = key, *(items.get(id) for id in self._several)
            time = key[-1]
            # one stream may be sent for a while, then another of the same times
            is_past = newest is not None and time < newest - MAX_SWAPPED * self.step
            if is_past and heap in seen:
                run, newest = run + 1, None
                seen.clear()
            seen.add(heap)
            newest = time if newest is None else max(newest, time)
            self._keys[i] = run, *key


def _time(heap, timestamp):
    counter, items = heap
    return counter if timestamp == HEAP_COUNTER else items.get(timestamp)


def _steps(times):
    """The most frequent distance between different times, and its fraction; else 0."""
    different = sorted({time for time in times if time is not None})
    steps = Counter(b - a for a, b in pairwise(different))
    if not steps:
        return 0, 0.0
    step, count = steps.most_common(1)[0]
    return step, count / steps.total()
