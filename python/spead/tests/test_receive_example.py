# Copyright 2026 The gr-spead authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""The example receiver, fed by spead2's own sender."""

import json
import subprocess
import sys

import numpy as np
import pytest
import receive
import spead2
import spead2.send
from common.spectrogram import Spectrogram
from conftest import EXAMPLES

RECEIVE = EXAMPLES / "receive.py"
HEAP_SAMPLES = 4096


def noise(size):
    return np.random.default_rng(1).integers(-128, 128, size, dtype=np.int8)


def cut(samples):
    """Pairs of a timestamp and the samples of a heap; the last may be shorter."""
    starts = range(0, len(samples), HEAP_SAMPLES)
    return [(start, samples[start : start + HEAP_SAMPLES]) for start in starts]


def send(port, heaps, address="127.0.0.1", bits=40, descriptors="first", stop=True):
    stream = spead2.send.UdpStream(
        spead2.ThreadPool(),
        [(address, port)],
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


def run(*options, **sent):
    """Send to a bound socket, which keeps it all, then receive from it."""
    address = sent.get("address", "127.0.0.1")
    args = receive.parse(["0", "--timeout", "10", *map(str, options)])
    with receive.bound_socket(address, 0) as sock:
        send(sock.getsockname()[1], **sent)
        return receive.receive(sock, args)


@pytest.mark.parametrize("bits", [40, 48])
def test_continuous_stream_is_complete(bits):
    summary = run(heaps=cut(noise(20 * HEAP_SAMPLES)), bits=bits)
    assert summary["complete"]
    assert summary["heaps"] == 20
    assert summary["missing"] == 0
    assert summary["samples"] == 20 * HEAP_SAMPLES
    assert summary["first_timestamp"] == 0
    assert summary["last_timestamp"] == 19 * HEAP_SAMPLES


def test_ipv6():
    assert run(heaps=cut(noise(2 * HEAP_SAMPLES)), address="::1")["heaps"] == 2


def test_missing_heaps_are_reported():
    heaps = cut(noise(20 * HEAP_SAMPLES))
    summary = run(heaps=heaps[:5] + heaps[8:])
    assert not summary["complete"]
    assert (summary["heaps"], summary["missing"]) == (17, 3)


def test_short_last_heap_is_no_gap():
    summary = run(heaps=cut(noise(5 * HEAP_SAMPLES + 123)))
    assert summary["complete"]
    assert summary["heaps"] == 6
    assert summary["samples"] == 5 * HEAP_SAMPLES + 123


def test_saved_samples_are_those_sent(tmp_path):
    samples = noise(20 * HEAP_SAMPLES + 1)
    run("--save", tmp_path / "samples", heaps=cut(samples))
    assert (tmp_path / "samples").read_bytes() == samples.tobytes()


@pytest.mark.parametrize("descriptors", ["separate", "none"])
def test_descriptors_may_be_separate_or_absent(descriptors):
    heaps = cut(noise(3 * HEAP_SAMPLES))
    summary = run(heaps=heaps, descriptors=descriptors)
    assert (summary["heaps"], summary["missing"]) == (3, 0)


def test_step_of_its_own():
    heaps = [(7 * count, noise(HEAP_SAMPLES)) for count in range(5)]
    assert run("--step", 7, heaps=heaps)["complete"]


def test_timeout_ends_a_stream_without_end():
    summary = run("--timeout", 0.1, heaps=cut(noise(2 * HEAP_SAMPLES)), stop=False)
    assert summary["heaps"] == 2


def test_max_heaps_ends_a_stream_without_end():
    heaps = cut(noise(5 * HEAP_SAMPLES))
    summary = run("--max-heaps", 3, heaps=heaps, stop=False)
    assert summary["complete"]
    assert summary["heaps"] == 3


def test_nothing_received_is_not_complete():
    assert not run(heaps=[])["complete"]


@pytest.mark.parametrize(
    "expectation",
    [("--expect-heaps", 10), ("--expect-samples", 9 * HEAP_SAMPLES + 1)],
)
def test_expectation_finds_what_is_missing_at_the_end(expectation):
    summary = run(*expectation, heaps=cut(noise(8 * HEAP_SAMPLES)))
    assert not summary["complete"]
    assert summary["missing"] == 2
    assert summary["percent"] < 100


def test_command_line(tmp_path):
    json_file, png = tmp_path / "summary.json", tmp_path / "spectrum.png"
    outputs = ["--json", json_file, "--spectrogram", png]
    command = [sys.executable, RECEIVE, "0", "--timeout", "30", *outputs]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        try:
            listening = process.stdout.readline()
            assert listening.startswith("listening on 127.0.0.1:")
            port = int(listening.rpartition(":")[2])
            send(port, cut(noise(5 * HEAP_SAMPLES)))
            output, _ = process.communicate(timeout=60)
        finally:
            process.kill()
    assert process.returncode == 0
    assert "5 heaps received, 0 missing" in output
    assert json.loads(json_file.read_text())["heaps"] == 5
    assert png.read_bytes().startswith(b"\x89PNG")


def test_exit_code_tells_of_a_gap(tmp_path, monkeypatch):
    heaps = cut(noise(5 * HEAP_SAMPLES))
    sock = receive.bound_socket("127.0.0.1", 0)
    send(sock.getsockname()[1], heaps[:2] + heaps[3:])
    monkeypatch.setattr(receive, "bound_socket", lambda *_: sock)
    assert receive.main(["0", "--timeout", "10"]) == 1


def test_continuity_counts_gaps_duplicates_and_steps_back():
    continuity = receive.Continuity(step=10)
    for timestamp in (100, 110, 110, 120, 150, 40, 50):
        continuity.add(timestamp)
    assert continuity.missing == 2
    assert continuity.duplicates == 1
    assert continuity.backward == 1


def test_continuity_follows_timestamps_that_wrap():
    continuity = receive.Continuity(step=16, bits=40)
    for timestamp in (2**40 - 32, 2**40 - 16, 0, 32):
        continuity.add(timestamp)
    assert continuity.missing == 1
    assert continuity.backward == 0


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
