# Copyright 2026 The gr-spead authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Several senders, senders that start again, and single wrong packets."""

import socket

import numpy as np
import pytest
import spead2
import spead2.send
from crafted_packets import data_heap, end_of_stream, immediate, packet, split_heap
from gnuradio import spead
from places import eventually
from received_streams import Receiving, joined, spead2_heaps, spead2_packets
from streams import noise, run, source

HEAP = 1000
ITEMS = [spead.timestamp(), spead.samples()]
POL = 0x3101


def heaps_of(samples, heap=HEAP, counter=1, step=1, **options):
    """The packets of each heap of spead2, and of the end of the stream."""
    return spead2_packets(
        spead2_heaps(samples, heap, **options), counter=counter, step=step
    )


def other_socket():
    return socket.socket(socket.AF_INET, socket.SOCK_DGRAM)


def send_in_turn(receiving, streams):
    """Heap by heap, each stream from a socket of its own."""
    sockets = [receiving.socket, *(other_socket() for _ in streams[1:])]
    for heaps in zip(*streams, strict=True):
        for sock, packets in zip(sockets, heaps, strict=True):
            receiving.socket = sock
            receiving.send_packets(packets)
    receiving.socket = sockets[0]
    for sock in sockets[1:]:
        sock.close()


def check_is_one_of(receiving, streams):
    """Not one sample of another, and all are of the first."""
    np.testing.assert_array_equal(receiving.samples(), streams[0])
    assert receiving.stats["samples_missing"] == 0


# Several streams on one output


@pytest.mark.parametrize("heap", [1000, 20000])
@pytest.mark.parametrize("counters", [(1, 1, 1), (1, 2, 2), (1, 500, 1)])
@pytest.mark.parametrize("shift", [0, 300, 10**6])
def test_streams_of_two_addresses_are_never_mixed(heap, counters, shift):
    """shift: of the timestamps of the second one"""
    samples = [noise(30 * heap, seed) for seed in (1, 2)]
    one, two, step = counters
    streams = [
        heaps_of(samples[0], heap, one, step),
        heaps_of(samples[1], heap, two, step, first=shift),
    ]
    end = streams[0][-1]
    with Receiving() as receiving:
        send_in_turn(receiving, [each[:-1] for each in streams])
        receiving.send_packets(end)
        receiving.wait()
    check_is_one_of(receiving, samples)
    ignored = len(joined(streams[1][:-1]))
    assert receiving.stats["packets_ignored"] >= ignored


@pytest.mark.parametrize("heap", [1000, 20000])
@pytest.mark.parametrize("repeat_pointers", [False, True])
def test_streams_of_two_values_of_an_item_are_never_mixed(heap, repeat_pointers):
    samples = [noise(30 * heap, seed) for seed in (1, 2)]
    streams = [
        heaps_of(
            own,
            heap,
            counter=1 + i,
            step=2,
            extra=[(POL, "pol", 7 + i)],
            repeat_pointers=repeat_pointers,
        )
        for i, own in enumerate(samples)
    ]
    with Receiving() as receiving:
        for heaps in zip(*(each[:-1] for each in streams), strict=True):
            receiving.send_packets(joined(heaps))
        receiving.send_packets(streams[0][-1])
        receiving.wait()
    check_is_one_of(receiving, samples)
    assert receiving.tags("pol") == [(0, 7)]


@pytest.mark.parametrize("heap", [1000, 20000])
@pytest.mark.parametrize("chosen", [0, 1])
@pytest.mark.parametrize("addresses", ["one address", "two addresses"])
def test_a_value_in_items_selects_heaps(heap, chosen, addresses):
    samples = [noise(20 * heap, seed) for seed in (1, 2)]
    streams = [
        heaps_of(own, heap, counter=1 + i, step=2, extra=[(POL, "pol", 7 + i)])
        for i, own in enumerate(samples)
    ]
    items = [
        spead.timestamp(),
        spead.immediate(POL, "pol", 7 + chosen),
        spead.samples(),
    ]
    with Receiving(items=items, end_on_stop=False) as receiving:
        if addresses == "one address":
            for heaps in zip(*(each[:-1] for each in streams), strict=True):
                receiving.send_packets(joined(heaps))
        else:
            send_in_turn(receiving, [each[:-1] for each in streams])
        eventually(lambda: len(receiving.samples()) >= 20 * heap)
    np.testing.assert_array_equal(receiving.samples(), samples[chosen])
    assert receiving.tags("pol") == [(0, 7 + chosen)]
    assert receiving.stats["samples_missing"] == 0


