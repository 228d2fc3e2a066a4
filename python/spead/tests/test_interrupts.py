# Copyright 2026 The gr-spead authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Ctrl-C ends the benchmark's programs quietly, and what they have started.

What sweep.py does then is in test_sweep.py.
"""

import signal
import subprocess
import sys

import pytest
from benchmarks import SCRIPTS
from conftest import BOUND


def interrupted(command, started):
    """What a program says and ends with, interrupted when it has started."""
    with subprocess.Popen(
        [sys.executable, "-u", SCRIPTS / command[0], *command[1:]],
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
