# Copyright 2026 The gr-spead authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""The progress of the example programs that send."""

import io
import re

from common.sender_program import Progress


class Terminal(io.StringIO):
    def isatty(self):
        return True


def test_the_progress_is_a_line_that_is_refreshed():
    screen = Terminal()
    times = iter([10, 12, 14])
    progress = Progress(1_000_000, screen, lambda: next(times))
    progress.show({"samples_sent": 0, "bytes_sent": 0, "heaps_dropped": 0})
    progress.show(
        {"samples_sent": 32_000, "bytes_sent": 4_000_000, "heaps_dropped": 1234}
    )
    progress.clear()
    assert re.split("\r|\x1b\\[K\r?", screen.getvalue()) == [
        "",
        "0.00 MB/s",
        "3.2 %, 2.00 MB/s, 0:02:01 left, 1,234 heaps dropped",
        "",
        "",
    ]
