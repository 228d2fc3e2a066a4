# Copyright 2026 The gr-spead authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""The progress of the example programs."""

import io
import re

from common.progress import Progress


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
    monkeypatch.setenv("COLUMNS", "80")
    screen = Terminal()
    times = iter([10, 12, 14])
    progress = Progress(1_000_000, screen, lambda: next(times))
    progress.show(stats())
    progress.show(
        stats(32_000, bytes_sent=4_000_000, heaps_sent=56_789, heaps_dropped=123)
    )
    progress.clear()
    assert re.split("\r|\x1b\\[K\r?", screen.getvalue()) == [
        "",
        "0.00 MB/s, heaps 0, dropped 0, errors 0, ring 50 %",
        "3.2 %, 2.00 MB/s, heaps 56,789, dropped 123, errors 0, ring 50 %,"
        " 0:02:01 left",
        "",
        "",
    ]


def test_the_progress_of_a_source():
    screen = Terminal()
    times = iter([10, 12])
    received = {
        "samples_out": 5000,
        "bytes_received": 1_000_000,
        "heaps_received": 1234,
        "samples_missing": 5678,
        "datagrams_dropped_by_socket": 0,
        "packets_rejected": {},
        "buffer_fill": 0.25,
    }
    Progress(None, screen, lambda: next(times)).show(received)
    assert screen.getvalue() == (
        "\r0.50 MB/s, heaps 1,234, missing 5,678 samples, buffer 25 %\x1b[K"
    )


def test_the_progress_is_no_longer_than_a_line_of_the_terminal(monkeypatch):
    monkeypatch.setenv("COLUMNS", "10")
    screen = Terminal()
    times = iter([10, 12])
    Progress(None, screen, lambda: next(times)).show(stats())
    assert screen.getvalue() == "\r0.00 MB/s\x1b[K"
