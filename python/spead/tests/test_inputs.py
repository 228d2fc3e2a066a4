# Copyright 2026 The gr-spead authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Several inputs: none waits for another, and each gets to its end."""

import threading
import time

import numpy as np
import pytest
from conftest import balanced, destination, eventually, noise, source, wait
from gnuradio import spead
from inputs import TYPES, Waiting, connected


@pytest.mark.parametrize("kind", TYPES)
@pytest.mark.parametrize("inputs", [1, 2, 3])
def test_every_sample_of_every_input_is_counted(sock, kind, inputs):
    samples = np.arange(100_000).astype(TYPES[kind])
    sink = spead.sink(destination(sock), input_type=kind, num_inputs=inputs)
    sources = [source(samples) for _ in range(inputs)]
    graph = connected(sink, *sources)
    graph.start()
    wait(graph)
    stats = sink.stats()
    assert stats["samples_in"] == inputs * len(samples)
    assert balanced(stats)
    assert stats["samples_pending"] == 0


def test_an_input_without_samples_does_not_hold_up_another(sock):
    sink = spead.sink(destination(sock), num_inputs=2)
    slow, fast = Waiting(noise(100_000)), source(noise(10_000_000))
    graph = connected(sink, fast, slow)
    graph.start()
    eventually(lambda: sink.samples_in() == 10_000_000)
    slow.may.set()
    wait(graph)
    assert sink.samples_in() == 10_100_000
    assert balanced(sink.stats())
    assert sink.samples_pending() == 0


@pytest.mark.parametrize("lengths", [(1, 3_000_000), (3_000_000, 1), (1, 2), (5, 5, 7)])
def test_inputs_may_end_at_different_times(sock, lengths):
    sink = spead.sink(destination(sock), num_inputs=len(lengths))
    sources = [source(noise(n)) for n in lengths]
    graph = connected(sink, *sources)
    graph.start()
    wait(graph)
    assert sink.samples_in() == sum(lengths)
    assert balanced(sink.stats())


def test_an_input_that_has_ended_costs_no_time(sock):
    """Its last sample waits for the others, but nobody looks at it all the time."""
    sink = spead.sink(destination(sock), num_inputs=2)
    slow = Waiting(noise(10))
    graph = connected(sink, source(noise(1000)), slow)
    graph.start()
    eventually(lambda: sink.samples_in() == 1000)
    before = time.process_time()
    pause = threading.Event()
    pause.wait(0.5)
    assert time.process_time() - before < 0.1
    slow.may.set()
    wait(graph)
    assert sink.samples_in() == 1010


def test_lock_and_unlock(sock):
    """GNU Radio empties the buffers then; what has been taken stays accounted for."""
    sink = spead.sink(destination(sock), num_inputs=2)
    sources = [source(noise(100_000), repeat=True) for _ in range(2)]
    graph = connected(sink, *sources)
    graph.start()
    for _ in range(5):
        taken = sink.samples_in()
        eventually(lambda taken=taken: sink.samples_in() > taken + 3_000_000)
        graph.lock()
        taken = sink.samples_in()
        assert taken <= sum(begin.offered for begin in sources)
        graph.unlock()
    graph.stop()
    wait(graph)
    assert balanced(sink.stats())
    assert sink.samples_pending() == 0


def test_stop_and_start_begin_anew(sock):
    sink = spead.sink(destination(sock), num_inputs=2)
    sources = [source(noise(100_000)) for _ in range(2)]
    graph = connected(sink, *sources)
    for _ in range(3):
        graph.start()
        wait(graph)
    assert sink.samples_in() == 600_000


def test_every_input_has_to_be_connected(sock):
    """Otherwise a polarisation would be missing without a word."""
    sink = spead.sink(destination(sock), num_inputs=2)
    graph = connected(sink, source(noise(10)))
    with pytest.raises(RuntimeError, match="insufficient connected input ports"):
        graph.start()