def test_another_sender_takes_over_when_the_first_one_is_silent():
    samples = [noise(20 * HEAP, seed) for seed in (1, 2)]
    one, two = (
        heaps_of(own, counter=i) for i, own in ((1, samples[0]), (900, samples[1]))
    )
    with Receiving() as receiving:
        receiving.send_packets(joined(one[:-1]))
        eventually(lambda: len(receiving.samples()) == 20 * HEAP)
        receiving.use_other_port()

        def has_taken_over():
            receiving.send_packets(two[0])
            return len(receiving.samples()) > 20 * HEAP

        eventually(has_taken_over)
        receiving.send_packets(joined(two[1:]))
        receiving.wait()
    np.testing.assert_array_equal(receiving.samples(), np.concatenate(samples))


def test_the_end_of_the_stream_of_another_sender_is_ignored():
    samples = noise(20 * HEAP)
    heaps = heaps_of(samples)
    with Receiving() as receiving:
        receiving.send_packets(joined(heaps[:10]))
        own = receiving.socket
        with other_socket() as receiving.socket:
            receiving.send_packets([end_of_stream(11), end_of_stream(777)])
        receiving.socket = own
        receiving.send_packets(joined(heaps[10:]))
        receiving.wait()
    np.testing.assert_array_equal(receiving.samples(), samples)


# Runs and restarts


def test_a_flow_graph_runs_once_for_each_stream_though_the_end_is_repeated():
    """By the sink, five times; what comes of it in the next run ends nothing."""
    receiving = Receiving(items=ITEMS)
    samples = noise(40 * HEAP)
    repeats = []
    for i in range(4):
        part = samples[10 * i * HEAP : 10 * (i + 1) * HEAP]
        heaps = heaps_of(part, counter=1 + 20 * i)
        with receiving:
            receiving.send_packets(repeats)
            receiving.send_packets(joined(heaps))
            receiving.wait()
        repeats = heaps[-1]
    np.testing.assert_array_equal(receiving.samples(), samples)


def test_a_flow_graph_runs_once_for_each_stream_of_the_sink():
    receiving = Receiving(items=ITEMS)
    port = receiving.port
    samples = noise(40 * HEAP)
    for i in range(4):
        with receiving:
            part = samples[10 * i * HEAP : 10 * (i + 1) * HEAP]
            to = f"127.0.0.1:{port}"
            run(spead.sink(to, HEAP, rate=10e6), source(part))
            receiving.wait()
    np.testing.assert_array_equal(receiving.samples(), samples)


@pytest.mark.parametrize("address", ["same address", "other address"])
@pytest.mark.parametrize("first", [0, 2**39 + 5000, 2**40 - 500])
def test_the_times_after_a_restart_of_a_sender_are_right(first, address):
    """Without an end, with the same counters, from time 0."""
    samples = noise(40 * HEAP)
    before = heaps_of(samples[: 20 * HEAP], first=first, wrap=True)[:-1]
    after = heaps_of(samples[20 * HEAP :])
    with Receiving() as receiving:
        receiving.send_packets(joined(before))
        eventually(lambda: len(receiving.samples()) == 20 * HEAP)
        if address == "other address":
            receiving.use_other_port()

        def has_begun():
            receiving.send_packets(after[0])
            return len(receiving.samples()) > 20 * HEAP

        eventually(has_begun)
        receiving.send_packets(joined(after[1:]))
        receiving.wait()
    np.testing.assert_array_equal(receiving.samples(), samples)
    assert receiving.tags("timestamp") == [(0, first), (20 * HEAP, 0)]


