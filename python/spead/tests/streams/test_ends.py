# Copyright 2026 The gr-spead authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""The last heaps and the end of a stream, at receivers with spead2's defaults."""

import contextlib
import threading

import numpy as np
import pytest
import spead2
import spead2.recv
from gnuradio import spead
from inputs import consecutive_sockets, run_all
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
from streams import Running, noise, run, source

HEAP = 65536


def test_a_receiver_that_ends_is_no_failure(capfd):
    # unless it is slow, the repeated end-of-stream heaps are refused
    eventually(ends_are_refused)
    said = capfd.readouterr()
    assert "failed" not in said.out + said.err


def ends_are_refused():
    """Of a stream whose receiver ends with it."""
    sock = bound_socket()
    receiver = threading.Thread(target=close_at_end, args=(sock,))
    receiver.start()
    sink = spead.sink(destination(sock), 1000)
    run(sink, source(noise(5000)))
    receiver.join(BOUND)
    stats = sink.stats()
    return stats["icmp_errors"] + stats["send_errors"].get("ECONNREFUSED", 0) > 0


def close_at_end(sock):
    sock.settimeout(BOUND)
    while not is_end(sock.recv(65536)):
        pass
    sock.close()


@NEEDS_BUFFER
@pytest.mark.parametrize("tail", [77, 5000])
@pytest.mark.parametrize("destinations", [2, 4])
def test_the_end_does_not_overtake_the_tail(destinations, tail):
    """One stream of spead2 gets the packets of all addresses as they arrive, and ends
    with the first end. How late that comes is tested in test_beginnings_and_ends.py."""
    samples = noise(40 * HEAP + tail)
    with contextlib.ExitStack() as kept:
        sockets = [kept.enter_context(s) for s in consecutive_sockets(destinations)]
        for sock in sockets:
            eventually(lambda sock=sock: stamps_arrivals(sock))
        port = sockets[0].getsockname()[1]
        to = f"127.0.0.1+{destinations - 1}:{port}"
        run(spead.sink(to, HEAP), source(samples))
        packets = joined(stamped_arrivals(sock) for sock in sockets)
    packets.sort(key=lambda packet: packet[1])
    stream = spead2.recv.Stream(
        spead2.ThreadPool(),
        # several heaps to each address are under way at a time
        spead2.recv.StreamConfig(max_heaps=64 * destinations),
    )
    stream.add_buffer_reader(b"".join(packet for packet, _ in packets))
    items = spead2.ItemGroup()
    received = np.zeros(len(samples), np.int8)
    for heap in stream:
        items.update(heap)
        begin = items["timestamp"].value
        block = items["adc_samples"].value
        received[begin : begin + len(block)] = block
    np.testing.assert_array_equal(received, samples)


@pytest.mark.parametrize("inputs", [1, 2])
@pytest.mark.parametrize("destinations", [1, 3])
def test_the_end_comes_again_for_those_who_missed_it(inputs, destinations):
    """With the same counter, and all of them by the time that the flow graph ends."""
    with contextlib.ExitStack() as kept:
        sockets = [kept.enter_context(bound_socket()) for _ in range(destinations)]
        to = ",".join(map(destination, sockets))
        sink = spead.sink(to, 1000, num_inputs=inputs)
        run_all(sink, *(noise(10_000) for _ in range(inputs)))
        counters = set()
        for sock in sockets:
            datagrams = list(arrived(sock))
            ends = datagrams[-ENDS:]
            assert len(set(ends)) == 1
            assert is_end(ends[0])
            assert not any(map(is_end, datagrams[:-ENDS]))
            counters.add(ends[0][8:16])
        assert len(counters) == destinations


def test_there_is_no_end_without_send_stop(sock):
    run(spead.sink(destination(sock), 1000, send_stop=False), source(noise(10_000)))
    datagrams = list(arrived(sock))
    assert len(datagrams) == 10
    assert not any(map(is_end, datagrams))


def test_a_network_that_takes_nothing_gets_no_second_end():
    """What is left is dropped after two seconds, ends as well."""
    pace = {"rate": 1, "burst_size": 1}
    with Running("127.0.0.1:9,127.0.0.2:9", **pace) as sink:
        pass
    stats = sink.stats()
    assert stats["samples_pending"] == 0
