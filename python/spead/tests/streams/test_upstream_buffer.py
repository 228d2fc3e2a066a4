# Copyright 2026 The gr-spead authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""The buffer upstream of the sink is large, and no sample is lost at its limits."""

import numpy as np
import pytest
from gnuradio import blocks, gr, spead
from places import NEEDS_BUFFER
from receiving import destination
from streams import noise, run, send, source, wait

MULTIPLE = 1 << 20  # bytes that the sink asks for; the buffer is twice as large
LARGE = {"heap_samples": 65536, "max_packet_size": 8972}


def received(receiver):
    return np.concatenate([heap.samples for heap in receiver.until_end().heaps])


@pytest.mark.parametrize(
    ("kind", "dtype"),
    [
        ("int8", np.int8),
        ("int16", np.int16),
        ("sc16", np.int32),
        ("complex", np.complex64),
    ],
)
def test_buffer_holds_the_same_bytes_for_each_type(sock, kind, dtype):
    samples = source(np.zeros(4 * MULTIPLE, dtype))
    run(spead.sink(destination(sock), input_type=kind), samples)
    # floats take longer to convert than the others to copy
    asked = (1 + (kind == "complex")) * MULTIPLE // np.dtype(dtype).itemsize
    assert asked <= samples.most <= 2 * asked


@NEEDS_BUFFER
@pytest.mark.parametrize("length", [MULTIPLE // 2, MULTIPLE, 2 * MULTIPLE])
def test_no_sample_is_lost_at_any_length(sock, receiver, length):
    for n in (length - 1, length, length + 1):
        samples = noise(n)
        assert send(sock, samples, **LARGE).samples_in() == n
        np.testing.assert_array_equal(received(receiver), samples)


class Inner(gr.hier_block2):
    """A sink inside two nested hierarchical blocks."""

    def __init__(self, *inside, depth=1):
        signature = gr.io_signature(1, 1, 1)
        gr.hier_block2.__init__(self, "inner", signature, gr.io_signature(0, 0, 0))
        self.connect(self, *([Inner(*inside, depth=0)] if depth else inside))


@NEEDS_BUFFER
def test_hierarchical_block_beside_another_sink_gets_everything_in_each_run(
    sock, receiver
):
    samples = source(noise(2 * MULTIPLE + 1))
    sink = spead.sink(destination(sock), **LARGE)
    inner, other = Inner(sink), blocks.vector_sink_b()
    graph = gr.top_block()
    graph.connect(samples, inner)
    graph.connect(samples, other)
    for _ in range(2):
        other.reset()
        graph.start()
        wait(graph)
        assert samples.most >= MULTIPLE
        np.testing.assert_array_equal(received(receiver), samples.samples)
        np.testing.assert_array_equal(
            np.array(other.data(), np.uint8).view(np.int8), samples.samples
        )
