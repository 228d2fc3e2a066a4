# Copyright 2026 The gr-spead authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Packets that are lost, late, duplicate or out of order, and jumps of timestamps."""

import numpy as np
import pytest
from crafted_packets import addressed, end_of_stream, immediate, split_heap
from gnuradio import spead
from received_streams import (
    Receiving,
    check_whole,
    joined,
    packets_by_heap,
    received,
)
from streams import noise

HEAP = 1000
LARGE = 20000  # a heap of several packets


def payload_bytes(packets):
    return sum(len(each) - 8 - 8 * each[7] for each in packets)


def test_losses_duplicates_and_reordering_are_counted():
    samples = noise(20 * LARGE)
    heaps = packets_by_heap(samples, LARGE)
    begin = 3 * LARGE + payload_bytes(heaps[3][:4])
    samples[begin : begin + payload_bytes(heaps[3][4:6])] = 0
    del heaps[3][4:6]
    # only the first packet of a heap has its items, so it costs the whole heap
    samples[6 * LARGE : 7 * LARGE] = 0
    ignored = len(heaps[6]) - 1
    del heaps[6][0]
    repeated = heaps[9][2:5]
    heaps[9] += repeated
    heaps[11][3:9] = heaps[11][8:2:-1]
    heaps[14], heaps[15] = heaps[15], heaps[14]
    receiving = received(joined(heaps), max_delay=2)
    np.testing.assert_array_equal(receiving.samples(), samples)
    missing = payload_bytes(heaps[4][4:6]) + LARGE
    stats = receiving.stats
    assert stats["samples_missing"] == missing
    assert stats["samples_received"] == len(samples) - missing
    assert stats["samples_late"] + stats["samples_duplicate"] == payload_bytes(repeated)
    assert stats["packets_ignored"] == ignored + 1  # the end of the stream
    assert stats["heaps_incomplete"] == 1
    assert stats["discontinuities"] == 0
    assert receiving.balanced()


def test_late_samples_are_counted():
    samples = noise(10 * HEAP)
    heaps = packets_by_heap(samples)
    late = heaps.pop(4)
    with Receiving(max_delay=0) as receiving:
        receiving.send_packets(joined(heaps[:8]))
        receiving.wait_for_samples(9000)
        receiving.send_packets(late)
        receiving.send_packets(joined(heaps[8:]))
        receiving.wait()
    samples[4000:5000] = 0
    np.testing.assert_array_equal(receiving.samples(), samples)
    assert receiving.stats["samples_late"] == HEAP
    assert receiving.stats["samples_duplicate"] == 0
    assert receiving.balanced()


def test_a_jump_begins_a_new_stream():
    samples = noise(8 * HEAP)
    before, after = np.split(samples, 2)
    heaps = packets_by_heap(before)[:-1]
    heaps += packets_by_heap(after, counter=50, first=10**9)
    receiving = received(joined(heaps), max_gap=10**6)
    np.testing.assert_array_equal(receiving.samples(), samples)
    assert receiving.tags("timestamp") == [(0, 0), (4000, 10**9)]
    assert receiving.stats["discontinuities"] == 1
    assert receiving.stats["samples_missing"] == 0


def test_a_gap_larger_than_the_buffer_is_filled():
    gap = 5 * 10**6
    before, after = noise(4 * HEAP, 1), noise(4 * HEAP, 2)
    heaps = packets_by_heap(before)[:-1]
    heaps += packets_by_heap(after, counter=50, first=4000 + gap)
    receiving = received(joined(heaps), buffer_size=262144)
    expected = np.concatenate([before, np.zeros(gap, np.int8), after])
    np.testing.assert_array_equal(receiving.samples(), expected)
    assert receiving.stats["samples_missing"] == gap
    assert receiving.balanced()


def test_source_joins_within_a_heap():
    heap = 100000
    samples = noise(3 * heap)
    heaps = packets_by_heap(samples, heap, descriptors="none", repeat_pointers=True)
    items = [spead.timestamp(), spead.samples()]
    receiving = received(joined([heaps[0][20:], *heaps[1:]]), items=items)
    got = receiving.samples()
    check_whole(receiving, samples[-len(got) :], len(samples) - len(got))
    assert 0 < len(got) % heap < 0.8 * heap


@pytest.mark.parametrize(
    ("packet_bytes", "step", "lost"), [(400, HEAP, 0), (HEAP, 5, 0.1), (400, HEAP, 0.1)]
)
def test_heaps_that_are_not_counted_are_placed_by_time(packet_bytes, step, lost):
    """A heap counter of 0 in each heap, as some firmware sends"""
    samples = noise(300 * HEAP)
    random = np.random.default_rng(1)
    packets = []
    for i, part in enumerate(samples.reshape(-1, HEAP)):
        items = [immediate(0x1600, 10**6 + i * step), addressed(0x3300, 0)]
        packets += split_heap(0, items, part.tobytes(), packet_bytes)
    kept = [
        packet
        for i, packet in enumerate(packets)
        if random.random() >= lost or i in (0, len(packets) - 1)
    ]
    options = {"items": [spead.timestamp(), spead.samples()], "max_delay": 0.1}
    receiving = received(
        [*kept, end_of_stream(60)], heap_samples=HEAP, timestamp_step=step, **options
    )
    if lost:
        got = receiving.samples()
        arrived = got != 0
        np.testing.assert_array_equal(got[arrived], samples[: len(got)][arrived])
        assert receiving.tags("timestamp") == [(0, 10**6)]
        # packets without items may belong to either of two heaps
        part = 0.85 if packet_bytes == HEAP else 0.3
        assert receiving.stats["samples_received"] > part * len(samples)
    else:
        check_whole(receiving, samples, 10**6)
