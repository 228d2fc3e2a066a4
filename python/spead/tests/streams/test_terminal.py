# Copyright 2026 The gr-spead authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""A terminal that takes nothing, as after Ctrl-S, holds nothing up."""

import contextlib
import os
import select
import subprocess
import sys

from inputs import Deaf
from places import BOUND, HELPERS, eventually

# a line of each thread that has to do with samples: no item, no time, no receiver
PROGRAM = """
import sys
from pathlib import Path
import pmt
from places import eventually
from streams import Running

options = {"timestamp_source": "rx_time", "sample_rate": 1e6, "stop_timeout": 0}
with Running(sys.argv[1], heap_samples=1000, rate=2e6, **options) as sink:
    sink.to_basic_block()._post(pmt.intern("items"), pmt.intern("no item"))
    eventually(lambda: sink.icmp_errors() > 0)
    sent = sink.heaps_sent()
    eventually(lambda: sink.heaps_sent() > sent + 1000)
    Path(sys.argv[2]).touch()
    sys.stdin.read()
"""
LINES = ["message on port items ignored", "without an rx_time tag", "sending failed"]


@contextlib.contextmanager
def terminal():
    """The two ends of a pipe that is full."""
    receiving, sending = os.pipe()
    os.set_blocking(sending, False)
    with contextlib.suppress(BlockingIOError):
        while os.write(sending, b"\n"):
            pass
    os.set_blocking(sending, True)
    yield receiving, sending
    os.close(receiving)
    os.close(sending)


@contextlib.contextmanager
def running(sending, sign):
    """The program writes there, and has to end by itself when its input has."""
    command = [sys.executable, "-c", PROGRAM]
    with (
        Deaf() as deaf,
        subprocess.Popen(
            [*command, deaf.destination, sign],
            cwd=HELPERS,
            stdin=subprocess.PIPE,
            stdout=sending,
            stderr=sending,
        ) as process,
    ):
        try:
            yield
            process.stdin.close()
            assert process.wait(BOUND) == 0
        finally:
            process.kill()


def test_a_full_terminal_stops_neither_the_stream_nor_its_end(tmp_path):
    with terminal() as (_, sending), running(sending, tmp_path / "sign"):
        eventually((tmp_path / "sign").exists)


def test_lines_wait_for_the_terminal(tmp_path):
    with terminal() as (receiving, sending), running(sending, tmp_path / "sign"):
        eventually((tmp_path / "sign").exists)
        text = ""
        while not all(line in text for line in LINES):
            ready, _, _ = select.select([receiving], [], [], BOUND)
            assert ready, text
            text += os.read(receiving, 65536).decode()