@pytest.mark.parametrize("bits", [40, 48])
def test_the_times_of_the_next_run_are_right_after_one_of_the_largest(bits):
    samples = noise(20 * HEAP)
    receiving = Receiving(items=ITEMS, end_on_stop=False)
    with receiving:
        receiving.send_packets([data_heap(1, 2**bits - 1, samples[:HEAP], bits)])
        eventually(lambda: len(receiving.samples()) == HEAP)
    with receiving:
        receiving.send_packets(
            [
                data_heap(i, i * HEAP, samples[i * HEAP : (i + 1) * HEAP], bits)
                for i in range(1, 20)
            ]
        )
        eventually(lambda: len(receiving.samples()) == len(samples))
    np.testing.assert_array_equal(receiving.samples(), samples)
    # offsets begin at 0 in each run
    assert receiving.tags("timestamp") == [(0, 2**bits - 1), (0, HEAP)]


def test_one_heap_of_the_largest_time_leaves_the_times_behind_it_right():
    samples = noise(60 * HEAP)
    packets = []
    for i in range(60):
        part = samples[i * HEAP : (i + 1) * HEAP]
        packets.append(data_heap(1 + i, 2**48 - 1 if i == 30 else i * HEAP, part))
    with Receiving(items=ITEMS, on_missing="skip") as receiving:
        receiving.send_packets([*packets, end_of_stream(100)])
        receiving.wait()
    expected = np.delete(samples, np.s_[30 * HEAP : 31 * HEAP])
    np.testing.assert_array_equal(receiving.samples(), expected)
    assert receiving.tags("timestamp") == [(0, 0), (30 * HEAP, 31 * HEAP)]


# Single wrong packets

WRONG = [1, 500, 1000, 5000, 10**5, 10**6, 16 * 10**6, 10**9, 2**46, 2**47]


@pytest.mark.parametrize("wrong", WRONG + [-each for each in WRONG])
@pytest.mark.parametrize("heap", [1000, 20000])
def test_a_wrong_timestamp_costs_its_heap_only(wrong, heap):
    """No samples are wrong, no zeros are invented, nothing is late."""
    samples = noise(40 * heap)
    first = 10**10
    packets = []
    for i in range(40):
        part = samples[i * heap : (i + 1) * heap]
        time = first + i * heap + (wrong if i == 20 else 0)
        # numpy 2 refuses to wrap
        heaps = spead2_heaps(part, heap, first=time % 2**48, bits=48)
        (own,) = spead2_packets([next(heaps)])
        packets += [change_counter(each, i) for each in own]
    with Receiving() as receiving:
        receiving.send_packets([*packets, end_of_stream(100, 48)])
        receiving.wait()
    expected = samples.copy()
    expected[20 * heap : 21 * heap] = 0
    np.testing.assert_array_equal(receiving.samples(), expected)
    assert receiving.tags("missing") == [(20 * heap, heap)]
    assert receiving.tags("timestamp") == [(0, first)]
    assert receiving.stats["samples_missing"] == heap


def change_counter(packet, counter):
    return packet[:8] + immediate(1, counter, 48) + packet[16:]


@pytest.mark.parametrize("wrong", [1000, 10**6, 10**9, -1000, -5000])
def test_a_wrong_timestamp_delays_nothing_behind_it(wrong):
    """The samples behind it come out while the stream stands still."""
    samples = noise(40 * HEAP)
    packets = [
        data_heap(
            1 + i,
            10**8 + i * HEAP + (wrong if i == 20 else 0),
            samples[i * HEAP : (i + 1) * HEAP],
            48,
        )
        for i in range(40)
    ]
    with Receiving(items=ITEMS, max_delay=0) as receiving:
        receiving.send_packets(packets)
        eventually(lambda: len(receiving.samples()) == len(samples))
        expected = samples.copy()
        expected[20 * HEAP : 21 * HEAP] = 0
        np.testing.assert_array_equal(receiving.samples(), expected)


