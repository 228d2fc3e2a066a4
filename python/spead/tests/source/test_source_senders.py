# Copyright 2026 The gr-spead authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Several senders, senders that restart, and single wrong packets."""

import itertools
import socket

import numpy as np
import pytest
import spead2
import spead2.send
from crafted_packets import (
    data_heap,
    descriptor,
    descriptor_heap,
    end_of_stream,
    immediate,
    split_heap,
)
from gnuradio import spead
from places import eventually
from received_streams import (
    Receiving,
    check_whole,
    joined,
    packets_by_heap,
    received,
    spead2_packets,
)
from streams import noise

HEAP = 1000
LARGE = 20000  # a heap of several packets
ITEMS = [spead.timestamp(), spead.samples()]
POL = 0x3101


def two_streams(heap, **options):
    """Samples and packets of two streams of 30 heaps, with different item values."""
    samples = [noise(30 * heap, seed) for seed in (1, 2)]
    streams = [
        packets_by_heap(own, heap, 1 + i, 2, extra=[(POL, "pol", 7 + i)], **options)
        for i, own in enumerate(samples)
    ]
    return samples, streams


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


@pytest.mark.parametrize("later", [0, 3], ids=["from the start", "later"])
@pytest.mark.parametrize("outputs", [1, 2], ids=["one port", "own ports"])
def test_senders_that_describe_other_samples_are_not_mixed(outputs, later, capfd):
    """One sends big-endian, the other little-endian integers."""
    samples = np.random.default_rng(1).integers(-(2**31), 2**31, (2, 8, 100), np.int32)
    streams = []
    for order, own in zip(">" + "<", samples, strict=True):
        header = f"{{'descr': '{order}i4', 'fortran_order': False, 'shape': (100,)}}"
        about = [
            descriptor("timestamp", 0x1600, format=[("u", 40)]),
            descriptor("samples", 0x3300, header),
        ]
        heaps = [
            data_heap(2 + i, 100 * i, part.astype(order + "i4"))
            for i, part in enumerate(own)
        ]
        streams.append([descriptor_heap(about, 1), *heaps])
    ports = ["127.0.0.1:0"] * outputs
    with (
        Receiving(ports, output_type="int32", num_outputs=outputs) as receiving,
        socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as other,
    ):
        first, second = streams
        ports = receiving.source.ports()
        sent = [(receiving.socket, ports[0], each) for each in first[:later]]
        for pair in zip(first[later:], second, strict=False):
            sent += zip(
                (receiving.socket, other), (ports[0], ports[-1]), pair, strict=True
            )
        receiving.send_packets(
            [packet for *_, packet in sent],
            [port for _, port, _ in sent],
            [sock for sock, *_ in sent],
        )
        receiving.wait_for_samples(400)
    received = 0
    for output in range(outputs):
        got = receiving.samples(output)
        allowed = samples if outputs == 1 else samples[output : output + 1]
        is_right = any(np.array_equal(got, own.ravel()[: len(got)]) for own in allowed)
        assert is_right or not got.any()
        received += is_right
    assert received == 1
    assert "ignored" in capfd.readouterr().out


@pytest.mark.parametrize("heap", [HEAP, LARGE])
@pytest.mark.parametrize("counters", [(1, 1, 1), (1, 2, 2)])
@pytest.mark.parametrize("shift", [0, 300, 10**6])
def test_streams_of_two_addresses_are_never_mixed(heap, counters, shift):
    """shift: offset of the timestamps of the second stream"""
    samples = [noise(30 * heap, seed) for seed in (1, 2)]
    one, two, step = counters
    *first, end = packets_by_heap(samples[0], heap, one, step)
    *second, _ = packets_by_heap(samples[1], heap, two, step, first=shift)
    with Receiving() as receiving:
        send_alternately(receiving, *joined(zip(first, second, strict=True)))
        receiving.send_packets(end)
        receiving.wait()
    np.testing.assert_array_equal(receiving.samples(), samples[0])
    assert receiving.stats["samples_missing"] == 0
    assert receiving.stats["packets_ignored"] >= len(joined(second))


