# Copyright 2026 The gr-spead authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Several senders, senders that restart, and single wrong packets."""

import itertools
import socket

import numpy as np
import pytest
from crafted_packets import (
    data_heap,
    descriptor,
    descriptor_heap,
    end_of_stream,
    immediate,
)
from gnuradio import spead
from places import eventually
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
POL = 0x3101


def send_alternately(receiving, *parts):
    """Send lists of packets, alternately from the usual socket and from another.

    There is no pause: after silence the source would accept the other sender.
    """
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as other:
        alternating = itertools.cycle((receiving.socket, other))
        sockets = [
            [sock] * len(part) for sock, part in zip(alternating, parts, strict=False)
        ]
        receiving.send_packets(joined(parts), sockets=joined(sockets))


def send_until_accepted(receiving, packets):
    """Repeat the first heap of a sender until the source accepts the sender."""
    before = len(receiving.samples())

    def is_accepted():
        receiving.send_packets(packets[0])
        return len(receiving.samples()) > before

    eventually(is_accepted)
    receiving.send_packets(joined(packets[1:]))


# Several streams


def test_senders_that_describe_other_samples_are_not_mixed(capfd):
    """Big-endian integers arrive at one port, little-endian ones at the other."""
    samples = np.random.default_rng(1).integers(-(2**31), 2**31, (8, 100), np.int32)
    streams = []
    for order in "><":
        header = f"{{'descr': '{order}i4', 'fortran_order': False, 'shape': (100,)}}"
        descriptors = [
            descriptor("timestamp", 0x1600, format=[("u", 40)]),
            descriptor("samples", 0x3300, header),
        ]
        heaps = [
            data_heap(2 + i, 100 * i, part.astype(order + "i4"))
            for i, part in enumerate(samples)
        ]
        streams.append([descriptor_heap(descriptors, 1), *heaps])
    with (
        Receiving(["127.0.0.1:0"] * 2, output_type="int32", num_outputs=2) as receiving,
        socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as other,
    ):
        packets = joined(zip(*streams, strict=True))
        ports, sockets = receiving.source.ports(), (receiving.socket, other)
        receiving.send_packets(packets, [*ports] * 9, [*sockets] * 9)
        receiving.wait_for_samples(400)
    ignored, got = sorted((receiving.samples(i) for i in range(2)), key=np.any)
    np.testing.assert_array_equal(got, samples.ravel()[: len(got)])
    assert not ignored.any()
    assert "ignored" in capfd.readouterr().out


@pytest.mark.parametrize(
    ("counter", "step", "shift"), [(1, 1, 0), (2, 2, 0), (1, 1, 300), (2, 2, 10**6)]
)
def test_streams_of_two_addresses_are_never_mixed(counter, step, shift):
    """shift: offset of the timestamps of the second stream"""
    samples = [noise(30 * LARGE, seed) for seed in (1, 2)]
    *first, end = packets_by_heap(samples[0], LARGE, 1, step)
    *second, _ = packets_by_heap(samples[1], LARGE, counter, step, first=shift)
    with Receiving() as receiving:
        send_alternately(receiving, *joined(zip(first, second, strict=True)))
        receiving.send_packets(end)
        receiving.wait()
    np.testing.assert_array_equal(receiving.samples(), samples[0])
    assert receiving.stats["samples_missing"] == 0
    assert receiving.stats["packets_ignored"] >= len(joined(second))


def test_a_value_in_items_selects_the_sender():
    samples = [noise(30 * HEAP, seed) for seed in (1, 2)]
    streams = [
        packets_by_heap(own, counter=1 + i, step=2, extra=[(POL, "pol", 7 + i)])
        for i, own in enumerate(samples)
    ]
    items = [spead.timestamp(), spead.immediate(POL, "pol", 8), spead.samples()]
    with Receiving(items=items, end_on_stop=False) as receiving:
        send_alternately(receiving, *joined(zip(*streams, strict=True)))
        receiving.wait_for_samples(30 * HEAP)
    check_whole(receiving, samples[1])
    assert receiving.tags("pol") == [(0, 8)]


def test_heaps_are_counted_by_the_value_that_selects_them():
    """Each selected value, and the first 64 others"""
    items = [*ITEMS, spead.immediate(POL, "pol", [5, 6, 7])]
    with Receiving(num_outputs=3, items=items, max_delay=0) as receiving:
        for i, pol in enumerate((5, 6, 6, *range(100, 170), 100)):
            options = {"counter": i, "first": i * HEAP, "extra": [(POL, "pol", pol)]}
            receiving.send_packets(joined(packets_by_heap(noise(HEAP), **options)[:-1]))
        stats = receiving.stats
    assert stats["heaps_selected"] == {"pol=5": 1, "pol=6": 2, "pol=7": 0}
    others = {f"pol={pol}": 1 for pol in range(100, 164)}
    assert stats["heaps_unselected"] == {**others, "pol=100": 2, "more": 6}


def test_the_end_of_stream_heap_of_another_sender_is_ignored():
    samples = noise(20 * HEAP)
    heaps = packets_by_heap(samples)
    ends = [end_of_stream(11), end_of_stream(777)]
    with Receiving() as receiving:
        send_alternately(receiving, joined(heaps[:10]), ends, joined(heaps[10:]))
        receiving.wait()
    check_whole(receiving, samples)


