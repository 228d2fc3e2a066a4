# Copyright 2026 The gr-spead authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Several inputs, each of which gets to its end."""

import contextlib
import re
import time
from pathlib import Path

import numpy as np
import pytest
from gnuradio import spead
from inputs import (
    TYPES,
    Waiting,
    connected,
    packets_to_end,
    run_all,
    whole_heaps,
)
from places import eventually
from receiving import bound_socket, destination
from streams import balanced, noise, send, source, wait


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


def test_an_input_without_samples_need_not_hold_up_another(sock):
    sink = spead.sink(destination(sock), num_inputs=2, when_full="drop")
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


def threads_of(block):
    """The files on a block's thread; none before it has begun and after its end."""
    name = f"{block.name()}{block.unique_id()}"[:15]  # as the kernel cuts it
    found = []
    for task in Path("/proc/self/task").iterdir():
        with contextlib.suppress(OSError):  # another thread, which has just ended
            if (task / "comm").read_text().strip() == name:
                found.append(task)
    return found


def state_of(thread):
    """Whether it sleeps ("S"), and how often it was switched to another."""
    status = (thread / "status").read_text()
    switches = re.findall(r"ctxt_switches:\s*(\d+)", status)
    return re.search(r"State:\s*(\w)", status)[1], *map(int, switches)


def test_an_input_that_has_ended_wakes_nobody(sock):
    """Its last sample waits for the others, but nobody looks at it all the time."""
    sink = spead.sink(destination(sock), num_inputs=2)
    ended, slow = source(noise(1000)), Waiting(noise(10))
    graph = connected(sink, ended, slow)
    graph.start()
    eventually(lambda: sink.samples_in() == 1000)
    eventually(lambda: not threads_of(ended))
    (thread,) = threads_of(sink)
    eventually(lambda: state_of(thread)[0] == "S")
    began = time.monotonic()
    _, slept, preempted = state_of(thread)
    with bound_socket() as other:
        # meanwhile it has time to wake up; GNU Radio itself looks four times a second
        send(other, noise(1_000_000), rate=10e6, send_stop=False)
    state = state_of(thread)
    looks = 1 + 4 * (time.monotonic() - began)
    assert state[1] - slept <= looks
    assert state[2] - preempted <= looks
    eventually(lambda: state_of(thread)[0] == "S")
    slow.may.set()
    wait(graph)
    assert sink.samples_in() == 1010


def started(sock):
    """A flow graph that runs, of two endless sources and a sink."""
    sink = spead.sink(destination(sock), num_inputs=2)
    sources = [source(noise(100_000), repeat=True) for _ in range(2)]
    graph = connected(sink, *sources)
    graph.start()
    return graph, sink, sources


def goes_on(sink):
    taken = sink.samples_in()
    eventually(lambda: sink.samples_in() > taken + 1_000_000)


def ends_well(graph, sink):
    graph.stop()
    wait(graph)
    assert balanced(sink.stats())
    assert sink.samples_pending() == 0


def test_lock_and_unlock(sock):
    """GNU Radio empties the buffers then; what has been taken stays accounted for."""
    graph, sink, sources = started(sock)
    for _ in range(5):
        taken = sink.samples_in()
        eventually(lambda taken=taken: sink.samples_in() > taken + 3_000_000)
        graph.lock()
        taken = sink.samples_in()
        assert taken <= sum(begin.offered for begin in sources)
        graph.unlock()
    ends_well(graph, sink)


def test_unlock_refuses_an_input_that_is_no_longer_connected(sock):
    """GNU Radio does; the flow graph goes on once it is connected again."""
    graph, sink, sources = started(sock)
    for _ in range(3):
        goes_on(sink)
        graph.lock()
        graph.disconnect(sources[1], (sink, 1))
        with pytest.raises(RuntimeError, match="2 needed, 1 connected"):
            graph.unlock()
        assert balanced(sink.stats())
        graph.lock()
        graph.connect(sources[1], (sink, 1))
        graph.unlock()
    goes_on(sink)
    ends_well(graph, sink)


