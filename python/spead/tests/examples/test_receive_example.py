# Copyright 2026 The gr-spead authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""examples/receive.py, fed by the sender of spead2."""

import json
import select
import subprocess
import sys

import numpy as np
import pytest
import receive
import spead2
import spead2.send
from common.spectrogram import Spectrogram
from gnuradio import blocks, spead
from places import BOUND, EXAMPLES, eventually
from receiving import bound_socket, destination
from streams import noise
from streams import run as run_graph

HEAP_SAMPLES = 4096


def cut(samples):
    """Pairs of a timestamp and the samples of a heap; the last may be shorter."""
    starts = range(0, len(samples), HEAP_SAMPLES)
    return [(start, samples[start : start + HEAP_SAMPLES]) for start in starts]


def send(endpoint, heaps, bits=40, descriptors="first", stop=True):
    stream = spead2.send.UdpStream(
        spead2.ThreadPool(),
        [endpoint[:2]],
        spead2.send.StreamConfig(max_packet_size=1472),
    )
    items = spead2.send.ItemGroup(flavour=spead2.Flavour(4, 64, bits))
    items.add_item(0x1600, "timestamp", "", shape=(), format=[("u", bits)])
    items.add_item(0x3300, "adc_samples", "", shape=(None,), format=[("i", 8)])
    if descriptors == "separate":
        stream.send_heap(items.get_heap(descriptors="all", data="none"))
    for timestamp, samples in heaps:
        items["timestamp"].value = timestamp
        items["adc_samples"].value = samples
        which = "stale" if descriptors == "first" else "none"
        stream.send_heap(items.get_heap(descriptors=which, data="all"))
    if stop:
        stream.send_heap(items.get_end())


def run(*options, heaps, address="127.0.0.1", **sent):
    """Send to a bound socket, then receive from it; the summary."""
    args = receive.parse(["0", "--timeout", "10", *map(str, options)])
    with bound_socket(address) as sock:
        send(sock.getsockname(), heaps, **sent)
        return receive.receive([[sock]], args)


@pytest.mark.parametrize("address", ["127.0.0.1", "::1"])
@pytest.mark.parametrize("bits", [40, 48])
def test_a_complete_stream_is_saved(tmp_path, bits, address):
    samples = noise(20 * HEAP_SAMPLES + 123)
    summary = run(
        *("--save", tmp_path / "samples"),
        heaps=cut(samples),
        bits=bits,
        address=address,
    )
    assert summary["complete"]
    assert (summary["heaps"], summary["missing"]) == (21, 0)
    assert summary["samples"] == len(samples)
    assert summary["first_timestamp"] == 0
    assert summary["last_timestamp"] == 20 * HEAP_SAMPLES
    assert (tmp_path / "samples").read_bytes() == samples.tobytes()


def test_it_reads_its_sockets_when_it_says_that_it_listens(monkeypatch):
    def fill_and_wait(sockets):
        send(sockets[0].getsockname(), cut(noise(HEAP_SAMPLES)))
        eventually(lambda: not select.select(sockets, [], [], 0)[0])

    monkeypatch.setattr(receive.receiver_program, "print_endpoints", fill_and_wait)
    with bound_socket() as sock:
        args = receive.parse(["0", "--timeout", str(BOUND)])
        assert receive.receive([[sock]], args)["complete"]


@pytest.mark.parametrize("descriptors", ["separate", "none"])
def test_descriptors_may_be_separate_or_absent(descriptors):
    heaps = cut(noise(3 * HEAP_SAMPLES))
    summary = run(heaps=heaps, descriptors=descriptors)
    assert (summary["heaps"], summary["complete"]) == (3, True)


@pytest.mark.parametrize(("option", "heaps"), [("--timeout", 5), ("--max-heaps", 3)])
def test_a_stream_without_end_is_ended_by_an_option(option, heaps):
    value = {"--timeout": 2, "--max-heaps": 3}[option]
    summary = run(option, value, heaps=cut(noise(5 * HEAP_SAMPLES)), stop=False)
    assert (summary["heaps"], summary["complete"]) == (heaps, True)


@pytest.mark.parametrize(
    "expectation", [("--expect-heaps", 10), ("--expect-samples", 9 * HEAP_SAMPLES + 1)]
)
def test_expected_heaps_are_missing_at_the_end(expectation):
    summary = run(*expectation, heaps=cut(noise(8 * HEAP_SAMPLES)))
    assert (summary["missing"], summary["complete"]) == (2, False)
    assert summary["percent"] < 100