@pytest.mark.parametrize("at", ["open heap", "next heap", "far heap"])
@pytest.mark.parametrize("address", ["same address", "other address"])
@pytest.mark.parametrize("time", [0, 3 * 20000, 10**6, 10**9, 2**40 - 1])
def test_a_spoofed_packet_places_nothing(at, address, time):
    """In the middle of a heap, with the counter of some heap and another time."""
    heap = 20000
    samples = noise(10 * heap)
    heaps = heaps_of(samples, heap)
    counter = {"open heap": 6, "next heap": 7, "far heap": 600}[at]
    evil = split_heap(
        counter,
        [immediate(0x1600, time), data_heap(1, 0, samples[:1])[8 + 8 * 5 : 8 + 8 * 6]],
        b"\x7e" * heap,
        1400,
    )
    is_ambiguous = address == "same address" and at != "far heap"
    with Receiving() as receiving:
        receiving.send_packets(joined(heaps[:5]) + heaps[5][:7])
        own = receiving.socket
        if address == "other address":
            receiving.socket = other_socket()
        receiving.send_packets([evil[0]])
        receiving.socket = own
        receiving.send_packets(heaps[5][7:] + joined(heaps[6:]))
        receiving.wait()
    got = receiving.samples()
    assert len(got) == len(samples)
    differs = got != samples
    assert not got[differs].any()
    # packets without items may be of either heap: they are not placed
    lost = receiving.stats["samples_missing"]
    assert lost <= (heap if is_ambiguous else 0)
    assert np.count_nonzero(differs) <= lost


@pytest.mark.parametrize("contradiction", ["time", "length"])
def test_a_packet_that_contradicts_its_open_heap_places_nothing(contradiction):
    """In streams with items in all packets."""
    heap = 20000
    samples = noise(10 * heap)
    heaps = heaps_of(samples, heap, repeat_pointers=True)
    victim = bytearray(heaps[5][9])
    at = bytes(victim).find(
        immediate(0x1600, 5 * heap) if contradiction == "time" else immediate(2, heap)
    )
    assert at > 0
    victim[at + 6] ^= 0x10
    heaps[5][9] = bytes(victim)
    size = len(victim) - 8 - 8 * victim[7]
    offset = int.from_bytes(heaps[5][9][8 + 8 * 2 + 3 : 8 + 8 * 3], "big")
    with Receiving() as receiving:
        receiving.send_packets(joined(heaps))
        receiving.wait()
    expected = samples.copy()
    lost = 5 * heap + offset
    expected[lost : lost + size] = 0
    np.testing.assert_array_equal(receiving.samples(), expected)
    assert receiving.stats["samples_missing"] == size


# Places that cannot be known


def test_a_lost_first_packet_behind_time_left_out_costs_its_heap():
    """The sender leaves out time; its counters go on by one."""
    heap = 20000
    samples = noise(20 * heap)
    before = heaps_of(samples[: 10 * heap], heap)[:-1]
    left_out = 3 * heap
    after = heaps_of(
        samples[10 * heap :],
        heap,
        counter=11,
        first=10 * heap + left_out,
        descriptors="none",
    )
    with Receiving() as receiving:
        receiving.send_packets(joined([*before, after[0][1:], *after[1:]]))
        receiving.wait()
    zeros = np.zeros(left_out + heap, np.int8)
    expected = np.concatenate([samples[: 10 * heap], zeros, samples[11 * heap :]])
    np.testing.assert_array_equal(receiving.samples(), expected)
    assert receiving.stats["samples_missing"] == left_out + heap


def test_a_heap_of_another_item_that_lost_its_first_packet_gives_no_samples():
    heap = 20000
    samples = noise(20 * heap)
    heaps = heaps_of(samples, heap, step=2)
    group = spead2.send.ItemGroup()
    group.add_item(0x4300, "weights", "", shape=(heap,), dtype=np.int8)
    group["weights"].value = np.full(heap, 0x7E, np.int8)
    other = group.get_heap(descriptors="none", data="all")
    (others,) = spead2_packets([other], counter=20)
    with Receiving() as receiving:
        receiving.send_packets(joined(heaps[:10]) + others[1:] + joined(heaps[10:]))
        receiving.wait()
    np.testing.assert_array_equal(receiving.samples(), samples)


