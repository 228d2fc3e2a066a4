# Copyright 2026 The gr-spead authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""The buffer in front of the sink is large, and nothing is lost at its limits."""

import numpy as np
import pytest
from gnuradio import blocks, gr, spead
from places import NEEDS_BUFFER
from streams import noise, run, send, source, wait

MULTIPLE = 1 << 20  # bytes that the sink asks for; the buffer is twice as large
LARGE = {"heap_samples": 65536, "max_packet_size": 8972}


def received(receiver):
    heaps = [heap.samples for heap in receiver.until_end().heaps]
    return np.concatenate(heaps) if heaps else np.zeros(0, np.int8)


def test_the_buffer_grows(sock):
    samples = source(noise(4 * MULTIPLE))
    run(spead.sink(f"127.0.0.1:{sock.getsockname()[1]}", **LARGE), samples)
    assert samples.most >= MULTIPLE


@pytest.mark.parametrize(
    ("kind", "dtype"),
    [("int16", np.int16), ("sc16", np.int32), ("complex", np.complex64)],
)
def test_the_buffer_is_as_large_for_samples_of_several_bytes(sock, kind, dtype):
    samples = source(np.zeros(4 * MULTIPLE, dtype))
    run(spead.sink(f"127.0.0.1:{sock.getsockname()[1]}", input_type=kind), samples)
    # floats take longer to convert than the others to copy
    asked = (1 + (kind == "complex")) * MULTIPLE // np.dtype(dtype).itemsize
    assert asked <= samples.most <= 2 * asked


@NEEDS_BUFFER
@pytest.mark.parametrize(
    "around", [MULTIPLE // 2, MULTIPLE, 2 * MULTIPLE, 4 * MULTIPLE]
)
@pytest.mark.parametrize("off", [-1, 0, 1])
def test_no_length_loses_a_sample(sock, receiver, around, off):
    samples = noise(around + off)
    sink = send(sock, samples, **LARGE)
    assert sink.samples_in() == len(samples)
    np.testing.assert_array_equal(received(receiver), samples)


def test_head_in_front_loses_nothing(sock, receiver):
    samples = noise(3 * MULTIPLE)
    head = blocks.head(1, 2 * MULTIPLE + 5)
    sink = spead.sink(f"127.0.0.1:{sock.getsockname()[1]}", **LARGE)
    run(sink, source(samples), head)
    np.testing.assert_array_equal(received(receiver), samples[: 2 * MULTIPLE + 5])


@NEEDS_BUFFER
def test_it_is_still_large_after_stop_and_start(sock, receiver):
    samples = source(noise(2 * MULTIPLE + 1))
    sink = spead.sink(f"127.0.0.1:{sock.getsockname()[1]}", **LARGE)
    graph = gr.top_block()
    graph.connect(samples, sink)
    for _ in range(3):
        graph.start()
        wait(graph)
        assert samples.most >= MULTIPLE
        np.testing.assert_array_equal(received(receiver), samples.samples)
    assert sink.samples_in() == 3 * len(samples.samples)


@NEEDS_BUFFER
def test_another_sink_of_the_same_source_gets_everything(sock, receiver):
    samples = noise(2 * MULTIPLE + 1)
    begin, sink = (
        source(samples),
        spead.sink(f"127.0.0.1:{sock.getsockname()[1]}", **LARGE),
    )
    other = blocks.vector_sink_b()
    graph = gr.top_block()
    graph.connect(begin, sink)
    graph.connect(begin, other)
    graph.start()
    wait(graph)
    np.testing.assert_array_equal(received(receiver), samples)
    np.testing.assert_array_equal(
        np.array(other.data(), np.uint8).view(np.int8), samples
    )


class Inner(gr.hier_block2):
    """A sink inside of two hierarchical blocks."""

    def __init__(self, sink, depth):
        signature = gr.io_signature(1, 1, 1)
        gr.hier_block2.__init__(self, "inner", signature, gr.io_signature(0, 0, 0))
        self.connect(self, Inner(sink, depth - 1) if depth else sink)


@NEEDS_BUFFER
def test_hierarchical_blocks_change_nothing(sock, receiver):
    samples = source(noise(2 * MULTIPLE + 1))
    sink = spead.sink(f"127.0.0.1:{sock.getsockname()[1]}", **LARGE)
    run(Inner(sink, 1), samples)
    assert samples.most >= MULTIPLE
    np.testing.assert_array_equal(received(receiver), samples.samples)
