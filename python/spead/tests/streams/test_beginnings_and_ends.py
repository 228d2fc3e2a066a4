# Copyright 2026 The gr-spead authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""What docs/ends.md promises and no other test proves."""

import itertools
import threading

import numpy as np
import pytest
from flow_graphs import DefaultReceiver, bound_sockets, destinations
from gnuradio import spead
from inputs import Gated, packet_of, packets_to_end, playing, run_all, whole_heaps
from places import BOUND, NEEDS_BUFFER, eventually
from receiving import (
    ENDS,
    Receiver,
    arrived,
    bound_socket,
    destination,
    is_end,
    stamped,
    stamps_arrivals,
)
from streams import Running, noise, run, send, source


def test_the_usual_case(sock):
    run(spead.sink(destination(sock), heap_samples=8192), source(noise(20_000)))
    packets = packets_to_end(sock)
    heaps = whole_heaps(packets)
    assert [heap.cnt for heap in heaps] == [1, 2, 3]
    assert [heap.items[0x1600] for heap in heaps] == [0, 8192, 16384]
    assert [len(heap.payload) for heap in heaps[1:]] == [8192, 3616]
    assert {packet.cnt for packet in packets if 0x05 in packet.ids} == {1}
    assert packets[-1].cnt == 4
    assert packets[-1].is_end


def test_who_misses_the_descriptors_decodes_nothing(sock):
    run(spead.sink(destination(sock), 1000), source(noise(10_000)))
    assert 0x05 in packet_of(sock.recv(65536)).ids
    late = Receiver(sock)
    assert late.until_end().heaps == []
    assert not late.items
    late.stream.stop()


def sent_to(sock):
    """The packets of a run at a socket, with 2 inputs, without the ends."""
    return [packet for packet in packets_to_end(sock) if not packet.is_end]


@pytest.mark.parametrize("n", [1, 3])
def test_each_start_describes_the_first_heaps_again(n):
    """That of each input to each destination, which is longer than the others."""
    with bound_sockets(n) as sockets:
        sink = spead.sink(destinations(sockets), 1000, num_inputs=2)
        for _ in range(2):
            run_all(sink, noise(10_000), noise(10_000))
            for packets in map(sent_to, sockets):
                firsts = [
                    min(packet.cnt for packet in packets if packet.cnt % 2 == odd)
                    for odd in range(2)
                ]
                for packet in packets:
                    assert (0x05 in packet.ids) == (packet.cnt in firsts)
                    assert (packet.size > 1000) == (packet.cnt in firsts)


@pytest.mark.parametrize(("descriptors", "heaps"), [("separate", 2), ("none", 0)])
@pytest.mark.parametrize("n", [1, 3])
def test_each_start_sends_heaps_of_descriptors_again(n, descriptors, heaps):
    """One of each input to each destination; heaps of samples are all of one size."""
    options = {"num_inputs": 2, "descriptors": descriptors}
    with bound_sockets(n) as sockets:
        sink = spead.sink(destinations(sockets), 1000, **options)
        for _ in range(2):
            run_all(sink, noise(10_000), noise(10_000))
            for packets in map(sent_to, sockets):
                assert sum(packet.is_descriptors for packet in packets) == heaps
                assert {p.size for p in packets if not p.is_descriptors} == {1000}


