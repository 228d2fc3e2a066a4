# Copyright 2026 The gr-spead authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Compiles and runs spead_noise.grc."""

import json
import select
import socket
import subprocess
import sys

import numpy as np
import spead2
import spead2.recv
from flow_graphs import compiled


def test_the_example_runs_and_every_sample_arrives(tmp_path):
    example = compiled("spead_noise", tmp_path)
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as udp:
        udp.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4 << 20)
        udp.bind(("127.0.0.1", 0))
        stream = spead2.recv.Stream(spead2.ThreadPool())
        stream.add_udp_reader(socket=udp)
        command = [
            *(sys.executable, example),
            *("--destination", f"127.0.0.1:{udp.getsockname()[1]}"),
            *("--sample-rate", "1M", "--duration", "0.5"),
        ]
        with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as program:
            try:
                timestamps, samples = receive(stream)
                output, _ = program.communicate(timeout=30)
            finally:
                program.kill()
                stream.stop()

    assert program.returncode == 0
    assert timestamps == list(range(0, 500_000, 8192))
    assert len(samples) == 500_000
    spectrum = np.abs(np.fft.rfft(samples))
    assert np.argmax(spectrum[1:]) + 1 == 500_000 / 8
    assert 19 < np.std(samples) < 22

    (line,) = (row for row in output.splitlines() if row.startswith("SPEAD_STATS "))
    stats = json.loads(line.removeprefix("SPEAD_STATS "))
    assert stats["samples_in"] == stats["samples_sent"] == 500_000


def receive(stream):
    """Receive all heaps up to the end of the stream, with a timeout of 30 s each."""
    items = spead2.ItemGroup()
    timestamps, samples = [], []
    while select.select([stream.fd], [], [], 30)[0]:
        try:
            items.update(stream.get_nowait())
        except spead2.Stopped:
            return timestamps, np.concatenate(samples)
        timestamps.append(int(items["timestamp"].value))
        samples.append(items["adc_samples"].value)
    raise TimeoutError(f"no heap within 30 s after {len(timestamps)} heaps")
