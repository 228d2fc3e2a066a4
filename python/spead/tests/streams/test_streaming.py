# Copyright 2026 The gr-spead authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""A stream that runs: its thread, its pace, its counters."""

import contextlib
import os
import re
from pathlib import Path

import numpy as np
import pytest
from flow_graphs import DefaultReceiver
from gnuradio import gr, spead
from places import NEEDS_BUFFER, eventually
from receiving import arrived, destination
from streams import Running, balanced, noise, run, send, source, wait


def sender_threads():
    """The allowed CPUs of each thread of this process that sends."""
    allowed = []
    for task in Path("/proc/self/task").iterdir():
        with contextlib.suppress(FileNotFoundError):  # it has just ended
            status = (task / "status").read_text()
            if status.startswith("Name:\tspead-send\n"):
                allowed += re.findall("Cpus_allowed_list:\t(.*)", status)
    return allowed


@pytest.mark.parametrize("cpu", sorted(os.sched_getaffinity(0)))
def test_the_sender_thread_is_named_and_pinned(sock, cpu):
    with Running(destination(sock), rate=1e6, affinity=cpu):
        sock.recv(65536)
        assert sender_threads() == [str(cpu)]
    eventually(lambda: not sender_threads())


def test_without_affinity_it_may_run_anywhere(sock):
    with Running(destination(sock), rate=1e6):
        sock.recv(65536)
        (allowed,) = sender_threads()
    own = Path("/proc/self/status").read_text()
    assert f"Cpus_allowed_list:\t{allowed}\n" in own


def test_block_loses_nothing_and_counters_balance_at_every_poll(sock, receiver):
    samples = noise(4_000_000)
    options = {"rate": 40e6, "max_packet_size": 8972}
    sink = spead.sink(destination(sock), **options)
    graph = gr.top_block()
    begin = source(samples)
    graph.connect(begin, sink)
    graph.start()
    last = 0

    def done():
        nonlocal last
        stats = sink.stats()
        assert balanced(stats)
        assert stats["samples_dropped"] == 0
        assert 0 <= stats["samples_pending"] <= stats["samples_in"]
        assert stats["samples_sent"] >= last
        last = stats["samples_sent"]
        return last == len(samples)

    eventually(done)
    wait(graph)
    assert sink.stats()["samples_pending"] == 0
    got = np.concatenate([heap.samples for heap in receiver.until_end().heaps])
    np.testing.assert_array_equal(got, samples)


@pytest.mark.parametrize("tail", ["short", "pad", "drop"])
def test_drop_counts_exactly_what_is_missing(sock, receiver, tail):
    samples = noise(8_000_100)
    sink = send(
        sock,
        samples,
        rate=20e6,
        when_full="drop",
        tail=tail,
        heap_samples=4096,
        max_packet_size=4152,
        buffer_size=1 << 20,
    )
    stats = sink.stats()
    heaps = receiver.until_end().heaps
    assert stats["heaps_dropped"] > 0
    assert stats["heaps_sent"] == len(heaps)
    assert stats["samples_pending"] == 0
    assert balanced(stats)
    received = 0
    for heap in heaps:
        expected = samples[heap.timestamp : heap.timestamp + 4096]
        assert np.array_equal(heap.samples[: len(expected)], expected)
        assert heap.cnt == 1 + heap.timestamp // 4096
        received += len(expected)
    assert stats["samples_in"] == len(samples)
    assert stats["samples_dropped"] == len(samples) - received


def test_the_rate_changes_while_it_runs(sock):
    with Running(destination(sock), rate=1) as sink:
        sock.recv(65536)
        eventually(lambda: sink.samples_pending() > 0)
        sink.set_rate(10e6)
        assert sink.rate() == 10e6
        sent = sink.samples_sent()
        eventually(lambda: sink.samples_sent() > sent + 1_000_000)


def test_a_paced_short_stream_is_not_cut_off_by_stop(sock, receiver):
    """The queue takes longer than a second."""
    samples = noise(500_000)
    sink = send(sock, samples, rate=1e5)
    assert sink.samples_dropped() == 0
    assert sink.samples_sent() == len(samples)


def reconfigure(running, times):
    """By lock() and unlock(), each time when some more has been sent."""
    for _ in range(times):
        sent = running.sink.samples_sent()
        eventually(lambda sent=sent: running.sink.samples_sent() > sent + 100_000)
        running.graph.lock()
        running.graph.unlock()


@NEEDS_BUFFER
def test_reconfiguring_a_running_flow_graph(sock, receiver):
    running = Running(destination(sock), rate=20e6)
    with running as sink:
        reconfigure(running, 3)
    stats = sink.stats()
    assert balanced(stats)
    assert stats["samples_pending"] == 0
    heaps = []
    for _ in range(4):
        heaps += receiver.until_end().heaps
    assert len(heaps) == stats["heaps_sent"]
    # the grid of timestamps goes on over the stops
    assert [heap.timestamp for heap in heaps] == [8192 * i for i in range(len(heaps))]


@NEEDS_BUFFER
def test_without_an_end_a_receiver_goes_on_over_lock_and_unlock(sock):
    """With the defaults of spead2, which ends for good with an end-of-stream heap."""
    options = {"rate": 20e6, "send_stop": False}
    running = Running(destination(sock), **options)
    with DefaultReceiver([sock]) as receiver:
        with running as sink:
            reconfigure(running, 3)
        heaps = receiver.heaps(sink.heaps_sent())
    assert [heap.cnt for heap in heaps] == list(range(1, len(heaps) + 1))


def test_two_sinks_in_one_flow_graph(sock):
    graph = gr.top_block()
    sinks = [spead.sink(destination(sock)) for _ in range(2)]
    sources = [source(noise(100_000)) for _ in range(2)]
    for begin, sink in zip(sources, sinks, strict=True):
        graph.connect(begin, sink)
    graph.start()
    wait(graph)
    assert [sink.samples_sent() for sink in sinks] == [100_000] * 2


def test_every_counter_has_a_getter(sock):
    sink = send(sock, noise(100_000))
    stats = sink.stats()
    stats.pop("send_errors")
    assert stats == {name: getattr(sink, name)() for name in stats}


def test_a_sink_that_never_ran_counts_nothing(sock):
    sink = spead.sink(destination(sock))
    assert sink.samples_in() == sink.packets_sent() == 0
    run(sink, source(noise(0)))
    assert len(set(arrived(sock))) == 1  # the end of the stream


@pytest.mark.parametrize("when_full", ["block", "drop"])
def test_samples_that_wait_for_the_ring_are_counted_as_such(sock, when_full):
    options = {"buffer_size": 100_000, "rate": 20e6, "when_full": when_full}
    sink = send(sock, noise(2_000_000), heap_samples=1000, **options)
    assert (sink.ring_full() > 0) == (when_full == "block")


def test_samples_that_fit_the_ring_wait_for_nothing(sock):
    assert send(sock, noise(50_000), heap_samples=1000, rate=1e6).ring_full() == 0