@pytest.mark.parametrize("heap", [HEAP, LARGE])
@pytest.mark.parametrize("repeat_pointers", [False, True])
def test_streams_of_two_values_of_an_item_are_never_mixed(heap, repeat_pointers):
    samples, streams = two_streams(heap, repeat_pointers=repeat_pointers)
    first, second = (each[:-1] for each in streams)
    alternating = joined(zip(first, second, strict=True))
    receiving = received(joined([*alternating, streams[0][-1]]))
    check_whole(receiving, samples[0])
    assert receiving.tags("pol") == [(0, 7)]


@pytest.mark.parametrize("heap", [HEAP, LARGE])
@pytest.mark.parametrize("chosen", [0, 1])
def test_a_value_in_items_selects_heaps(heap, chosen):
    samples, streams = two_streams(heap)
    pol = spead.immediate(POL, "pol", 7 + chosen)
    items = [spead.timestamp(), pol, spead.samples()]
    with Receiving(items=items, end_on_stop=False) as receiving:
        send_alternately(receiving, *joined(zip(*streams, strict=True)))
        receiving.wait_for_samples(30 * heap)
    check_whole(receiving, samples[chosen])
    assert receiving.tags("pol") == [(0, 7 + chosen)]


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
    samples = noise(40 * HEAP)
    repeats = []
    for i, part in enumerate(np.split(samples, 4)):
        heaps = packets_by_heap(part, counter=1 + 20 * i)
        with receiving:
            receiving.send_packets(repeats)
            receiving.send_packets(joined(heaps))
            receiving.wait()
        repeats = heaps[-1]
    np.testing.assert_array_equal(receiving.samples(), samples)


