# Copyright 2026 The gr-spead authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""The first and the last packets of a stream, as docs/ends.md describes them."""

import itertools
import threading

import numpy as np
import pytest
import spead2
import spead2.recv
from flow_graphs import DefaultReceiver, bound_sockets, destinations
from gnuradio import spead
from inputs import (
    Gated,
    consecutive_sockets,
    packet_of,
    packets_to_end,
    playing,
    run_all,
    whole_heaps,
)
from places import BOUND, NEEDS_BUFFER, eventually
from received_streams import joined
from receiving import (
    ENDS,
    arrived,
    bound_socket,
    destination,
    is_end,
    stamped_arrivals,
    stamps_arrivals,
)
from streams import noise, run, send, source


def test_default_stream_begins_with_descriptors_and_has_an_end(sock):
    send(sock, noise(20_000))
    packets = packets_to_end(sock)
    heaps = whole_heaps(packets)
    assert [heap.cnt for heap in heaps] == [1, 2, 3]
    assert [heap.items[0x1600] for heap in heaps] == [0, 8192, 16384]
    assert [len(heap.payload) for heap in heaps[1:]] == [8192, 3616]
    assert {packet.cnt for packet in packets if 0x05 in packet.ids} == {1}
    assert packets[-1].cnt == 4


@pytest.mark.parametrize("descriptors", ["first_heap", "separate", "none"])
def test_each_start_repeats_the_descriptors(descriptors):
    """For each input and each destination."""
    with bound_sockets(3) as sockets:
        options = {"num_inputs": 2, "descriptors": descriptors}
        sink = spead.sink(destinations(sockets), 1000, **options)
        for _ in range(2):
            run_all(sink, noise(10_000), noise(10_000))
            for packets in map(packets_to_end, sockets):
                packets = [packet for packet in packets if not packet.is_end]
                described = [packet for packet in packets if 0x05 in packet.ids]
                data = [packet for packet in packets if 0x3300 in packet.ids]
                assert len(described) == (0 if descriptors == "none" else 2)
                if descriptors == "first_heap":
                    firsts = {p.cnt % 2: p.cnt for p in reversed(packets)}
                    assert {p.cnt for p in described} == set(firsts.values())
                else:
                    assert all(packet.is_descriptors for packet in described)
                    assert {packet.size for packet in data} == {1000}


@NEEDS_BUFFER
@pytest.mark.parametrize(("heap", "for_each"), [(1000, None), (8192, 64)])
def test_one_spead2_stream_may_read_several_sockets(heap, for_each):
    """spead2 reads up to 64 packets from a socket before it reads the next socket."""
    options = {"max_heaps": for_each * 4} if for_each else {}
    with (
        bound_sockets(4) as sockets,
        DefaultReceiver(sockets, **options) as receiver,
    ):
        to = destinations(sockets)
        sink = spead.sink(to, heap, num_inputs=2, send_stop=False)
        samples = [noise(300 * heap)] * 2
        sender = threading.Thread(target=run_all, args=(sink, *samples))
        sender.start()
        heaps = receiver.heaps(600)
        sender.join()
    assert sorted(each.cnt for each in heaps) == list(range(1, 601))


@pytest.mark.parametrize("n", [1, 3])
def test_end_is_repeated_over_150_ms_and_delayed_for_several_destinations(n):
    """At least that long: a busy machine takes longer."""
    with bound_sockets(n) as sockets:
        for sock in sockets:
            eventually(lambda sock=sock: stamps_arrivals(sock))
        run(spead.sink(destinations(sockets), 1000), source(noise(10_500)))
        streams = [list(stamped_arrivals(sock)) for sock in sockets]
    last = max(time for stream in streams for _, time in stream[:-ENDS])
    for stream in streams:
        assert not any(is_end(datagram) for datagram, _ in stream[:-ENDS])
        assert is_end(stream[-1][0])
        assert len({datagram for datagram, _ in stream[-ENDS:]}) == 1
        times = [time for _, time in stream[-ENDS:]]
        pauses = [later - end for end, later in itertools.pairwise(times)]
        assert all(np.greater(pauses, np.multiply([0.01, 0.02, 0.04, 0.08], 0.95)))
        assert times[0] - last > (0.095 if n > 1 else 0)


@NEEDS_BUFFER
def test_end_does_not_overtake_the_tail():
    """A single spead2 stream reads all addresses and ends with the first end."""
    heap = 65536
    samples = noise(40 * heap + 77)
    sockets = consecutive_sockets(4)
    for sock in sockets:
        eventually(lambda sock=sock: stamps_arrivals(sock))
    run(spead.sink(f"127.0.0.1+3:{sockets[0].getsockname()[1]}", heap), source(samples))
    packets = joined(stamped_arrivals(sock) for sock in sockets)
    packets.sort(key=lambda packet: packet[1])
    for sock in sockets:
        sock.close()
    config = spead2.recv.StreamConfig(max_heaps=64 * 4)
    stream = spead2.recv.Stream(spead2.ThreadPool(), config)
    stream.add_buffer_reader(b"".join(packet for packet, _ in packets))
    items = spead2.ItemGroup()
    received = np.zeros(len(samples), np.int8)
    for each in stream:
        items.update(each)
        begin = items["timestamp"].value
        block = items["adc_samples"].value
        received[begin : begin + len(block)] = block
    np.testing.assert_array_equal(received, samples)


def test_send_stop_false_sends_no_end(sock):
    send(sock, noise(10_000), heap_samples=1000, send_stop=False)
    datagrams = list(arrived(sock))
    assert len(datagrams) == 10
    assert not any(map(is_end, datagrams))


def test_receiver_that_closes_at_the_end_is_not_logged(capfd):
    def close_at_end(sock):
        with sock:
            while not is_end(sock.recv(65536)):
                pass

    def ends_are_refused():
        sock = bound_socket()
        receiver = threading.Thread(target=close_at_end, args=(sock,))
        receiver.start()
        stats = send(sock, noise(5000), heap_samples=1000).stats()
        receiver.join(BOUND)
        return stats["icmp_errors"] + stats["send_errors"].get("ECONNREFUSED", 0) > 0

    # unless the receiver is slow, the repeated end-of-stream heaps are refused
    eventually(ends_are_refused)
    log = capfd.readouterr()
    assert "failed" not in log.out + log.err


def test_descriptors_are_not_repeated_without_samples(sock):
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
def test_tail_of_an_ended_input_is_sent_with_the_last_heap(sock):
    sink = spead.sink(destination(sock), 1000, num_inputs=2, descriptors="none")
    run_all(sink, noise(1500), noise(2_000_500))
    heaps = whole_heaps(packets_to_end(sock), 2)
    tails = [heap.cnt for heap in heaps if len(heap.payload) == 500]
    assert len(tails) == 2
    assert [heap.cnt for heap in heaps[-2:]] == tails


def test_paced_tail_of_a_large_heap_is_sent(sock):
    options = {"tail": "pad", "rate": 5e6, "num_inputs": 2}
    sink = spead.sink(destination(sock), 500_000, **options)
    run_all(sink, noise(501_000), noise(501_000))
    assert sink.samples_sent() == 1_002_000
    assert sink.heaps_sent() == 4