# heaps of one packet need nothing but spead2's defaults
@NEEDS_BUFFER
@pytest.mark.parametrize(
    ("heap", "for_each"), [(1000, None), (2000, 64), (8192, 64), (65536, 64)]
)
@pytest.mark.parametrize("inputs", [1, 2])
@pytest.mark.parametrize("n", [2, 4])
def test_one_stream_may_read_several_sockets(n, inputs, heap, for_each):
    """spead2 reads up to 64 packets of a socket before it goes on to the next."""
    options = {"max_heaps": for_each * n} if for_each else {}
    count = min(1000, 2_600_000 // heap)
    samples = [noise(count * heap, seed=i) for i in range(inputs)]
    with (
        bound_sockets(n) as sockets,
        DefaultReceiver(sockets, **options) as receiver,
    ):
        to = destinations(sockets)
        sink = spead.sink(to, heap, num_inputs=inputs, send_stop=False)
        sender = threading.Thread(target=run_all, args=(sink, *samples))
        sender.start()
        heaps = receiver.heaps(count * inputs)
        sender.join()
    assert sorted(each.cnt for each in heaps) == list(range(1, count * inputs + 1))


def times_of_arrival(sock):
    """Of the samples, and of the ends of the stream."""
    times = {False: [], True: []}
    while len(times[True]) < ENDS:
        datagram, time_of_arrival = stamped(sock)
        times[is_end(datagram)].append(time_of_arrival)
    return times[False], times[True]


@pytest.mark.parametrize("n", [1, 3])
def test_ends_come_over_150_ms_and_late_for_several_destinations(n):
    """At least so late: a busy machine takes longer."""
    with bound_sockets(n) as sockets:
        for sock in sockets:
            eventually(lambda sock=sock: stamps_arrivals(sock))
        sink = spead.sink(destinations(sockets), 1000)
        run(sink, source(noise(10_500)))
        arrivals = [times_of_arrival(sock) for sock in sockets]
    last = max(samples[-1] for samples, _ in arrivals)
    for _, ends in arrivals:
        pauses = [later - end for end, later in itertools.pairwise(ends)]
        least = [0.010, 0.020, 0.040, 0.080]
        assert all(np.greater(pauses, np.multiply(least, 0.95)))
        assert ends[0] - last > (0.095 if n > 1 else 0)


def test_who_is_late_loses_what_waits_at_another_socket():
    """A stream that reads both, after the last end has come, stops with the first."""
    with bound_sockets(2) as sockets:
        to = [destination(sock) for sock in sockets]
        sink = spead.sink(to, 1000, num_inputs=2)
        run_all(sink, noise(1000), noise(2_000_000))
        with DefaultReceiver(sockets) as receiver:
            guard = threading.Timer(BOUND, receiver.stream.stop)
            guard.start()
            assert len(list(receiver.stream)) < 1000
            guard.cancel()


def test_lock_and_unlock_end_a_receiver_that_stops_on_an_end(sock):
    # so slow that the socket buffer does not overflow on a busy machine
    running = Running(destination(sock), rate=2e5)
    with DefaultReceiver([sock]) as receiver, running as sink:
        eventually(lambda: sink.heaps_sent() > 10)
        running.graph.lock()
        running.graph.unlock()
        guard = threading.Timer(BOUND, receiver.stream.stop)
        guard.start()
        received = len(list(receiver.stream))
        assert guard.is_alive()
        guard.cancel()
        eventually(lambda: sink.heaps_sent() > 10 + received)


@NEEDS_BUFFER
def test_lock_and_unlock_send_an_end_and_descriptors(sock):
    running = Running(destination(sock), rate=20e6)
    with running as sink:
        for _ in range(2):
            before = sink.heaps_sent()
            eventually(lambda before=before: sink.heaps_sent() > before)
            running.graph.lock()
            running.graph.unlock()
        before = sink.heaps_sent()
        eventually(lambda: sink.heaps_sent() > before)
    packets = [packet_of(datagram) for datagram in arrived(sock)]
    runs = [
        list(group)
        for ends, group in itertools.groupby(packets, lambda packet: packet.is_end)
        if not ends
    ]
    assert len(runs) == 3
    assert packets[-1].is_end
    for sent in runs:
        assert {packet.cnt for packet in sent if 0x05 in packet.ids} == {sent[0].cnt}


def test_descriptors_are_not_repeated_where_there_are_no_samples(sock):
    options = {"descriptors": "separate", "descriptor_interval": 0.001}
    sink = spead.sink(destination(sock), 1000, num_inputs=2, **options)
    ended, waiting = Gated(noise(5000)), Gated(noise(5000))
    with playing(sink, ended, waiting):
        ended.until(5000)
        waiting.until(3000)
        eventually(lambda: sink.heaps_sent() == 8)
        list(arrived(sock))
        with bound_socket() as other:  # meanwhile many intervals pass
            send(other, noise(1_000_000), rate=10e6, send_stop=False)
        assert list(arrived(sock)) == []
        waiting.until(5000)
        eventually(lambda: sink.heaps_sent() == 10)
        packets = [packet_of(datagram) for datagram in arrived(sock)]
        assert packets[0].is_descriptors


@NEEDS_BUFFER
def test_the_tail_of_an_input_that_has_ended_waits_for_the_others(sock):
    sink = spead.sink(destination(sock), 1000, num_inputs=2, descriptors="none")
    run_all(sink, noise(1500), noise(2_000_500))
    heaps = whole_heaps(packets_to_end(sock), 2)
    tails = [heap.cnt for heap in heaps if len(heap.payload) == 500]
    assert len(tails) == 2
    assert [heap.cnt for heap in heaps[-2:]] == tails


@NEEDS_BUFFER
@pytest.mark.parametrize(("buffer_size", "arrive"), [(1 << 20, 11), (10_000_000, 12)])
@pytest.mark.parametrize("heaps", [0, 1])  # of that input, in front of the tail
def test_the_large_tail_of_an_input_that_has_ended_may_be_given_up(
    sock, buffer_size, arrive, heaps
):
    """If its packets left as they filled: the last ones come with the end of the other.

    Receivers discard an incomplete heap when some others have begun.
    """
    options = {"num_inputs": 2, "buffer_size": buffer_size, "send_stop": False}
    with DefaultReceiver([sock]) as receiver:
        sink = spead.sink(destination(sock), 1_000_000, **options)
        run_all(sink, noise(heaps * 1_000_000 + 500_000), noise(10_000_000))
        assert sink.heaps_sent() == 11 + heaps
        counters = {heap.cnt for heap in receiver.heaps(arrive - 1 + heaps)}
    assert (1 + 2 * heaps in counters) == (arrive == 12)


@pytest.mark.parametrize("inputs", [1, 2])
def test_a_paced_tail_of_a_large_heap_that_has_time_is_sent(sock, inputs):
    options = {"tail": "pad", "rate": 5e6}
    sink = spead.sink(destination(sock), 500_000, num_inputs=inputs, **options)
    run_all(sink, *[noise(501_000)] * inputs)
    assert sink.samples_sent() == 501_000 * inputs
    assert sink.heaps_sent() == 2 * inputs


@NEEDS_BUFFER
def test_a_large_tail_is_filled_up_with_zeros(sock):
    """On the wire; spead2 decodes just the samples."""
    sink = spead.sink(
        destination(sock), 1_000_000, buffer_size=1 << 20, descriptors="none"
    )
    samples = noise(1_300_000)
    run(sink, source(samples))
    (_, tail) = whole_heaps(packets_to_end(sock))
    assert tail.payload == samples[1_000_000:].tobytes() + bytes(700_000)


def test_who_does_not_stop_gets_each_end_five_times(sock):
    receiver = Receiver(sock)  # stop_on_stop_item=False
    sink = spead.sink(destination(sock), 1000)
    guard = threading.Timer(BOUND, receiver.stream.stop)
    guard.start()
    for last in (5, 10):
        run(sink, source(noise(4000)))
        heaps = [receiver.stream.get() for _ in range(4 + 5)]
        counters = [heap.cnt for heap in heaps if heap.is_end_of_stream()]
        assert counters == 5 * [last]
    guard.cancel()
    receiver.stream.stop()
