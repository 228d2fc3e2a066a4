# Copyright 2026 The gr-spead authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""The first and the last packets of a stream, as docs/ends.md describes them."""

import itertools
import threading

import numpy as np
import pytest
from flow_graphs import DefaultReceiver, bound_sockets, destinations
from gnuradio import spead
from inputs import (
    packets_to_end,
    run_all,
    whole_heaps,
)
from places import NEEDS_BUFFER, eventually
from receiving import (
    ENDS,
    arrived,
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


@NEEDS_BUFFER
@pytest.mark.parametrize(("heap", "for_each"), [(1000, None), (8192, 64)])
def test_one_spead2_stream_may_read_several_sockets(heap, for_each):
    """spead2 reads up to 64 packets from a socket before it reads the next socket."""
    options = {"max_heaps": for_each * 4} if for_each else {}
    with (
        bound_sockets(4) as sockets,
        DefaultReceiver(sockets, **options) as receiver,
    ):
        endpoints = destinations(sockets)
        sink = spead.sink(endpoints, heap, num_inputs=2, send_stop=False)
        samples = [noise(300 * heap)] * 2
        sender = threading.Thread(target=run_all, args=(sink, *samples))
        sender.start()
        heaps = receiver.heaps(600)
        sender.join()
    assert sorted(heap.cnt for heap in heaps) == list(range(1, 601))


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


def test_send_stop_false_sends_no_end(sock):
    send(sock, noise(10_000), heap_samples=1000, send_stop=False)
    datagrams = list(arrived(sock))
    assert len(datagrams) == 10
    assert not any(map(is_end, datagrams))


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
