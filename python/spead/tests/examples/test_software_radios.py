# Copyright 2026 The gr-spead authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""The SDR examples, with a recording or a tone instead of a radio."""

import re
import time
from fractions import Fraction

import grc_lint
import numpy as np
import pytest
import rtlsdr_to_spead
from flow_graphs import compiled, running
from gnuradio import analog, blocks, gr
from places import BUILD, EXAMPLES
from receiving import destination
from streams import source, wait

HEAP_SAMPLES = 4096


def command(example, folder, sock):
    """A program or a flow graph, and the argument of its destination."""
    if example.endswith(".py"):
        return EXAMPLES / example, destination(sock)
    return compiled(example, folder), "--destination", destination(sock)


def tone(rate):
    """50,000 samples of --tone: half of full scale, at a tenth of the sample rate."""
    graph = gr.top_block()
    sink = blocks.vector_sink_c()
    source = analog.sig_source_c(rate, analog.GR_COS_WAVE, rate / 10, 0.5)
    graph.connect(source, blocks.head(gr.sizeof_gr_complex, 50_000), sink)
    graph.run()
    values = np.array(sink.data(), np.complex64).view(np.float32).reshape(-1, 2)
    return np.rint(127 * values).astype(np.int8)


def receive_heaps(receiver):
    heaps = receiver.until_end().heaps
    samples = np.concatenate([heap.samples for heap in heaps])
    assert samples.dtype == np.int8
    assert {heap.samples.shape for heap in heaps[:-1]} <= {(HEAP_SAMPLES, 2)}
    return heaps, samples


@pytest.mark.parametrize("example", ["rtlsdr_to_spead.py", "rtlsdr_stream"])
def test_a_recording_of_an_rtl_sdr_is_sent(sock, receiver, tmp_path, example):
    """A file of unsigned I and Q."""
    samples = np.random.default_rng(1).integers(0, 256, (100_000, 2), dtype=np.uint8)
    samples.tofile(tmp_path / "iq.bin")
    program = *command(example, tmp_path, sock), "--file", tmp_path / "iq.bin"
    with running(*program):
        heaps, received = receive_heaps(receiver)
    np.testing.assert_array_equal(received, samples.astype(np.int16) - 128)
    assert [heap.timestamp for heap in heaps] == list(range(0, 100_000, HEAP_SAMPLES))


def test_floats_of_an_rtl_sdr_are_rounded(sock, receiver):
    """SoapyRTLSDR and gr-osmosdr convert a byte b to (b - 127.4) / 128."""
    adc_codes = np.arange(256).repeat(2)
    floats = ((adc_codes - np.float32(127.4)) / np.float32(128)).astype(np.float32)
    args = rtlsdr_to_spead.parse([destination(sock)])
    radio = source(floats.view(np.complex64))
    flow_graph = rtlsdr_to_spead.RtlSdrToSpead([radio], args)
    flow_graph.start()
    wait(flow_graph)
    _, samples = receive_heaps(receiver)
    np.testing.assert_array_equal(samples.ravel(), np.minimum(adc_codes - 127, 127))
    assert flow_graph.sink.stats()["samples_clipped"] == 1


@pytest.mark.parametrize(
    ("example", "rate", "options"),
    [
        ("uhd_to_spead.py", "10000000/3", ["--tone", "--samples", 50_000, "--start"]),
        ("uhd_stream", "1000000", ["--duration", 0.05, "--start-time"]),
    ],
)
def test_the_uhd_tone_is_timestamped(sock, receiver, tmp_path, example, rate, options):
    start, sync = "1700000000.123456", "1699000000.25"
    options = *options, start, "--sync-time", sync, "--sample-rate", rate
    with running(*command(example, tmp_path, sock), *options):
        heaps, samples = receive_heaps(receiver)
    # The stream begins at the first timestamp that starts a heap.
    first = round((Fraction(start) - Fraction(sync)) * Fraction(rate))
    skipped = -first % HEAP_SAMPLES
    assert heaps[0].timestamp == first + skipped
    steps = np.diff([heap.timestamp for heap in heaps])
    assert set(steps.tolist()) == {HEAP_SAMPLES}
    np.testing.assert_array_equal(samples, tone(float(Fraction(rate)))[skipped:])


@pytest.mark.parametrize(
    ("example", "options"),
    [
        ("uhd_to_spead.py", ["--tone", "--samples", 50_000]),
        ("uhd_stream", ["--duration", 0.0125]),
    ],
)
def test_the_printed_sync_time_dates_the_uhd_tone(
    sock, receiver, tmp_path, example, options
):
    before = time.time()
    with running(*command(example, tmp_path, sock), *options) as ended:
        heaps, _ = receive_heaps(receiver)
    (sync,) = re.findall(r"^sync_time: (\d+)$", ended.printed, re.MULTILINE)
    # The samples of a throttle may be a second ahead.
    date = int(sync) + heaps[0].timestamp / 4_000_000
    assert before <= date <= time.time() + 1


@pytest.mark.parametrize(
    ("name", "radio", "substitutes"),
    [
        ("rtlsdr_stream", "dongle", {"recording", "signed", "to_complex"}),
        ("uhd_stream", "usrp", {"tone", "throttle", "clock"}),
    ],
)
def test_the_flow_graph_is_valid_with_the_radio(name, radio, substitutes):
    """Enable the radio and disable the substitutes, as the flow graph says."""
    platform = grc_lint.load_platform(BUILD / "grc")
    graph = grc_lint.load_flow_graph(platform, EXAMPLES / f"{name}.grc")
    states = {radio: "enabled", **dict.fromkeys(substitutes, "disabled")}
    for block in graph.blocks:
        block.state = states.get(block.name, block.state)
    graph.rewrite()
    graph.validate()
    assert grc_lint.flow_graph_errors(graph) == []
    assert {block.name for block in graph.blocks} >= set(states)
