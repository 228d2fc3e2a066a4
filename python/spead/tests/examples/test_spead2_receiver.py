# Copyright 2026 The gr-spead authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""examples/spead2_receiver.py receives streams of spead2."""

import json

import numpy as np
import pytest
import spead2_receiver
from common.spectrogram import Spectrogram
from flow_graphs import running
from gnuradio import spead
from places import EXAMPLES
from received_streams import joined, packets_by_heap
from receiving import bound_socket, destination
from streams import noise, source
from streams import run as run_graph

HEAP = 4096


def run(*options, samples, address="127.0.0.1", stop=True, **send_options):
    """Queue a stream of spead2 in a bound socket, receive it; returns the summary."""
    args = spead2_receiver.parse(["0", "--timeout", "10", *map(str, options)])
    heaps = packets_by_heap(samples, HEAP, **send_options)
    with bound_socket(address) as sock:
        for packet in joined(heaps if stop else heaps[:-1]):
            sock.sendto(packet, sock.getsockname())
        return spead2_receiver.receive([sock], args)


@pytest.mark.parametrize(
    ("address", "bits", "descriptors"),
    [("127.0.0.1", 40, "first"), ("::1", 48, "first"), ("127.0.0.1", 40, "none")],
)
def test_a_complete_stream_is_saved(tmp_path, address, bits, descriptors):
    samples = noise(20 * HEAP + 123)
    summary = run(
        *("--save", tmp_path / "samples"),
        samples=samples,
        address=address,
        bits=bits,
        descriptors=descriptors,
    )
    assert summary["complete"]
    assert (summary["heaps"], summary["missing"]) == (21, 0)
    assert summary["samples"] == len(samples)
    assert (summary["first_timestamp"], summary["last_timestamp"]) == (0, 20 * HEAP)
    assert (tmp_path / "samples").read_bytes() == samples.tobytes()


@pytest.mark.parametrize(
    ("option", "value", "heaps"), [("--timeout", 2, 5), ("--max-heaps", 3, 3)]
)
def test_a_timeout_or_heap_limit_ends_the_reception(option, value, heaps):
    summary = run(option, value, samples=noise(5 * HEAP), stop=False)
    assert (summary["heaps"], summary["complete"]) == (heaps, True)


@pytest.mark.parametrize(
    "expectation", [("--expect-heaps", 10), ("--expect-samples", 9 * HEAP + 1)]
)
def test_expected_heaps_that_never_arrive_count_as_missing(expectation):
    summary = run(*expectation, samples=noise(8 * HEAP))
    assert (summary["missing"], summary["complete"]) == (2, False)


@pytest.mark.parametrize("missing", [0, 1])
def test_the_exit_status_tells_whether_heaps_are_missing(tmp_path, missing):
    json_file, png = tmp_path / "summary.json", tmp_path / "spectrum.png"
    outputs = ["--json", json_file, "--spectrogram", png]
    program = EXAMPLES / "spead2_receiver.py"
    with running(program, "0", *outputs, status=missing) as ended:
        # plain users are told first that their socket buffer is small
        listening = next(
            line for line in ended.stdout if line.startswith("listening on 127.0.0.1:")
        )
        heaps = packets_by_heap(noise(6 * HEAP), HEAP)
        with bound_socket() as sock:
            sock.connect(("127.0.0.1", int(listening.rpartition(":")[2])))
            for packet in joined(heaps[:2] + heaps[2 + missing :]):
                sock.send(packet)
    assert f"{6 - missing} heaps received, {missing} missing" in ended.printed
    assert json.loads(json_file.read_text())["heaps"] == 6 - missing
    assert png.read_bytes().startswith(b"\x89PNG")


def test_continuity_counts_gaps_duplicates_and_backward_steps():
    continuity = spead2_receiver.Continuity(step=16, bits=40)
    for timestamp in (0, 16, 16, 32, -32, -16, 0, 32):
        continuity.add_timestamp(timestamp % 2**40)
    assert continuity.missing == 1
    assert (continuity.duplicates, continuity.backward) == (1, 1)


def test_a_complex_sample_counts_as_one_sample_and_one_tick(sock):
    sink = spead.sink(destination(sock), heap_samples=1000, input_type="sc8")
    run_graph(sink, source(noise(6000).reshape(-1, 2)))
    summary = spead2_receiver.receive([sock], spead2_receiver.parse(["0"]))
    assert (summary["heaps"], summary["missing"], summary["samples"]) == (3, 0, 3000)


@pytest.mark.parametrize("is_complex", [False, True])
def test_spectrogram_shows_a_tone_in_bounded_memory(is_complex):
    """The tone of complex samples has a negative frequency."""
    spectrogram = Spectrogram()
    phase = 2 * np.pi * (-0.25 if is_complex else 0.25) * np.arange(1 << 16)
    parts = np.rint(64 * np.stack([np.cos(phase), np.sin(phase)], axis=1))
    samples = (parts if is_complex else parts[:, 0]).astype(np.int8)
    for _ in range(200):
        spectrogram.add(samples)
    levels, row_samples = spectrogram.levels()
    assert len(levels) <= spectrogram.ROWS
    assert len(levels) == pytest.approx(spectrogram.position / row_samples, abs=1)
    assert (levels.argmax(axis=1) == spectrogram.FFT_SIZE // 4).all()
    assert levels.max(axis=1) == pytest.approx(-6, abs=0.2)


def test_a_bind_error_names_the_endpoint():
    message = r"^spead2_receiver.py: cannot receive at 192.0.2.1:7148: "
    with pytest.raises(SystemExit, match=message):
        spead2_receiver.main(["192.0.2.1:7148"])
