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
from received_streams import Receiving, joined, spead2_heaps, spead2_packets
from streams import noise

HEAP = 1000
ITEMS = [spead.timestamp(), spead.samples()]
UNTIMED = [spead.samples()]


def heaps_of(samples, heap=HEAP, **options):
    """The packets of each heap of spead2, and of the end of the stream."""
    return spead2_packets(spead2_heaps(samples, heap, **options), 8972)


def check_counts(receiving, received, missing, skipped=0):
    stats = receiving.stats
    assert stats["samples_received"] == received
    assert stats["samples_missing"] == missing
    assert stats["samples_skipped"] == skipped
    assert stats["samples_out"] == len(receiving.samples())


# max_gap


@pytest.mark.parametrize("max_gap", [0, 1, 999, 1000, 10**5])
@pytest.mark.parametrize("heap", [1000, 40000])
def test_a_stream_without_gaps_is_whole_for_each_max_gap(max_gap, heap):
    samples = noise(20 * heap)
    with Receiving(max_gap=max_gap) as receiving:
        receiving.send_packets(joined(heaps_of(samples, heap)))
        receiving.wait()
    np.testing.assert_array_equal(receiving.samples(), samples)
    check_counts(receiving, len(samples), 0)
    assert receiving.stats["discontinuities"] == 0


def test_more_than_max_gap_lost_inside_a_heap_is_missing():
    """The rest of the heap is received."""
    heap = 4 * 10**6
    samples = noise(2 * heap)
    first, second, end = heaps_of(samples, heap)
    lost = slice(100, 300)
    size = sum(len(each) - 8 - 8 * each[7] for each in first[lost])
    assert size > 10**6
    begin = heap - sum(len(each) - 8 - 8 * each[7] for each in first[100:])
    with Receiving(max_gap=10**5, buffer_size=262144) as receiving:
        receiving.send_packets(first[:100] + first[300:] + second + end)
        receiving.wait()
    expected = np.delete(samples, np.s_[begin : begin + size])
    np.testing.assert_array_equal(receiving.samples(), expected)
    check_counts(receiving, len(expected), size, size)
    assert receiving.tags("timestamp") == [(0, 0), (begin, begin + size)]


def test_max_gap_is_filled_inside_a_heap():
    heap = 4 * 10**6
    samples = noise(heap)
    packets, end = heaps_of(samples, heap)
    size = sum(len(each) - 8 - 8 * each[7] for each in packets[100:300])
    begin = heap - sum(len(each) - 8 - 8 * each[7] for each in packets[100:])
    with Receiving() as receiving:
        receiving.send_packets(packets[:100] + packets[300:] + end)
        receiving.wait()
    samples[begin : begin + size] = 0
    np.testing.assert_array_equal(receiving.samples(), samples)
    check_counts(receiving, heap - size, size)


@pytest.mark.parametrize(
    ("lost", "max_gap"), [(5, 5000), (5, 4999), (300, 10**5), (300, 0)]
)
def test_lost_heaps_are_missing_however_many(lost, max_gap):
    """Above max_gap they are skipped, and counted as well."""
    n = lost * HEAP
    samples = noise(20 * HEAP + n)
    heaps = heaps_of(samples)
    with Receiving(max_gap=max_gap) as receiving:
        receiving.send_packets(joined(heaps[:10] + heaps[10 + lost :]))
        receiving.wait()
    if n <= max_gap:
        samples[10 * HEAP : 10 * HEAP + n] = 0
        expected, skipped = samples, 0
    else:
        expected = np.delete(samples, np.s_[10 * HEAP : 10 * HEAP + n])
        skipped = n
    np.testing.assert_array_equal(receiving.samples(), expected)
    check_counts(receiving, 20 * HEAP, n, skipped)
    assert receiving.stats["discontinuities"] == (1 if skipped else 0)


# At the stop


def test_samples_that_were_placed_and_not_produced_are_missing_at_the_stop():
    """They wait for those of another output, which never come."""
    samples = noise(20 * HEAP)
    packets = joined(heaps_of(samples, descriptors="none")[:-1])
    ports = ["127.0.0.1:0", "127.0.0.1:0"]
    with Receiving(ports, num_outputs=2, items=ITEMS, max_delay=60) as receiving:
        receiving.send_packets(packets)

        def are_placed():
            receiving.send_packets(packets[-1:])
            return receiving.source.stats(0)["samples_duplicate"] > 0

        eventually(are_placed)
    out = len(receiving.samples(0))
    stats = receiving.source.stats(0)
    assert stats["samples_received"] == out
    assert stats["samples_missing"] == 20 * HEAP - out
    assert stats["samples_skipped"] == 20 * HEAP - out
    assert stats["samples_out"] == out


