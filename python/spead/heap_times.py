# Copyright 2026 The gr-spead authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""How heaps follow each other in time, and which items tell streams apart."""

from collections import Counter
from itertools import combinations, pairwise
from typing import NamedTuple

HEAP_COUNTER = 1
MAX_SELECTED = 64  # values of an item that selects: num_outputs
MAX_HEAPS = 2048  # that are analysed
MAX_ITEMS = 8  # that may tell streams apart
MAX_SELECTIONS = 4  # to be tried
GAIN = 1.25  # by which a division into streams must be more regular
ROUNDING = 1  # ticks by which a step may differ


class Heap(NamedTuple):
    stream: int  # number of the sender and endpoint
    counter: int
    time: int
    items: dict  # that may tell streams apart; the latest values of those left out


class HeapTimes:
    """The times of heaps with samples, in order of arrival.

    streams: for each stream its heaps: (number of arrival, heap counter, {ID: value or
        None})
    timestamp: ID of the item that gives the time, HEAP_COUNTER: the counter of the heap
    is_apart: whether each stream has an output of its own

    step: ticks from one heap of a stream to the next; 0: unknown
    regularity: fraction of the heaps that are one step later
    selections: tuples of items that tell streams apart, likeliest first
    excess: an item that would tell more than MAX_SELECTED streams apart, or None
    senders_differ: whether only the senders tell streams apart
    are_in_counters: whether heap counters hold the times, and are no sequence
    """

    def __init__(self, streams, timestamp, excluded=(), is_apart=False):
        values = _items_of_several_values(streams, {timestamp, *excluded})
        self._heaps = _merged(streams, timestamp, values)
        self._is_apart = is_apart
        self.selections: list[tuple] = []
        self.excess, self.senders_differ = None, False
        self.step, self.regularity = self._rate(())
        self._find_selections(values)
        if self.selections:
            self.step, self.regularity = self._rate(self.selections[0])
        self.are_in_counters = any(
            self._hold_times([heap for heap in self._heaps if heap.stream == number])
            for number in range(len(streams))
        )

    def heaps_per_time(self):
        """How many heaps have the same time, on average."""
        times = {(heap.stream * self._is_apart, heap.time) for heap in self._heaps}
        return round(len(self._heaps) / len(times)) if times else 0

    def _rate(self, ids, by_sender=False):
        """Step and regularity, if these items tell streams apart."""
        times: dict[tuple, list] = {}
        for heap in self._heaps:
            key = tuple(heap.items.get(id) for id in ids)
            if by_sender or self._is_apart:
                key = (heap.stream, *key)
            times.setdefault(key, []).append(heap.time)
        distances = Counter(
            b - a for group in times.values() for a, b in pairwise(group)
        )
        forward = {d: count for d, count in distances.items() if d > 0}
        if not forward:
            return 0, 0.0
        step = max(forward, key=forward.__getitem__)
        rounding = ROUNDING if step > 8 * ROUNDING else 0
        regular = sum(n for d, n in forward.items() if abs(d - step) <= rounding)
        # streams of the same times may be sent one after the other
        different = sum(len(set(group)) for group in times.values())
        heaps = len(self._heaps)
        return step, regular / max(1, heaps - len(times)) * different / heaps

    def _find_selections(self, values):
        best = GAIN * self.regularity
        rated = []
        for number in (1, 2, 3):
            for ids in combinations(values, number):
                _, regularity = self._rate(ids)
                if regularity > best:
                    count = len({tuple(map(h.items.get, ids)) for h in self._heaps})
                    rated.append((regularity, count, ids))
            if rated and max(rated)[0] > 0.9:
                break
        if not rated:
            self.senders_differ = self._rate((), True)[1] > best
            return
        highest = max(rated)[0]
        # items that change at a restart of the sender seem to tell streams apart, too
        likely = sorted(
            (regularity <= 0.95 * highest, count, len(ids), ids)
            for regularity, count, ids in rated
            if regularity > 0.4 * highest
        )
        self.selections = [
            ids
            for *_, ids in likely
            if all(len(values[id]) <= MAX_SELECTED for id in ids)
        ][:MAX_SELECTIONS]
        if not self.selections:
            self.excess = max(likely[0][-1], key=lambda id: len(values[id]))

    def _hold_times(self, heaps):
        """Whether the counters of a sender jump from each time to the next."""
        heaps = sorted({(heap.counter, heap.time) for heap in heaps})
        within: Counter = Counter()
        between: Counter = Counter()
        for (counter, time), (next_counter, next_time) in pairwise(heaps):
            if next_time == time:
                within[next_counter - counter] += 1
            elif next_time - time == self.step:
                between[next_counter - counter] += 1
        if not within or not between:
            return False
        usual, count = between.most_common(1)[0]
        return 2 * count > between.total() and usual != within.most_common(1)[0][0]


def _items_of_several_values(streams, excluded):
    """The items that may tell streams apart, with their values."""
    values: dict[int, set[int]] = {}
    for heaps in streams:
        for _, _, items in heaps:
            for id, value in items.items():
                if value is not None and id not in excluded:
                    values.setdefault(id, set()).add(value)
    most = max(2, sum(map(len, streams)) // 3)  # a stream has several heaps
    several = [id for id, found in values.items() if 1 < len(found) <= most]
    several = sorted(several, key=lambda id: len(values[id]))[:MAX_ITEMS]
    return {id: values[id] for id in several}


def _merged(streams, timestamp, ids):
    arrived = []
    for number, heaps in enumerate(streams):
        latest = dict.fromkeys(ids)
        seen = set()
        are_counted = len({counter for _, counter, _ in heaps}) > 1
        for arrival, counter, items in heaps:
            for id in ids:
                latest[id] = items.get(id, latest[id])
            time = counter if timestamp == HEAP_COUNTER else items.get(timestamp)
            heap = counter, time, *latest.values()
            # a restarted sender may send the same heaps again
            if time is None or (are_counted and heap in seen):
                continue
            seen.add(heap)
            arrived.append((arrival, Heap(number, counter, time, dict(latest))))
    return [heap for _, heap in sorted(arrived, key=lambda pair: pair[0])[:MAX_HEAPS]]
