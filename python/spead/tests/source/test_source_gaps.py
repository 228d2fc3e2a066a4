# Copyright 2026 The gr-spead authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Gaps of any length, streams without timestamps, and heaps without a length."""

import numpy as np
import pytest
from crafted_packets import (
    addressed,
    data_heap,
    descriptor,
    descriptor_heap,
    end_of_stream,
    immediate,
    packet,
    split_heap,
)
from gnuradio import spead
from places import eventually
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


@pytest.mark.parametrize("max_gap", [10**5, 2**32])
def test_lost_packets_within_a_heap_are_skipped_above_max_gap(max_gap):
    """The rest of the heap is received in either case."""
    heap = 4 * 10**6
    samples = noise(2 * heap)
    first, second, end = packets_by_heap(samples, heap, packet_size=8972)
    size = payload_bytes(first[100:300])
    assert size > 10**6
    begin = heap - payload_bytes(first[100:])
    del first[100:300]
    options = {"max_gap": max_gap, "buffer_size": 262144}
    receiving = received(first + second + end, **options)
    timestamps = [(0, 0)]
    if size > max_gap:
        samples = np.delete(samples, np.s_[begin : begin + size])
        timestamps.append((begin, begin + size))
    else:
        samples[begin : begin + size] = 0
    np.testing.assert_array_equal(receiving.samples(), samples)
    skipped = size if size > max_gap else 0
    check_counts(receiving, 2 * heap - size, size, skipped)
    assert receiving.tags("timestamp") == timestamps


@pytest.mark.parametrize(
    ("lost", "max_gap"), [(5, 5000), (5, 4999), (300, 10**5), (300, 0)]
)
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


def test_samples_that_waited_for_another_output_are_missing_after_stop():
    packets = joined(packets_by_heap(noise(20 * HEAP), descriptors="none")[:-1])
    ports = ["127.0.0.1:0", "127.0.0.1:0"]
    with Receiving(ports, num_outputs=2, items=ITEMS, max_delay=60) as receiving:
        receiving.send_packets(packets)

        def are_placed():
            receiving.send_packets(packets[-1:])
            return receiving.source.stats(0)["samples_duplicate"] > 0

        eventually(are_placed)
    missing = 20 * HEAP - len(receiving.samples())
    check_counts(receiving, len(receiving.samples()), missing, missing)


def test_samples_after_a_gap_are_missing_after_stop():
    samples = noise(20 * HEAP)
    heaps = packets_by_heap(samples, descriptors="none")
    with Receiving(items=ITEMS, max_delay=60) as receiving:
        receiving.send_packets(joined(heaps[:10] + heaps[12:-1]))
        receiving.wait_for_samples(10 * HEAP)
    np.testing.assert_array_equal(receiving.samples(), samples[: 10 * HEAP])
    check_counts(receiving, 10 * HEAP, 10 * HEAP, 10 * HEAP)


# Streams without timestamps


def heaps_without_timestamps(lengths):
    """Samples, and the packets of heaps of these lengths."""
    samples = noise(sum(lengths))
    pointers = [addressed(0x3300, 0)]
    parts = np.split(samples, np.cumsum(lengths)[:-1])
    return samples, [
        split_heap(1 + i, pointers, part.tobytes(), 8000)
        for i, part in enumerate(parts)
    ]


@pytest.mark.parametrize("described", [False, True])
@pytest.mark.parametrize("length", [1000, 40000])
def test_heaps_without_timestamps_are_placed_by_their_counters(length, described):
    """Lost heaps count as missing; the last heap is shorter."""
    samples, heaps = heaps_without_timestamps([length] * 20 + [300])
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


@pytest.mark.parametrize("length", [1000, 40000])
def test_a_short_first_heap_without_timestamp_costs_only_itself(length):
    samples, heaps = heaps_without_timestamps([500] + [length] * 20)
    receiving = received([*joined(heaps), end_of_stream(100)], items=UNTIMED)
    np.testing.assert_array_equal(receiving.samples()[-20 * length :], samples[500:])
    assert receiving.stats["samples_duplicate"] == 0
    assert receiving.stats["samples_late"] <= 500


# Heaps without a length


def heaps_without_length(length, count=20):
    samples = noise(count * length)
    heaps = []
    for i, part in enumerate(np.split(samples, count)):
        items = [immediate(0x1600, i * length), addressed(0x3300, 0)]
        heaps.append(split_heap(1 + i, items, part.tobytes(), 1400, heap_length=0))
    return samples, heaps


def received_without_length(heaps):
    return received([*joined(heaps), end_of_stream(100)], items=ITEMS)


@pytest.mark.parametrize("length", [1000, 1400, 20000])
def test_heaps_without_a_length_are_received(length):
    samples, heaps = heaps_without_length(length)
    receiving = received_without_length(heaps)
    check_whole(receiving, samples)
    assert receiving.stats["heaps_received"] == 20


@pytest.mark.parametrize("lost", [[5, 6], [14], [1], range(1, 15)])
def test_lost_packets_of_heaps_without_a_length_are_missing(lost):
    """The next heap reveals that the last packets are lost."""
    samples, heaps = heaps_without_length(LARGE)
    for i in lost:
        begin = 10 * LARGE + 1400 * i
        samples[begin : min(begin + 1400, 11 * LARGE)] = 0
    heaps[10] = [each for i, each in enumerate(heaps[10]) if i not in lost]
    missing = LARGE - payload_bytes(heaps[10])
    receiving = received_without_length(heaps)
    np.testing.assert_array_equal(receiving.samples(), samples)
    check_counts(receiving, len(samples) - missing, missing)
    assert receiving.stats["heaps_received"] == 19


def test_packets_of_two_heaps_without_a_length_may_alternate():
    samples, heaps = heaps_without_length(LARGE)
    pairs = zip(heaps[::2], heaps[1::2], strict=True)
    packets = joined(joined(zip(*pair, strict=True)) for pair in pairs)
    with Receiving(items=ITEMS, max_delay=2) as receiving:
        receiving.send_packets(packets)
        receiving.wait_for_samples(len(samples))
    check_whole(receiving, samples)


def test_a_packet_without_payload_does_not_end_a_heap():
    samples, heaps = heaps_without_length(LARGE, 4)
    heaps[1].insert(1, packet(2, [], b"", 1400, heap_length=0))
    check_whole(received_without_length(heaps), samples)


def test_packets_with_many_items_are_placed():
    samples = noise(20 * HEAP)
    more = [immediate(0x4000 + i, i) for i in range(200)]
    heaps = [
        data_heap(1 + i, i * HEAP, part, more=more)
        for i, part in enumerate(np.split(samples, 20))
    ]
    receiving = received([*heaps, end_of_stream(100)], items=ITEMS)
    np.testing.assert_array_equal(receiving.samples(), samples)