# Runs and restarts


def test_a_repeated_end_of_stream_heap_does_not_end_the_next_run():
    receiving = Receiving(items=ITEMS)
    port = receiving.port
    samples = noise(40 * HEAP)
    repeats = []
    for i, part in enumerate(np.split(samples, 4)):
        heaps = packets_by_heap(part, counter=1 + 20 * i)
        with receiving:
            receiving.send_packets(repeats)
            receiving.send_packets(joined(heaps))
            receiving.wait()
        repeats = heaps[-1]
        assert receiving.port == port
    np.testing.assert_array_equal(receiving.samples(), samples)


@pytest.mark.parametrize(
    ("first", "moves"), [(2**39 + 5000, True), (2**40 - 500, False)]
)
def test_timestamps_are_right_after_a_sender_restarts(first, moves):
    """It reuses heap counters, begins at time 0, and has sent no end-of-stream heap."""
    samples = noise(40 * HEAP)
    before, after = np.split(samples, 2)
    with Receiving() as receiving:
        *heaps, _ = packets_by_heap(before, first=first, wrap=True)
        receiving.send_packets(joined(heaps))
        receiving.wait_for_samples(20 * HEAP)
        if moves:
            receiving.use_other_port()
        send_until_accepted(receiving, packets_by_heap(after))
        receiving.wait()
    np.testing.assert_array_equal(receiving.samples(), samples)
    assert receiving.tags("timestamp") == [(0, first), (20 * HEAP, 0)]


def test_timestamps_are_right_in_the_run_after_the_largest_timestamp():
    samples = noise(20 * HEAP)
    parts = np.split(samples, 20)
    receiving = Receiving(items=ITEMS, end_on_stop=False)
    with receiving:
        receiving.send_packets([data_heap(1, 2**40 - 1, parts[0])])
        receiving.wait_for_samples(HEAP)
    with receiving:
        receiving.send_packets([data_heap(i, i * HEAP, parts[i]) for i in range(1, 20)])
        receiving.wait_for_samples(len(samples))
    np.testing.assert_array_equal(receiving.samples(), samples)
    # offsets begin at 0 in each run
    assert receiving.tags("timestamp") == [(0, 2**40 - 1), (0, HEAP)]


def test_a_late_packet_from_before_a_restart_is_not_placed():
    """The new stream reuses its heap counter."""
    samples, again = noise(10 * LARGE, 1), noise(10 * LARGE, 2)
    *heaps, _ = packets_by_heap(samples, LARGE)
    after = packets_by_heap(again, LARGE, first=10**7)
    late = heaps[3].pop(5)
    after[3].insert(4, late)
    with Receiving(max_gap=10**5) as receiving:
        receiving.send_packets(joined(heaps))
        receiving.wait_for_samples(len(samples))
        send_until_accepted(receiving, after)
        receiving.wait()
    got = receiving.samples()[len(samples) :]
    assert len(got) == len(again)
    wrong = (got != again) & (got != 0)
    assert not wrong.any(), f"{np.count_nonzero(wrong)} samples are wrong"


# Single wrong packets


@pytest.mark.parametrize("wrong", [1, -5000, 10**5, -(10**9), 2**47])
@pytest.mark.parametrize("heap", [HEAP, LARGE])
def test_a_wrong_timestamp_costs_its_heap_only(wrong, heap):
    """No sample is wrong, no other zeros are output, no later heap is delayed."""
    samples = noise(40 * heap)
    first = 10**10
    heaps = packets_by_heap(samples, heap, first=first, bits=48)
    time = first + 20 * heap
    right, wrong = (immediate(0x1600, tick, 48) for tick in (time, time + wrong))
    assert right in heaps[20][0]
    heaps[20][0] = heaps[20][0].replace(right, wrong)
    with Receiving(max_delay=0) as receiving:
        packets = joined(heaps[:-1])
        index = packets.index(heaps[20][0])
        receiving.send_packets(packets[: index - 1])
        # no pause: after silence the source would accept the wrong timestamp
        receiving.send_packets(packets[index - 1 :])
        receiving.wait_for_samples(len(samples))
        receiving.send_packets(heaps[-1])
        receiving.wait()
    samples[20 * heap : 21 * heap] = 0
    np.testing.assert_array_equal(receiving.samples(), samples)
    assert receiving.tags("missing") == [(20 * heap, heap)]
    assert receiving.tags("timestamp") == [(0, first)]
    assert receiving.stats["samples_missing"] == heap


def test_a_packet_that_contradicts_its_heap_is_not_placed():
    item = immediate(0x1600, 5 * LARGE)
    samples = noise(10 * LARGE)
    heaps = packets_by_heap(samples, LARGE, repeat_pointers=True)
    good = heaps[5][9]
    assert item in good
    heaps[5][9] = good.replace(item, item[:6] + bytes([item[6] ^ 0x10]) + item[7:])
    size = len(good) - 8 - 8 * good[7]
    lost = 5 * LARGE + int.from_bytes(good[27:32], "big")
    receiving = received(joined(heaps))
    samples[lost : lost + size] = 0
    np.testing.assert_array_equal(receiving.samples(), samples)
    assert receiving.stats["samples_missing"] == size
