# Copyright 2026 The gr-spead authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""The GRC blocks of instruments send and receive the streams of the manual."""

import dataclasses

import grc_lint
import numpy as np
import pytest
from gnuradio import blocks, gr
from grc_blocks import GrcBlock, platform, sink, source
from instrument_captures import CAPTURES
from places import NEEDS_LIBPCAP
from received_streams import Receiving
from streams import wait


@dataclasses.dataclass(frozen=True)
class Preset(GrcBlock):
    stream: str = ""

    def __call__(self, **fields):
        id = f"spead_{self.stream}_{self.name}"
        return grc_lint.make_block(platform(), id, **fields)


def preset(stream, block):
    return Preset(*dataclasses.astuple(block), stream)


@pytest.mark.parametrize("stream", CAPTURES)
def test_the_sink_has_the_options_of_the_instrument(stream):
    """Except those that set its size and speed in this project's captures."""
    grc = preset(stream, sink)
    block = grc()
    assert grc_lint.block_errors(block) == []
    passed = grc.arguments(block)
    _, expected = CAPTURES[stream]
    sizes = {"rate", "axes", "timestamp_step"} if "256" in str(expected) else {"rate"}
    for name in expected.keys() - sizes:
        assert passed[name] == expected[name], name


def listed(endpoints):
    return endpoints if isinstance(endpoints, list) else [endpoints]


@NEEDS_LIBPCAP
@pytest.mark.parametrize(
    ("stream", "fields", "precision"),
    [
        *((stream, {}, 1e-6) for stream in CAPTURES),
        # descriptors tell packed samples of 10 bits from others
        (
            "meerkat_digitiser",
            {"wire_type": "i10", "max_packet_size": "5192"},
            0.501 / 511,
        ),
    ],
)
def test_the_source_receives_the_sink(tmp_path, stream, fields, precision):
    """Through a capture, at the ports of the blocks."""
    grc = preset(stream, sink)
    arguments = grc.arguments(grc(**fields))
    path = tmp_path / "stream.pcap"
    arguments["destinations"] = [
        f"{path}?{text}" for text in listed(arguments["destinations"])
    ]
    sender = grc.python(**arguments)
    ports = sender.input_signature().min_streams()
    item_bytes = sender.input_signature().sizeof_stream_item(0)
    length = item_bytes // {"float": 4, "complex": 8}[arguments["input_type"]]
    count = max(5 * 4096 * 8 // length, 5 * 256)
    sent = np.random.default_rng(1).integers(-99, 99, (ports, count * item_bytes // 4))
    sent = (sent / 127).astype(np.float32)
    graph = gr.top_block()
    for i in range(ports):
        if arguments["input_type"] == "float":
            samples = blocks.vector_source_f(sent[i])
        else:
            samples = blocks.vector_source_c(sent[i].view(np.complex64), False, length)
        graph.connect(samples, (sender, i))
    graph.start()
    wait(graph)

    grc = preset(stream, source)
    block = grc()
    assert grc_lint.block_errors(block) == []
    arguments = grc.arguments(block)
    arguments["endpoints"] = [
        f"{path}?dst port {text.split(':')[1]}"
        for text in listed(arguments["endpoints"])
    ]
    with Receiving(**arguments) as receiving:
        receiving.wait()
    assert receiving.stats["samples_missing"] == 0
    for i in range(ports):
        received = receiving.samples(i).ravel().view(np.float32)
        assert len(received) > 0.7 * sent[i].size
        np.testing.assert_allclose(
            received, sent[i][: len(received)], rtol=0, atol=precision
        )


def test_one_field_numbers_an_f_engine():
    grc = preset("meerkat_f_engine", sink)
    block = grc(heap_id_start="5")
    assert grc_lint.block_errors(block) == []
    passed = grc.arguments(block)
    assert passed["items"][1].values == [5]
    assert (passed["heap_id_start"], passed["heap_id_step"]) == (5, 64)
    visible = {key for key, param in block.params.items() if param.hide == "none"}
    assert {"heap_id_start", "heap_id_step"} <= visible
    assert "items" not in visible