@pytest.mark.parametrize(
    ("first", "moves"), [(0, False), (2**39 + 5000, True), (2**40 - 500, False)]
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


@pytest.mark.parametrize("bits", [40, 48])
def test_timestamps_are_right_in_the_run_after_the_largest_timestamp(bits):
    samples = noise(20 * HEAP)
    parts = np.split(samples, 20)
    receiving = Receiving(items=ITEMS, end_on_stop=False)
    with receiving:
        receiving.send_packets([data_heap(1, 2**bits - 1, parts[0], bits)])
        receiving.wait_for_samples(HEAP)
    with receiving:
        receiving.send_packets(
            [data_heap(i, i * HEAP, parts[i], bits) for i in range(1, 20)]
        )
        receiving.wait_for_samples(len(samples))
    np.testing.assert_array_equal(receiving.samples(), samples)
    # offsets begin at 0 in each run
    assert receiving.tags("timestamp") == [(0, 2**bits - 1), (0, HEAP)]


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

WRONG = [1, 500, 5000, 10**5, 16 * 10**6, 10**9, 2**47]


@pytest.mark.parametrize("wrong", WRONG + [-each for each in WRONG])
@pytest.mark.parametrize("heap", [HEAP, LARGE])
def test_a_wrong_timestamp_costs_its_heap_only(wrong, heap):
    """No sample is wrong, no other zeros are output, no later heap is delayed."""
    samples = noise(40 * heap)
    first = 10**10
    heaps = packets_by_heap(samples, heap, first=first, bits=48)
    time = first + 20 * heap
    right, wrong = (immediate(0x1600, at, 48) for at in (time, time + wrong))
    assert right in heaps[20][0]
    heaps[20][0] = heaps[20][0].replace(right, wrong)
    with Receiving(max_delay=0) as receiving:
        packets = joined(heaps[:-1])
        at = packets.index(heaps[20][0])
        receiving.send_packets(packets[: at - 1])
        # no pause: after silence the source would accept the wrong timestamp
        receiving.send_packets(packets[at - 1 :])
        receiving.wait_for_samples(len(samples))
        receiving.send_packets(heaps[-1])
        receiving.wait()
    samples[20 * heap : 21 * heap] = 0
    np.testing.assert_array_equal(receiving.samples(), samples)
    assert receiving.tags("missing") == [(20 * heap, heap)]
    assert receiving.tags("timestamp") == [(0, first)]
    assert receiving.stats["samples_missing"] == heap


@pytest.mark.parametrize("counter", [6, 7, 600], ids=["open", "next", "far"])
@pytest.mark.parametrize("moves", [False, True], ids=["same port", "other port"])
@pytest.mark.parametrize("time", [0, 3 * LARGE, 10**9])
def test_a_spoofed_packet_is_not_placed(counter, moves, time):
    """It arrives within heap 6, with another timestamp and heap counter 6, 7 or 600."""
    samples = noise(10 * LARGE)
    heaps = packets_by_heap(samples, LARGE)
    pointer = data_heap(1, 0, samples[:1])[48:56]  # to the samples
    spoofed = split_heap(
        counter, [immediate(0x1600, time), pointer], b"\x7e" * LARGE, 1400
    )
    with Receiving() as receiving:
        before, after = (
            joined(heaps[:5]) + heaps[5][:7],
            heaps[5][7:] + joined(heaps[6:]),
        )
        receiving.send_packets(before[:-1])
        if moves:
            send_alternately(receiving, before[-1:], spoofed[:1], after)
        else:
            receiving.send_packets([before[-1], spoofed[0], *after])
        receiving.wait()
    got = receiving.samples()
    assert len(got) == len(samples)
    differs = got != samples
    assert not got[differs].any()
    # packets without items may be of either heap: they are not placed
    is_ambiguous = not moves and counter < 600
    assert receiving.stats["samples_missing"] <= (LARGE if is_ambiguous else 0)
    assert np.count_nonzero(differs) <= receiving.stats["samples_missing"]


@pytest.mark.parametrize("item", [immediate(0x1600, 5 * LARGE), immediate(2, LARGE)])
def test_a_packet_that_contradicts_its_heap_is_not_placed(item):
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


# Heaps without their first packets


@pytest.mark.parametrize(
    ("counter", "skipped"),
    [(11, 3 * LARGE), (12, 0)],
    ids=["time left out", "end of stream lost"],
)
def test_a_lost_first_packet_costs_its_heap_where_counters_mislead(counter, skipped):
    samples = noise(20 * LARGE)
    before, after = np.split(samples, 2)
    heaps = packets_by_heap(before, LARGE)[:-1]
    first = 10 * LARGE + skipped
    later = packets_by_heap(after, LARGE, counter, first=first, descriptors="none")
    later[0].pop(0)
    receiving = received(joined(heaps + later))
    zeros = np.zeros(skipped + LARGE, np.int8)
    expected = np.concatenate([before, zeros, after[LARGE:]])
    np.testing.assert_array_equal(receiving.samples(), expected)
    assert receiving.stats["samples_missing"] == len(zeros)


def test_a_heap_of_another_item_without_its_first_packet_gives_no_samples():
    samples = noise(20 * LARGE)
    heaps = packets_by_heap(samples, LARGE, step=2)
    group = spead2.send.ItemGroup()
    value = np.full(LARGE, 0x7E, np.int8)
    group.add_item(0x4300, "weights", "", (LARGE,), np.int8, value=value)
    other = group.get_heap(descriptors="none", data="all")
    (others,) = spead2_packets([other], counter=20)
    check_whole(received(joined(heaps[:10]) + others[1:] + joined(heaps[10:])), samples)


def test_a_first_packet_that_arrives_last_costs_nothing():
    samples = noise(10 * LARGE)
    heaps = packets_by_heap(samples, LARGE)
    heaps[4].append(heaps[4].pop(0))
    with Receiving(max_delay=2) as receiving:
        receiving.send_packets(joined(heaps[:-1]))
        receiving.wait_for_samples(len(samples))
    check_whole(receiving, samples)
