# Copyright 2026 The gr-spead authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Packets that are lost, late, duplicate or out of order, jumps of timestamps, and
heaps without a timestamp or a length."""

import numpy as np
import pytest
from crafted_packets import (
    addressed,
    descriptor,
    descriptor_heap,
    end_of_stream,
    immediate,
    packet,
    split_heap,
)
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
ITEMS = [spead.timestamp(), spead.samples()]


def payload_bytes(packets):
    return sum(len(packet) - 8 - 8 * packet[7] for packet in packets)


def check_counts(receiving, received, missing, skipped=0):
    stats = receiving.source.stats(0)
    assert stats["samples_received"] == received
    assert stats["samples_missing"] == missing
    assert stats["samples_skipped"] == skipped
    assert stats["samples_out"] == len(receiving.samples())


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
    receiving = received(joined([heaps[0][20:], *heaps[1:]]), items=ITEMS)
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
    options = {"heap_samples": HEAP, "timestamp_step": step, "max_delay": 0.1}
    receiving = received([*kept, end_of_stream(60)], items=ITEMS, **options)
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


# max_gap


@pytest.mark.parametrize(("lost", "max_gap"), [(5, 5000), (5, 4999), (300, 0)])
def test_lost_heaps_are_skipped_above_max_gap(lost, max_gap):
    n = lost * HEAP
    samples = noise(20 * HEAP + n)
    heaps = packets_by_heap(samples)
    del heaps[10 : 10 + lost]
    receiving = received(joined(heaps), max_gap=max_gap)
    gap = np.s_[10 * HEAP : 10 * HEAP + n]
    skipped = n if n > max_gap else 0
    if skipped:
        samples = np.delete(samples, gap)
    else:
        samples[gap] = 0
    np.testing.assert_array_equal(receiving.samples(), samples)
    check_counts(receiving, 20 * HEAP, n, skipped)
    assert receiving.stats["discontinuities"] == (1 if skipped else 0)


# Samples that stop() leaves behind count as missing


def test_samples_after_a_gap_are_missing_after_stop():
    samples = noise(20 * HEAP)
    heaps = packets_by_heap(samples, descriptors="none")
    with Receiving(items=ITEMS, max_delay=60) as receiving:
        receiving.send_packets(joined(heaps[:10] + heaps[12:-1]))
        receiving.wait_for_samples(10 * HEAP)
    np.testing.assert_array_equal(receiving.samples(), samples[: 10 * HEAP])
    check_counts(receiving, 10 * HEAP, 10 * HEAP, 10 * HEAP)


# Streams without timestamps


@pytest.mark.parametrize("described", [False, True])
def test_heaps_without_timestamps_are_placed_by_their_counters(described):
    """Lost heaps count as missing; the last heap is shorter."""
    length = 40000
    samples = noise(20 * length + 300)
    heaps = [
        split_heap(1 + i, [addressed(0x3300, 0)], part.tobytes(), 8000)
        for i, part in enumerate(np.split(samples, range(length, 21 * length, length)))
    ]
    lost = np.s_[5 * length : 8 * length]
    samples[lost] = 0
    array = descriptor("adc_samples", 0x3300, format=[("i", 8)], shape=(None,))
    packets = joined(heaps[:5] + heaps[8:])
    if described:
        packets.insert(0, descriptor_heap([array], 0))
    options = {} if described else {"items": [spead.samples()]}
    receiving = received([*packets, end_of_stream(100)], **options)
    np.testing.assert_array_equal(receiving.samples(), samples)
    check_counts(receiving, len(samples) - 3 * length, 3 * length)


# Heaps without a length


def heaps_without_length():
    samples = noise(20 * LARGE)
    heaps = []
    for i, part in enumerate(np.split(samples, 20)):
        items = [immediate(0x1600, i * LARGE), addressed(0x3300, 0)]
        heaps.append(split_heap(1 + i, items, part.tobytes(), 1400, heap_length=0))
    return samples, heaps


def received_without_length(heaps):
    return received([*joined(heaps), end_of_stream(100)], items=ITEMS)


@pytest.mark.parametrize("lost", [[], [5, 6], [14], range(1, 15)])
def test_lost_packets_of_heaps_without_a_length_are_missing(lost):
    """The next heap reveals that the last packets are lost."""
    samples, heaps = heaps_without_length()
    for i in lost:
        begin = 10 * LARGE + 1400 * i
        samples[begin : min(begin + 1400, 11 * LARGE)] = 0
    heaps[10] = [packet for i, packet in enumerate(heaps[10]) if i not in lost]
    missing = LARGE - payload_bytes(heaps[10])
    receiving = received_without_length(heaps)
    np.testing.assert_array_equal(receiving.samples(), samples)
    check_counts(receiving, len(samples) - missing, missing)
    assert receiving.stats["heaps_received"] == (19 if lost else 20)


def test_packets_of_two_heaps_without_a_length_may_alternate():
    samples, heaps = heaps_without_length()
    pairs = zip(heaps[::2], heaps[1::2], strict=True)
    packets = joined(joined(zip(*pair, strict=True)) for pair in pairs)
    with Receiving(items=ITEMS, max_delay=2) as receiving:
        receiving.send_packets(packets)
        receiving.wait_for_samples(len(samples))
    check_whole(receiving, samples)


def test_a_packet_without_payload_does_not_end_a_heap():
    samples, heaps = heaps_without_length()
    heaps[1].insert(1, packet(2, [], b"", 1400, heap_length=0))
    check_whole(received_without_length(heaps), samples)