def test_samples_behind_a_gap_are_missing_at_the_stop():
    samples = noise(20 * HEAP)
    heaps = heaps_of(samples, descriptors="none")
    with Receiving(items=ITEMS, max_delay=60) as receiving:
        receiving.send_packets(joined(heaps[:10] + heaps[12:-1]))
        eventually(lambda: len(receiving.samples()) == 10 * HEAP)
    np.testing.assert_array_equal(receiving.samples(), samples[: 10 * HEAP])
    check_counts(receiving, 10 * HEAP, 10 * HEAP, 10 * HEAP)


# Streams without timestamps


def untimed(lengths, bits=40, packet_bytes=8000, lengths_named=True):
    """Samples, and the packets of heaps of these lengths."""
    samples = noise(sum(lengths))
    heaps, at = [], 0
    for i, length in enumerate(lengths):
        part = samples[at : at + length].tobytes()
        at += length
        heaps.append(
            split_heap(
                1 + i,
                [addressed(0x3300, 0, bits)],
                part,
                packet_bytes,
                heap_length=None if lengths_named else 0,
                bits=bits,
            )
        )
    return samples, heaps


@pytest.mark.parametrize("described", [False, True])
@pytest.mark.parametrize("length", [1000, 40000])
def test_a_stream_without_timestamps_is_whole(length, described):
    samples, heaps = untimed([length] * 20)
    about = descriptor("adc_samples", 0x3300, format=[("i", 8)], shape=(None,))
    with Receiving(**({} if described else {"items": UNTIMED})) as receiving:
        if described:
            receiving.send_packets([descriptor_heap([about], 0)])
        receiving.send_packets([*joined(heaps), end_of_stream(100)])
        receiving.wait()
    np.testing.assert_array_equal(receiving.samples(), samples)
    check_counts(receiving, len(samples), 0)


@pytest.mark.parametrize("length", [1000, 40000])
@pytest.mark.parametrize("first", [10, 500])
def test_a_short_first_heap_costs_a_stream_without_timestamps_nothing(first, length):
    samples, heaps = untimed([first] + [length] * 20)
    with Receiving(items=UNTIMED) as receiving:
        receiving.send_packets([*joined(heaps), end_of_stream(100)])
        receiving.wait()
    got = receiving.samples()
    np.testing.assert_array_equal(got[-20 * length :], samples[first:])
    assert receiving.stats["samples_duplicate"] == 0
    assert receiving.stats["samples_late"] <= first  # of the short heap itself


@pytest.mark.parametrize("length", [1000, 40000])
def test_a_short_last_heap_of_a_stream_without_timestamps_arrives(length):
    samples, heaps = untimed([length] * 20 + [300])
    with Receiving(items=UNTIMED) as receiving:
        receiving.send_packets([*joined(heaps), end_of_stream(100)])
        receiving.wait()
    np.testing.assert_array_equal(receiving.samples(), samples)


@pytest.mark.parametrize("length", [1000, 40000])
def test_lost_heaps_of_a_stream_without_timestamps_are_missing(length):
    samples, heaps = untimed([length] * 20)
    with Receiving(items=UNTIMED) as receiving:
        receiving.send_packets([*joined(heaps[:5] + heaps[8:]), end_of_stream(100)])
        receiving.wait()
    samples[5 * length : 8 * length] = 0
    np.testing.assert_array_equal(receiving.samples(), samples)
    check_counts(receiving, 17 * length, 3 * length)


# Heaps without a heap length


def unlengthed(heaps, length, packet_bytes=1400):
    samples = noise(heaps * length)
    packets = []
    for i in range(heaps):
        part = samples[i * length : (i + 1) * length].tobytes()
        items = [immediate(0x1600, i * length), addressed(0x3300, 0)]
        packets.append(split_heap(1 + i, items, part, packet_bytes, heap_length=0))
    return samples, packets


