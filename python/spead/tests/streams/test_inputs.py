# Copyright 2026 The gr-spead authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Several inputs advance together, and each is sent to its end."""

import contextlib
import re
import time
from pathlib import Path

import numpy as np
import pytest
from gnuradio import blocks, gr, spead
from inputs import Gated, connected, packets_to_end, playing, run_all, whole_heaps
from places import NEEDS_BUFFER, eventually
from receiving import Receiver, bound_socket, destination
from streams import noise, send, source, wait


@pytest.mark.parametrize(("heap", "bound"), [(1000, 262), (200_000, 1)])
def test_no_input_is_ahead_by_more_than_a_heap_or_256_kibibytes(sock, heap, bound):
    """bound: the same, in heaps"""
    sink = spead.sink(destination(sock), heap, num_inputs=3)
    slow, *others = (Gated(noise(n)) for n in (500_000, 2_000_000, 2_000_000))
    with playing(sink, slow, *others):
        for gate in others:
            gate.until(2_000_000)
        for given in (0, 1, heap, 2 * heap + 1):
            slow.until(given)
            taken = given + 2 * (given // heap + bound) * heap
            eventually(lambda taken=taken: sink.samples_in() == taken)
        slow.until(500_000)  # its end
        eventually(lambda: sink.samples_in() == 4_500_000)


def test_sink_that_drops_does_not_wait_for_a_slow_input(sock):
    sink = spead.sink(destination(sock), num_inputs=2, when_full="drop")
    slow, fast = Gated(noise(1000)), Gated(noise(4_000_000))
    with playing(sink, slow, fast):
        fast.until(4_000_000)
        eventually(lambda: sink.samples_in() == 4_000_000)
    assert sink.samples_in() == 4_001_000


@NEEDS_BUFFER
@pytest.mark.parametrize(
    ("inputs", "heap", "options"),
    [
        (2, 8192, {}),
        (4, 2 << 20, {}),
        # an eighth of the buffer, less than the default bound
        (8, 131072, {}),
        (2, 10_000, {"buffer_size": 65536}),
    ],
)
def test_receiver_needs_one_heap_per_input_and_one_more(sock, inputs, heap, options):
    """All inputs in one stream of spead2, from sources of different speed."""
    n = max(40 * heap // inputs, 3 * heap) // heap * heap
    receiver = Receiver(sock, max_heaps=inputs + 1)
    options = options | {"rate": 300e6, "num_inputs": inputs}
    sink = spead.sink(destination(sock), heap, **options)
    graph = gr.top_block()
    sources = [source(noise(n, seed=i)) for i in range(inputs)]
    for i, begin in enumerate(sources):
        graph.connect(begin, blocks.throttle(1, 400e6 / (1 + i)), (sink, i))
    graph.start()
    received = [np.zeros(n, np.int8) for _ in range(inputs)]
    for arrived in receiver.until_end().heaps:
        samples = received[(arrived.cnt - 1) % inputs]
        end = arrived.timestamp + len(arrived.samples)
        samples[arrived.timestamp : end] = arrived.samples
    receiver.stream.stop()
    wait(graph)
    for i in range(inputs):
        np.testing.assert_array_equal(received[i], sources[i].samples)


def test_inputs_from_one_block_do_not_deadlock(sock):
    sink = spead.sink(destination(sock), 300_000, num_inputs=2)
    samples = source(noise(20_000_000))
    split = blocks.deinterleave(1, 100)
    graph = gr.top_block()
    graph.connect(samples, split)
    for i in range(2):
        graph.connect((split, i), (sink, i))
    graph.start()
    wait(graph)
    assert sink.samples_sent() == 20_000_000


@NEEDS_BUFFER
def test_inputs_of_any_length_arrive_whole_in_consecutive_runs(sock):
    sink = spead.sink(destination(sock), 1000, num_inputs=2, descriptors="none")
    counters, begun = [], [0, 0]
    for lengths in [(5500, 100), (100, 5500), (1000, 1000), (1, 1), (1, 3_000_000)]:
        run_all(sink, *(noise(n) for n in lengths))
        heaps = whole_heaps(packets_to_end(sock), 2)
        counters += [heap.cnt for heap in heaps]
        for index, n in enumerate(lengths):
            own = [heap for heap in heaps if (heap.cnt - 1) % 2 == index]
            assert b"".join(heap.payload for heap in own) == noise(n).tobytes()
            first = begun[index]
            timestamps = [heap.items[0x1600] for heap in own]
            assert timestamps == [1000 * (first + k) for k in range(len(own))]
            begun[index] += -(-n // 1000)
    assert len(set(counters)) == len(counters)


def switches_of(block):
    """Context switches of the thread of a block; None if the block does not run."""
    name = f"{block.name()}{block.unique_id()}"[:15]  # as the kernel truncates it
    for task in Path("/proc/self/task").iterdir():
        with contextlib.suppress(OSError):  # another thread that has just ended
            if (task / "comm").read_text().strip() == name:
                status = (task / "status").read_text()
                return sum(map(int, re.findall(r"ctxt_switches:\s*(\d+)", status)))
    return None


def test_ended_input_does_not_poll(sock):
    """Its tail waits for the other input; GNU Radio wakes it up four times a second."""
    sink = spead.sink(destination(sock), num_inputs=2)
    ended, slow = Gated(noise(1000)), Gated(noise(10))
    with playing(sink, ended, slow):
        ended.until(1000)
        eventually(lambda: sink.samples_in() == 1000 and switches_of(ended) is None)
        began, before = time.monotonic(), switches_of(sink)
        with bound_socket() as other:  # time in which it could poll
            send(other, noise(1_000_000), rate=5e6, send_stop=False)
        later = switches_of(sink)
        assert later - before <= 10 + 2 * 4 * (time.monotonic() - began)
    assert sink.samples_in() == 1010


def test_connections_may_change_while_the_flow_graph_runs(sock):
    """An input may not stay unconnected; another sink comes and goes."""
    sink = spead.sink(destination(sock), num_inputs=2)
    sources = [source(noise(100_000), repeat=True) for _ in range(2)]
    graph = connected(sink, *sources)

    def check_progress(sink):
        taken = sink.samples_in()
        eventually(lambda: sink.samples_in() > taken + 1_000_000)

    graph.start()
    check_progress(sink)
    graph.lock()
    graph.disconnect(sources[1], (sink, 1))
    with pytest.raises(RuntimeError, match="2 needed, 1 connected"):
        graph.unlock()
    graph.lock()
    graph.connect(sources[1], (sink, 1))
    other = spead.sink(destination(sock))
    graph.connect(sources[0], other)
    graph.unlock()
    check_progress(sink)
    check_progress(other)
    graph.lock()
    graph.disconnect(sources[0], other)
    graph.unlock()
    check_progress(sink)
    assert other.samples_pending() == 0
    graph.stop()
    wait(graph)


def test_empty_input_ends_an_endless_flow_graph(sock):
    sink = spead.sink(destination(sock), 1000, num_inputs=2)
    graph = connected(sink, source(noise(0)), source(noise(1000), repeat=True))
    graph.start()
    wait(graph)
    assert sink.samples_sent() == sink.samples_in()
    assert sum(packet.is_end for packet in packets_to_end(sock)) == 1
