# Copyright 2026 The gr-spead authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""The progress of the example programs that send."""

import io
import re

from common.sender_program import Progress


class Terminal(io.StringIO):
    def isatty(self):
        return True


def stats(samples_sent=0, **figures):
    quiet = {"bytes_sent": 0, "heaps_sent": 0, "heaps_dropped": 0, "icmp_errors": 0}
    return {
        **quiet,
        "samples_sent": samples_sent,
        "send_errors": {},
        "ring_fill": 0.5,
        **figures,
    }


def test_the_progress_is_a_line_that_is_refreshed(monkeypatch):
    monkeypatch.setenv("COLUMNS", "200")
    screen = Terminal()
    times = iter([10, 12, 14])
    progress = Progress(1_000_000, screen, lambda: next(times))
    progress.show(stats())
    progress.show(stats(32_000, bytes_sent=4_000_000, heaps_dropped=1234))
    progress.clear()
    assert re.split("\r|\x1b\\[K\r?", screen.getvalue()) == [
        "",
        "rate 0.00 MB/s, heaps sent 0, heaps dropped 0, errors 0, ring fill 50 %",
        "3.2 %, 0:02:01 left, rate 2.00 MB/s, heaps sent 0, heaps dropped 1,234,"
        " errors 0, ring fill 50 %",
        "",
        "",
    ]


def test_the_progress_is_no_longer_than_a_line_of_the_terminal(monkeypatch):
    monkeypatch.setenv("COLUMNS", "15")
    screen = Terminal()
    times = iter([10, 12])
    Progress(None, screen, lambda: next(times)).show(stats())
    assert screen.getvalue() == "\rrate 0.00 MB/s\x1b[K"
