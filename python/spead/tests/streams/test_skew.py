# Copyright 2026 The gr-spead authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Inputs advance together: how far one is ahead of another, as seen on the wire."""

import threading

import numpy as np
import pytest
import spead2
import spead2.recv
from gnuradio import blocks, gr, spead
from inputs import Gated, packets_to_end, playing, run_all
from places import BOUND, NEEDS_BUFFER, eventually
from receiving import bound_socket, destination
from streams import noise, source


def ahead(packets, inputs):
    """The most heaps that an input was ahead of another.

    One that begins heap m is n ahead of another that has not completed heap m - n.
    """
    complete = [0] * inputs
    begun = [0] * inputs
    most = 0
    for packet in packets:
        if packet.is_end:
            continue
        heap, which = divmod(packet.cnt - 1, inputs)
        if heap == begun[which]:
            begun[which] += 1
            most = max(most, heap - min(complete) + 1)
        if packet.offset + len(packet.payload) == packet.size:
            complete[which] += 1
    assert complete == begun
    return most


def step_by_step(sink, fast, slow, step, heap, bound):
    """Runs a source step by step, and another as fast as the bound lets it."""
    n = len(slow.samples)

    def all_are_sent():
        of_slow = slow.at // heap
        return sink.heaps_sent() == of_slow + min(of_slow + bound, n // heap)

    with playing(sink, fast, slow):
        fast.until(n)
        for let in range(step, n + step, step):
            slow.until(let)
            eventually(lambda let=let: slow.at >= min(let, n) and all_are_sent())


# the last ones leave before they are complete
@NEEDS_BUFFER
@pytest.mark.parametrize(
    ("heap", "bound"), [(1000, 262), (8192, 32), (65536, 4), (200_000, 1), (600_000, 1)]
)
def test_no_input_is_further_ahead_than_a_heap_or_256_kibibytes(sock, heap, bound):
    n = 10_000_000 // heap * heap
    sink = spead.sink(destination(sock), heap, num_inputs=2, descriptors="none")
    step_by_step(sink, Gated(noise(n)), Gated(noise(n)), 1_000_003, heap, bound)
    assert ahead(packets_to_end(sock), 2) == bound


def test_an_input_of_a_sink_that_drops_waits_for_no_other(sock):
    sink = spead.sink(destination(sock), num_inputs=2, when_full="drop")
    slow, fast = Gated(noise(1000)), Gated(noise(4_000_000))
    with playing(sink, slow, fast):
        fast.until(4_000_000)
        eventually(lambda: sink.samples_in() == 4_000_000)
    assert sink.samples_in() == 4_001_000


def test_an_input_waits_for_the_slowest(sock):
    """It goes on when that one does, and when that one has ended."""
    heap = 200_000
    sink = spead.sink(destination(sock), heap, num_inputs=3)
    slow, *others = (Gated(noise(n)) for n in (500_000, 2_000_000, 2_000_000))
    with playing(sink, slow, *others):
        for each in others:
            each.until(2_000_000)
        eventually(lambda: sink.samples_in() == 2 * heap)
        slow.until(1)
        eventually(lambda: sink.samples_in() == 2 * heap + 1)
        slow.until(heap)
        eventually(lambda: sink.samples_in() == 2 * 2 * heap + heap)
        slow.until(500_000)  # its end
        eventually(lambda: sink.samples_in() == 4_500_000)


@NEEDS_BUFFER
@pytest.mark.parametrize(
    ("inputs", "heap", "options"),
    [
        *[(n, heap, {}) for n in (2, 4) for heap in (8192, 65536, 2 << 20)],
        # an eighth of the buffer, less than the default bound
        (8, 131072, {}),
        (2, 10_000, {"buffer_size": 65536}),
    ],
)
def test_a_receiver_needs_no_more_heaps_than_inputs_and_one(inputs, heap, options):
    """All inputs in one stream of spead2, from sources of different speed."""
    n = max(40 * heap // inputs, 3 * heap) // heap * heap
    with bound_socket() as sock:
        stream = spead2.recv.Stream(
            spead2.ThreadPool(),
            spead2.recv.StreamConfig(max_heaps=inputs + 1),
            spead2.recv.RingStreamConfig(heaps=1024),
        )
        stream.add_udp_reader(socket=sock)
        guard = threading.Timer(BOUND, stream.stop)
        guard.start()
        pace = {"rate": 300e6}
        sink = spead.sink(destination(sock), heap, num_inputs=inputs, **pace, **options)
        graph = gr.top_block()
        sources = [source(noise(n, seed=i)) for i in range(inputs)]
        for i, begin in enumerate(sources):
            speed = blocks.throttle(1, 400e6 / (1 + i))
            graph.connect(begin, speed, (sink, i))
        graph.start()
        waiter = threading.Thread(target=graph.wait)
        waiter.start()
        received = [np.zeros(n, np.int8) for _ in range(inputs)]
        items = spead2.ItemGroup()
        for each in stream:
            items.update(each)
            begin = items["timestamp"].value
            block = items["adc_samples"].value
            received[(each.cnt - 1) % inputs][begin : begin + len(block)] = block
        guard.cancel()
        waiter.join()
    for i in range(inputs):
        np.testing.assert_array_equal(received[i], sources[i].samples)


def test_two_sources_of_one_block_never_wait_for_ever(sock):
    """What a block gives to both inputs comes at the same pace."""
    sink = spead.sink(destination(sock), 300_000, num_inputs=2)
    samples = noise(20_000_000)
    graph = gr.top_block()
    begin, split = source(samples), blocks.deinterleave(1, 100)
    graph.connect(begin, split)
    for i in range(2):
        graph.connect((split, i), (sink, i))
    graph.start()
    waiter = threading.Thread(target=graph.wait, daemon=True)
    waiter.start()
    waiter.join(BOUND)
    assert not waiter.is_alive()
    assert sink.samples_sent() == len(samples)


def test_inputs_of_different_lengths_are_sent_whole(sock):
    sink = spead.sink(destination(sock), 1000, num_inputs=3)
    run_all(sink, noise(1_000_000), noise(300), noise(12_345))
    assert sink.samples_sent() == 1_012_645