@pytest.mark.parametrize("missing", [0, 1])
def test_command_line(tmp_path, missing):
    json_file, png = tmp_path / "summary.json", tmp_path / "spectrum.png"
    outputs = ["--json", json_file, "--spectrogram", png]
    command = [sys.executable, EXAMPLES / "receive.py", "0", *outputs]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        try:
            listening = process.stdout.readline()
            assert listening.startswith("listening on 127.0.0.1:")
            heaps = cut(noise(6 * HEAP_SAMPLES))
            port = int(listening.rpartition(":")[2])
            send(("127.0.0.1", port), heaps[:2] + heaps[2 + missing :])
            output, _ = process.communicate(timeout=BOUND)
        finally:
            process.kill()
    assert process.returncode == missing
    assert f"{6 - missing} heaps received, {missing} missing" in output
    assert json.loads(json_file.read_text())["heaps"] == 6 - missing
    assert png.read_bytes().startswith(b"\x89PNG")


def test_continuity_counts_gaps_duplicates_and_backward_steps():
    continuity = receive.Continuity(step=16, bits=40)
    for timestamp in (0, 16, 16, 32, -32, -16, 0, 32):
        continuity.add(timestamp % 2**40)
    assert continuity.missing == 1
    assert (continuity.duplicates, continuity.backward) == (1, 1)


@pytest.mark.parametrize("kind", [np.int8, np.int16])
def test_spectrogram_of_complex_samples_has_negative_frequencies(kind):
    spectrogram = Spectrogram()
    phase = 2 * np.pi * -0.25 * np.arange(8192)
    amplitude = np.iinfo(kind).max / 2
    tone = np.stack([np.cos(phase), np.sin(phase)], axis=1) * amplitude
    spectrogram.add(np.rint(tone).astype(kind))
    levels, _ = spectrogram.levels()
    assert (levels.argmax(axis=1) == spectrogram.FFT_SIZE // 4).all()
    assert levels.max(axis=1) == pytest.approx(-6, abs=0.2)


def test_complex_samples_count_once(sock):
    """A heap of 1000 of them has 2000 bytes, and is a step of 1000 ticks."""
    sink = spead.sink(destination(sock), heap_samples=1000, input_type="sc8")
    run_graph(sink, blocks.vector_source_b(noise(6000).view(np.uint8).tolist(), vlen=2))
    args = receive.parse(["0"])
    receiver = receive.Receiver(args, [])
    stream = receive.open_stream([sock])
    for heap in receive.heaps_of(stream, BOUND):
        if heap is not None:
            receiver.add(heap)
    summary = receiver.summary(stream.stats)
    assert (summary["heaps"], summary["missing"], summary["samples"]) == (3, 0, 3000)
    assert receiver.bytes == 6000


def test_spectrogram_shows_a_tone_in_bounded_memory():
    spectrogram = Spectrogram()
    tone = 64 * np.cos(2 * np.pi * 0.25 * np.arange(1 << 16))
    for _ in range(200):
        spectrogram.add(tone.astype(np.int8))
    levels, row_samples = spectrogram.levels()
    assert len(levels) <= spectrogram.ROWS
    assert len(levels) == pytest.approx(spectrogram.position / row_samples, abs=1)
    assert (levels.argmax(axis=1) == spectrogram.FFT_SIZE // 4).all()
    assert levels.max(axis=1) == pytest.approx(-6, abs=0.2)


@pytest.mark.parametrize("path", ["/nowhere/a.png", "a.xyz"])
def test_a_picture_that_cannot_be_written_is_refused_at_once(path, capsys):
    with pytest.raises(SystemExit):
        receive.parse(["7148", "--spectrogram", path])
    said = capsys.readouterr().err
    assert "argument --spectrogram: " in said
    assert repr(path) in said


@pytest.mark.parametrize("seconds", ["nan", "-1"])
def test_a_timeout_that_never_comes_is_refused(seconds, capsys):
    with pytest.raises(SystemExit):
        receive.parse(["7148", f"--timeout={seconds}"])
    assert f"argument --timeout: '{seconds}' is not a number" in capsys.readouterr().err


def test_an_endpoint_that_is_not_possible_is_named():
    with pytest.raises(
        SystemExit, match=r"^receive.py: cannot receive at 192.0.2.1:7148: "
    ):
        receive.main(["192.0.2.1:7148"])
    with pytest.raises(SystemExit, match=r"^receive.py: 'localhost\+3:1': \+N is for"):
        receive.main(["localhost+3:1"])
