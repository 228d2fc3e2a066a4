# Copyright 2026 The gr-spead authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""A stream that is sent as zeros, or mostly clipped, is told of in the log."""

import numpy as np
import pytest
from gnuradio import blocks, gr, spead
from receiving import destination

RATE = 1_000_000  # bytes per second
SECONDS = 2.5  # of which the ring holds half a second: the sink takes longer than one
PACE = {"rate": RATE, "buffer_size": RATE // 2}


@pytest.mark.parametrize(
    ("scale", "warning"),
    [
        (
            0.4,
            "all samples have been sent as 0 for a second: with scale = 0.4, samples",
        ),
        (None, None),
        (
            1000,
            " % of the samples of a second were clipped: with scale = 1000, samples",
        ),
    ],
)
def test_a_wrong_scale_is_told_of_once(sock, capfd, scale, warning):
    """A signal of +-1, as the sources of GNU Radio give it."""
    sine = np.sin(np.arange(100_000, dtype=np.float32))
    graph = gr.top_block()
    source = blocks.vector_source_f(sine.tolist(), True)
    head = blocks.head(gr.sizeof_float, int(SECONDS * RATE))
    sink = spead.sink(destination(sock), input_type="float", scale=scale, **PACE)
    graph.connect(source, head, sink)
    graph.run()
    assert sink.samples_sent() == int(SECONDS * RATE)
    del graph, sink  # what had to wait is written
    out, err = capfd.readouterr()
    lines = [line for line in (out + err).splitlines() if "of a second" in line]
    lines += [line for line in (out + err).splitlines() if "for a second" in line]
    assert len(lines) == (1 if warning else 0)
    assert not warning or warning in lines[0]
