# Copyright 2026 The gr-spead authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Ctrl-C ends the benchmark's programs quietly, and what they have started.

What sweep.py does then is in test_sweep.py.
"""

import signal
import subprocess
import sys
from pathlib import Path

import pytest
from benchmarks import PROGRAMS
from conftest import BOUND, eventually


def interrupted(command, started):
    """What a program says and ends with, interrupted when it has started."""
    with subprocess.Popen(
        [sys.executable, "-u", PROGRAMS / command[0], *command[1:]],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        # a test run in the background of a shell would hand on that it ignores Ctrl-C
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),
    ) as process:
        started(process)
        process.send_signal(signal.SIGINT)
        _, said = process.communicate(timeout=BOUND)
    return said, process.returncode


@pytest.mark.parametrize(
    "command",
    [
        ["pacing.py", "--loopback", "--rates", "0.1", "--seconds", "1000"],
        ["latency.py", "--heaps", "100000"],
    ],
)
def test_it_ends_quietly(command):
    def head(process):
        assert "rate" in (line := process.stdout.readline()) or "heap" in line

    assert interrupted(command, head) == ("", 130)


def test_a_receiver_that_does_not_listen_yet_ends_as_well(tmp_path):
    pid = tmp_path / "pid"
    sleeper = tmp_path / "sleeper"
    sleeper.write_text(f"echo $$ > {pid}; exec sleep 1000")

    def running(_):
        eventually(lambda: pid.exists() and pid.read_text().endswith("\n"))

    command = ["--receiver", f"sh {sleeper} {{port}}", "--programs", ""]
    sender = ["--sender", "fake=sh {rate} {heaps}"]
    said, status = interrupted(["lossless.py", *command, *sender], running)
    assert "Traceback" not in said
    assert status == 130
    assert not Path("/proc", pid.read_text().strip()).exists()