def test_lock_and_unlock_with_more_connections_and_fewer(sock):
    """Another sink comes and goes, at one of two sources and then at both."""
    graph, sink, sources = started(sock)
    for n in (1, 2):
        other = spead.sink(destination(sock), num_inputs=n)
        graph.lock()
        for i in range(n):
            graph.connect(sources[i], (other, i))
        graph.unlock()
        goes_on(sink)
        goes_on(other)
        graph.lock()
        for i in range(n):
            graph.disconnect(sources[i], (other, i))
        graph.unlock()
        goes_on(sink)
        assert balanced(other.stats())
        assert other.samples_pending() == 0
    ends_well(graph, sink)


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


@pytest.mark.parametrize("lengths", [(0, 0), (0, 100_000), (100_000, 0), (5, 0, 7)])
def test_an_input_that_has_nothing_ends_the_others(sock, lengths):
    """Whatever they have given by then is sent, and nothing hangs."""
    sink = spead.sink(destination(sock), 1000, num_inputs=len(lengths))
    run_all(sink, *(noise(n) for n in lengths))
    stats = sink.stats()
    assert balanced(stats)
    assert stats["samples_sent"] == stats["samples_in"] <= sum(lengths)
    assert sum(packet.is_end for packet in packets_to_end(sock)) == 1


def test_an_input_that_has_nothing_ends_an_endless_flow_graph(sock):
    sink = spead.sink(destination(sock), num_inputs=2)
    graph = connected(sink, source(noise(0)), source(noise(1000), repeat=True))
    graph.start()
    wait(graph)


@pytest.mark.parametrize("lengths", [(4_000_000, 4_000_000), (4_000_000, 100)])
def test_what_is_dropped_from_several_inputs_is_counted(sock, lengths):
    options = {"when_full": "drop", "rate": 1e6}
    sink = spead.sink(
        destination(sock), 1000, num_inputs=2, descriptors="none", **options
    )
    run_all(sink, *(noise(n) for n in lengths))
    stats = sink.stats()
    assert balanced(stats)
    assert stats["samples_in"] == sum(lengths)
    assert stats["samples_pending"] == 0
    assert stats["heaps_dropped"] > 0
    assert stats["heaps_sent"] + stats["heaps_dropped"] == sum(
        -(-n // 1000) for n in lengths
    )


@pytest.mark.parametrize("inputs", [2, 5])
def test_stop_while_all_inputs_are_blocked(sock, inputs):
    options = {"rate": 1e4, "num_inputs": inputs}
    sink = spead.sink(destination(sock), 1000, **options)
    sources = [source(noise(100_000), repeat=True) for _ in range(inputs)]
    graph = connected(sink, *sources)
    for _ in range(3):
        before = sink.samples_in()
        graph.start()
        eventually(lambda before=before: sink.samples_in() > before)
        graph.stop()
        wait(graph)
        assert balanced(sink.stats())
        assert sink.samples_pending() == 0


def test_runs_of_different_lengths_follow_each_other(sock):
    sink = spead.sink(destination(sock), 1000, num_inputs=2, descriptors="none")
    counters, begun = [], [0, 0]
    for lengths in [(5500, 100), (100, 5500), (1000, 1000), (1, 1)]:
        run_all(sink, *(noise(n) for n in lengths))
        heaps = whole_heaps(packets_to_end(sock), 2)
        counters += [heap.cnt for heap in heaps]
        for which, n in enumerate(lengths):
            own = [heap for heap in heaps if (heap.cnt - 1) % 2 == which]
            assert b"".join(heap.payload for heap in own) == noise(n).tobytes()
            timestamps = [heap.items[0x1600] for heap in own]
            first = begun[which]
            assert timestamps == [1000 * (first + k) for k in range(len(own))]
            begun[which] += -(-n // 1000)
    assert len(set(counters)) == len(counters)
