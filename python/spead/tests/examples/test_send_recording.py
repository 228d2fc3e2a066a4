# Copyright 2026 The gr-spead authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""send_recording.py: recordings arrive as they were made."""

import json
import signal
import subprocess
import sys

import numpy as np
from places import BOUND, EXAMPLES, NEEDS_BUFFER
from receiving import destination
from streams import noise

SEND = EXAMPLES / "send_recording.py"


def send(path, sock, *options):
    command = [sys.executable, SEND, path, destination(sock), *map(str, options)]
    return subprocess.run(
        command, timeout=BOUND, capture_output=True, text=True, check=False
    )


def received(receiver):
    heaps = receiver.until_end().heaps
    return heaps, np.concatenate([heap.samples for heap in heaps])


def test_a_recording_after_a_header_is_sent(sock, receiver, tmp_path):
    samples = noise(28672)
    path = tmp_path / "recording.dada"
    path.write_bytes(b"HDR_VERSION 1.0\n".ljust(4096, b"\0") + samples.tobytes())
    first = 526398652416
    summary = tmp_path / "stats.json"
    options = {
        "--skip-header": "4k",
        "--heap-samples": "4k",
        "--heap-address-bits": 48,
        "--timestamp-start": first,
        "--timestamp-step": "4k",
        "--max-packet-size": 8972,
        "--json": summary,
    }
    done = send(path, sock, *(part for option in options.items() for part in option))
    assert done.returncode == 0, done.stderr
    heaps, got = received(receiver)
    assert [heap.timestamp for heap in heaps] == [first + 4096 * i for i in range(7)]
    np.testing.assert_array_equal(got, samples)
    assert json.loads(summary.read_text())["samples_sent"] == len(samples)


@NEEDS_BUFFER
def test_offset_binary_becomes_int8_and_is_looped(sock, receiver, tmp_path):
    recording = np.arange(256, dtype=np.uint8).repeat(100)
    path = tmp_path / "recording.bin"
    path.write_bytes(recording.tobytes())
    done = send(path, sock, "--unsigned", "--total-bytes", 1_000_000)
    assert done.returncode == 0, done.stderr
    _, got = received(receiver)
    expected = (recording.astype(np.int16) - 128).astype(np.int8)
    np.testing.assert_array_equal(got, np.resize(expected, 1_000_000))


def test_ctrl_c_sends_the_end_of_the_stream(sock, receiver, tmp_path):
    path = tmp_path / "recording.bin"
    path.write_bytes(noise(100_000).tobytes())
    summary = tmp_path / "stats.json"
    options = ["--rate", "1M", "--total-bytes", "1000000000", "--json", summary]
    command = [sys.executable, SEND, path, destination(sock), *options]
    with subprocess.Popen(
        command,
        stdout=subprocess.PIPE,
        # Programs that a shell starts in the background ignore Ctrl-C.
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),
    ) as sender:
        for line in sender.stdout:
            if b" % " in line:  # it is sending
                break
        sender.send_signal(signal.SIGINT)
        assert sender.wait(BOUND) == 1  # not all was sent
    stats = json.loads(summary.read_text())
    assert stats["samples_pending"] == 0
    assert stats["samples_in"] == stats["samples_sent"] < 1_000_000_000
    heaps, got = received(receiver)
    assert len(heaps) == stats["heaps_sent"]
    assert len(got) == stats["samples_sent"]


def test_a_mistake_is_an_error_of_one_line(sock, tmp_path):
    path = tmp_path / "recording.bin"
    path.write_bytes(bytes(100))
    done = send(path, sock, "--skip-header", 100)
    assert done.returncode != 0
    assert "nothing after a header of 100" in done.stderr
    assert len(done.stderr.splitlines()) == 1
