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
        self._keys = []  # its time, and what else distinguishes times
        offsets = set()  # of heap counters from times
        all_times = [self._times(heaps, timestamp) for heaps in streams]
        self.step = _frequent_step(time for times in all_times for time in times)
        self.regularity = 0.0  # fraction of the steps that are this one
        for number, (heaps, times) in enumerate(zip(streams, all_times, strict=True)):
            run, newest = 0, None
            latest: dict[int, int] = {}
            for (counter, items), time in zip(heaps, times, strict=True):
                latest = latest | {i: v for i, v in items.items() if v is not None}
                if time is None:
                    continue
                offsets.add(counter - time)
                if newest is not None and time < newest - MAX_SWAPPED * self.step:
                    run, newest = run + 1, None  # restarted, or wrapped
                newest = max(time, time if newest is None else newest)
                self._keys.append((number if is_apart else 0, run, time))
                self._items.append(latest)
        self.are_in_counters = 1 < len(offsets) <= len(self._keys) / 4
        self.per_time = 0
        if self.step:
            counts = sorted(Counter(self._keys).values())
            is_several = counts[len(counts) // 2] > 1
            self.per_time = counts[-1] if is_several else 1
            steps = Counter(b - a for a, b in pairwise(sorted(set(self._all_times()))))
            self.regularity = steps[self.step] / sum(steps.values())

    def selections(self, excluded):
        """Tuples of items that tell the heaps of a time apart, likeliest first."""
        if self.per_time < 2:
            return []
        values: dict[int, set[int]] = {}
        for items in self._items:
            for id, value in items.items():
                values.setdefault(id, set()).add(value)
        several = [
            id
            for id, found in values.items()
            if id not in excluded and 1 < len(found) <= MAX_SELECTED
        ][:MAX_ITEMS]
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

    def _all_times(self):
        return (time for _, _, time in self._keys)

    @staticmethod
    def _times(heaps, timestamp):
        if timestamp == HEAP_COUNTER:
            return [counter for counter, _ in heaps]
        return [items.get(timestamp) for _, items in heaps]


def _frequent_step(times):
    """The most frequent distance between different times; 0: there is none."""
    different = sorted({time for time in times if time is not None})
    steps = Counter(b - a for a, b in pairwise(different))
    return steps.most_common(1)[0][0] if steps else 0
