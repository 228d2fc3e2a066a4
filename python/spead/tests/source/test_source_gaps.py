# Copyright 2026 The gr-spead authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Gaps of any length, streams without timestamps, and heaps without a length."""

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
from received_streams import Receiving, check_whole, joined, packets_by_heap, received
from streams import noise

HEAP = 1000
LARGE = 20000  # a heap of several packets
ITEMS = [spead.timestamp(), spead.samples()]
UNTIMED = [spead.samples()]


def payload_bytes(packets):
    return sum(len(each) - 8 - 8 * each[7] for each in packets)


def check_counts(receiving, received, missing, skipped=0):
    stats = receiving.source.stats(0)
    assert stats["samples_received"] == received
    assert stats["samples_missing"] == missing
    assert stats["samples_skipped"] == skipped
    assert stats["samples_out"] == len(receiving.samples())


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
    about = descriptor("adc_samples", 0x3300, format=[("i", 8)], shape=(None,))
    packets = joined(heaps[:5] + heaps[8:])
    if described:
        packets.insert(0, descriptor_heap([about], 0))
    options = {} if described else {"items": UNTIMED}
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
    heaps[10] = [each for i, each in enumerate(heaps[10]) if i not in lost]
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