@pytest.mark.parametrize("length", [1000, 1400, 20000])
def test_heaps_without_a_length_arrive(length):
    samples, heaps = unlengthed(20, length)
    with Receiving(items=ITEMS) as receiving:
        receiving.send_packets([*joined(heaps), end_of_stream(100)])
        receiving.wait()
    np.testing.assert_array_equal(receiving.samples(), samples)
    check_counts(receiving, len(samples), 0)
    assert receiving.stats["heaps_received"] == 20


@pytest.mark.parametrize("lost", [[5], [5, 6], [14], [1]])
def test_lost_packets_of_heaps_without_a_length_are_missing(lost):
    length = 20000
    samples, heaps = unlengthed(20, length)
    kept = [each for i, each in enumerate(heaps[10]) if i not in lost]
    with Receiving(items=ITEMS) as receiving:
        receiving.send_packets([*joined(heaps[:10]), *kept, *joined(heaps[11:])])
        receiving.send_packets([end_of_stream(100)])
        receiving.wait()
    n = 0
    for i in lost:
        begin = 10 * length + 1400 * i
        size = min(1400, length - 1400 * i)
        samples[begin : begin + size] = 0
        n += size
    np.testing.assert_array_equal(receiving.samples(), samples)
    check_counts(receiving, len(samples) - n, n)


def test_an_unfinished_heap_without_a_length_is_not_counted_complete():
    """Its first packet alone has come; that more is missing shows by the next one."""
    samples, heaps = unlengthed(20, 20000)
    packets = [*joined(heaps[:10]), heaps[10][0], *joined(heaps[11:])]
    with Receiving(items=ITEMS) as receiving:
        receiving.send_packets([*packets, end_of_stream(100)])
        receiving.wait()
    samples[10 * 20000 + 1400 : 11 * 20000] = 0
    np.testing.assert_array_equal(receiving.samples(), samples)
    check_counts(receiving, len(samples) - 18600, 18600)
    assert receiving.stats["heaps_received"] == 19


def test_packets_that_leave_out_the_length_and_the_offset_are_refused_or_right():
    """As SKA-Low sends them: heaps of one packet, without items 0x02 and 0x03."""
    samples = noise(20 * HEAP)
    packets = []
    for i in range(20):
        whole = data_heap(1 + i, i * HEAP, samples[i * HEAP : (i + 1) * HEAP])
        count = whole[7] - 2
        packets.append(whole[:7] + bytes([count]) + whole[8:16] + whole[32:])
    with Receiving(items=ITEMS, timeout=2) as receiving:
        receiving.send_packets(packets)
        receiving.wait()
    got = receiving.samples()
    if len(got):
        np.testing.assert_array_equal(got, samples)
    else:
        assert receiving.stats["status"]


def test_a_packet_of_many_items_is_placed():
    """255 items, the most that a packet has."""
    samples = noise(20 * HEAP)
    more = [immediate(0x4000 + i, i) for i in range(200)]
    packets = [
        data_heap(1 + i, i * HEAP, samples[i * HEAP : (i + 1) * HEAP], more=more)
        for i in range(20)
    ]
    with Receiving(items=ITEMS) as receiving:
        receiving.send_packets([*packets, end_of_stream(100)])
        receiving.wait()
    np.testing.assert_array_equal(receiving.samples(), samples)


def test_samples_in_several_packets_of_two_heaps_in_turn():
    """Packets of two heaps come alternately, without a heap length."""
    samples, heaps = unlengthed(20, 20000)
    packets = []
    for one, two in zip(heaps[::2], heaps[1::2], strict=True):
        packets += joined(zip(one, two, strict=True))
    with Receiving(items=ITEMS, max_delay=2) as receiving:
        receiving.send_packets([*packets, end_of_stream(100)])
        receiving.wait()
    np.testing.assert_array_equal(receiving.samples(), samples)


def test_a_packet_without_payload_is_no_end_of_a_heap():
    samples, heaps = unlengthed(4, 20000)
    empty = packet(2, [], b"", 1400, heap_length=0)
    with Receiving(items=ITEMS) as receiving:
        receiving.send_packets([*heaps[0], *heaps[1][:1], empty, *heaps[1][1:]])
        receiving.send_packets([*joined(heaps[2:]), end_of_stream(100)])
        receiving.wait()
    np.testing.assert_array_equal(receiving.samples(), samples)