def test_a_late_packet_of_before_a_restart_is_not_placed_in_the_new_stream():
    """With the same counters: it belongs to the heap of the old stream."""
    heap = 20000
    samples = noise(10 * heap, 1)
    again = noise(10 * heap, 2)
    first = heaps_of(samples, heap)[:-1]
    second = heaps_of(again, heap, first=10**7)
    late = first[3].pop(5)
    with Receiving(max_gap=10**5) as receiving:
        receiving.send_packets(joined(first))
        eventually(lambda: len(receiving.samples()) == len(samples))

        def has_begun():
            receiving.send_packets(second[0])
            return len(receiving.samples()) > len(samples)

        eventually(has_begun)
        receiving.send_packets(joined(second[1:3]) + second[3][:4])
        receiving.send_packets([late])
        receiving.send_packets(second[3][4:] + joined(second[4:]))
        receiving.wait()
    got = receiving.samples()[len(samples) :]
    assert len(got) == len(again)
    wrong = (got != again) & (got != 0)
    assert not wrong.any(), f"{np.count_nonzero(wrong)} samples are wrong"


def test_a_sender_that_starts_again_with_its_counters_and_times_is_believed():
    """After a silence: from the same address, nothing tells the heaps apart."""
    samples = noise(20 * HEAP)
    heaps = heaps_of(samples)
    with Receiving() as receiving:
        receiving.send_packets(joined(heaps[:-1]))
        eventually(lambda: len(receiving.samples()) == len(samples))

        def has_begun():
            receiving.send_packets(heaps[0])
            return len(receiving.samples()) > len(samples)

        eventually(has_begun)
        receiving.send_packets(joined(heaps[1:]))
        receiving.wait()
    np.testing.assert_array_equal(receiving.samples(), np.tile(samples, 2))


def test_packets_without_items_of_an_unknown_heap_are_missing():
    heap = 20000
    samples = noise(10 * heap)
    heaps = heaps_of(samples, heap)
    with Receiving() as receiving:
        receiving.send_packets(joined([*heaps[:4], heaps[4][1:], *heaps[5:]]))
        receiving.wait()
    expected = samples.copy()
    expected[4 * heap : 5 * heap] = 0
    np.testing.assert_array_equal(receiving.samples(), expected)
    assert receiving.stats["samples_missing"] == heap


def test_a_first_packet_that_comes_last_costs_nothing():
    heap = 20000
    samples = noise(10 * heap)
    heaps = heaps_of(samples, heap)
    heaps[4] = [*heaps[4][1:], heaps[4][0]]
    with Receiving(max_delay=2) as receiving:
        receiving.send_packets(joined(heaps))
        receiving.wait()
    np.testing.assert_array_equal(receiving.samples(), samples)


def test_an_item_for_an_unfinished_heap_behind_new_descriptors_harms_nothing():
    """What once ended the process, with four datagrams."""
    heap = 20000
    samples = noise(10 * heap)
    heaps = heaps_of(samples, heap)
    group = spead2.send.ItemGroup()
    for i in range(30):
        group.add_item(0x5000 + i, f"more {i}", "", (), format=[("u", 40)], value=i)
    more = joined(spead2_packets([group.get_heap()], 8972, counter=700))
    unfinished = packet(5, [immediate(0x5000 + 25, 9)], b"", 1400, heap)
    with Receiving() as receiving:
        receiving.send_packets(joined(heaps[:4]) + heaps[4][:1])
        receiving.send_packets([*more, unfinished])
        receiving.send_packets(heaps[4][1:] + joined(heaps[5:]))
        receiving.wait()
    np.testing.assert_array_equal(receiving.samples(), samples)
