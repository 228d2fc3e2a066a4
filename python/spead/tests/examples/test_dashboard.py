# Copyright 2026 The gr-spead authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""spead_dashboard.grc, without a screen."""

import json
import os
import re
import subprocess
import sys

from flow_graphs import DefaultReceiver, compiled
from places import BOUND, HELPERS
from receiving import destination

DIGITISER_ID = 0x3101


def value_of(heap):
    (item,) = (item for item in heap.get_items() if item.id == DIGITISER_ID)
    return item.immediate_value


def rows(table):
    """Name -> text of each figure in a label."""
    return dict(re.findall(r"<td>([a-z ]+)&nbsp;&nbsp;</td><td.*?>(.*?)</td>", table))


def test_sliders_change_the_stream_and_the_label_shows_figures(sock, tmp_path):
    compiled("spead_dashboard", tmp_path)
    command = [sys.executable, HELPERS / "dashboard_window.py", tmp_path]
    with (
        DefaultReceiver([sock]) as receiver,
        subprocess.Popen(
            [*command, destination(sock)],
            env=os.environ | {"QT_QPA_PLATFORM": "offscreen"},
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        ) as program,
    ):
        try:
            (heap,) = receiver.heaps(1)
            assert value_of(heap) == 0
            lines = (line for line in program.stdout if line.startswith("{"))
            seen = json.loads(next(lines))
            while value_of(heap) != 7:
                (heap,) = receiver.heaps(1)
            program.communicate(timeout=BOUND)  # ends its standard input
        finally:
            program.kill()
    assert program.returncode == 0
    assert seen["first"] == "figures"
    assert seen["rate"] == 3e6
    assert seen["frequency"] == 50e3
    figures = rows(seen["label"])
    assert list(figures) == [
        "rate",
        "heaps sent",
        "heaps dropped",
        "errors",
        "ring fill",
    ]
    assert re.fullmatch(r"\d+\.\d\d MB/s", figures["rate"])
    assert 0 < int(figures["heaps sent"]) <= seen["heaps_sent"]
    assert figures["errors"] == "0"
