# Copyright 2026 The gr-spead authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""The examples for software radios, without one: a recording or a tone in its place."""

import fractions

import numpy as np
import pytest
import rtlsdr_to_spead
import uhd_to_spead
from conftest import EXAMPLES, destination
from flow_graphs import compiled, running
from gnuradio import analog, blocks, gr

HEAP_SAMPLES = 4096


def recorded(samples, seed=1):
    """What rtl_sdr writes: I and Q, 0 to 255."""
    return np.random.default_rng(seed).integers(0, 256, (samples, 2), dtype=np.uint8)


def tone(rate, samples):
    """Half of full scale, a tenth of the rate above the centre, as sent."""
    graph = gr.top_block()
    end = blocks.vector_sink_c()
    source = analog.sig_source_c(rate, analog.GR_COS_WAVE, rate / 10, 0.5)
    graph.connect(source, blocks.head(gr.sizeof_gr_complex, samples), end)
    graph.run()
    values = np.array(end.data(), np.complex64).view(np.float32).reshape(-1, 2)
    return np.rint(128 * values).astype(np.int8)


def received(sock, receiver, example, *arguments):
    """What the example sends: its heaps, all of their samples."""
    with running(EXAMPLES / example, destination(sock), *arguments):
        return heaps_received(receiver)


def heaps_received(receiver):
    heaps = receiver.until_end().heaps
    samples = np.concatenate([heap.samples for heap in heaps])
    assert samples.dtype == np.int8
    assert {heap.samples.shape for heap in heaps[:-1]} <= {(HEAP_SAMPLES, 2)}
    return heaps, samples


def test_a_recording_of_an_rtl_sdr_is_sent_as_it_was_measured(sock, receiver, tmp_path):
    recording = recorded(100_000)
    path = tmp_path / "iq.bin"
    path.write_bytes(recording.tobytes())
    heaps, samples = received(sock, receiver, "rtlsdr_to_spead.py", "--file", path)
    np.testing.assert_array_equal(samples, recording.astype(np.int16) - 128)
    assert [heap.timestamp for heap in heaps] == list(range(0, 100_000, HEAP_SAMPLES))


def test_the_flow_graph_sends_the_same_recording(sock, receiver, tmp_path):
    recording = recorded(100_000)
    path = tmp_path / "iq.bin"
    path.write_bytes(recording.tobytes())
    program = compiled("rtlsdr_stream", tmp_path)
    with running(program, "--file", path, "--destination", destination(sock)):
        heaps, samples = heaps_received(receiver)
    np.testing.assert_array_equal(samples, recording.astype(np.int16) - 128)
    assert [heap.timestamp for heap in heaps] == list(range(0, 100_000, HEAP_SAMPLES))


def test_a_tone_in_place_of_an_rtl_sdr(sock, receiver):
    options = ("--tone", "--sample-rate", "1e6", "--samples", 20_000)
    heaps, samples = received(sock, receiver, "rtlsdr_to_spead.py", *options)
    np.testing.assert_array_equal(samples, tone(1e6, 20_000))
    assert [heap.timestamp for heap in heaps] == list(range(0, 20_000, HEAP_SAMPLES))


@pytest.mark.parametrize("rate", ["1000000", "10000000/3"])
def test_a_tone_in_place_of_a_usrp_has_its_time(sock, receiver, rate):
    """The samples before the first multiple of a heap are left out."""
    start, sync = "1700000000.123456", "1699000000.25"
    heaps, samples = received(
        sock,
        receiver,
        "uhd_to_spead.py",
        *("--tone", "--sample-rate", rate, "--samples", 50_000),
        *("--start", start, "--sync-time", sync),
    )
    exact = fractions.Fraction
    first = round((exact(start) - exact(sync)) * exact(rate))
    left_out = -first % HEAP_SAMPLES
    assert heaps[0].timestamp == first + left_out
    steps = np.diff([heap.timestamp for heap in heaps])
    assert set(steps.tolist()) == {HEAP_SAMPLES}
    expected = tone(float(exact(rate)), 50_000)[left_out:]
    np.testing.assert_array_equal(samples, expected)


@pytest.mark.parametrize("example", [rtlsdr_to_spead, uhd_to_spead])
def test_mistakes_are_one_line(sock, example):
    with pytest.raises(SystemExit, match=r"^\w+.py: spead.sink: heap_samples = 0 "):
        example.main([destination(sock), "--tone", "--heap-samples", "0"])


def test_a_missing_recording_is_named(sock):
    with pytest.raises(SystemExit, match=r"^rtlsdr_to_spead.py: .*nowhere.bin"):
        rtlsdr_to_spead.main([destination(sock), "--file", "/nowhere.bin"])
