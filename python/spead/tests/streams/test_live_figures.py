# Copyright 2026 The gr-spead authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Human-readable figures, from consecutive stats."""

import os
import re
import subprocess
import sys

import pytest
from gnuradio import spead
from gnuradio.spead.live_figures import LiveFigures
from places import eventually
from PyQt5 import QtWidgets
from receiving import destination
from streams import Reporting, noise

SINK = {
    "bytes_sent": 2_500_000,
    "heaps_sent": 1234,
    "heaps_dropped": 5678,
    "icmp_errors": 3,
    "send_errors": {"ENETDOWN": 4, "EHOSTUNREACH": 1000},
    "ring_fill": 0.254,
}
SOURCE = {
    "bytes_received": 2_500_000,
    "heaps_received": 1234,
    "samples_missing": 5678,
    "datagrams_dropped_by_socket": 9,
    "packets_rejected": {"magic": 4, "size": 1000},
    "buffer_fill": 0.254,
    "status": "",
}


@pytest.fixture(scope="module")
def application():
    os.environ["QT_QPA_PLATFORM"] = "offscreen"
    return QtWidgets.QApplication(["test"])


def test_the_block_shows_the_counters(application, sock):
    running = Reporting(destination(sock), noise(1_000_000), stats_interval=0.01)
    figures = spead.figures()
    running.graph.msg_connect(running.sink, "stats", figures, "stats")
    label = figures.qwidget()
    label.show()

    def shown():
        application.processEvents()
        rows = re.findall(r"<td>(.*?)&nbsp;&nbsp;</td><td.*?>(.*?)</td>", label.text())
        return {name: text for name, text in rows if name != "rate"}

    with running as sink:
        # also those after the end of the samples
        eventually(lambda: shown().get("heaps sent") == "123")
        expected = LiveFigures(0).update(sink.stats(), 1)
        del expected["rate"]
        eventually(lambda: shown() == expected)


def test_the_block_needs_an_application():
    code = """
import sys
from gnuradio import spead
assert "PyQt5" not in sys.modules
spead.figures()
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert "RuntimeError: spead.figures: needs a QApplication" in done.stderr


def test_rate_is_measured_since_the_last_stats():
    figures = LiveFigures(10)
    rates = [
        figures.update(SINK | {"bytes_sent": count}, seconds)["rate"]
        for count, seconds in [(0, 10), (3e6, 12), (3e6, 13), (4e6, 13.5)]
    ]
    assert rates == ["0.00 MB/s", "1.50 MB/s", "0.00 MB/s", "2.00 MB/s"]


def test_figures_of_sink_and_source_are_formatted():
    assert LiveFigures(0).update(SINK, 2) == {
        "rate": "1.25 MB/s",
        "heaps sent": "1,234",
        "heaps dropped": "5,678",
        "errors": "1,007",
        "ring fill": "25 %",
    }
    assert LiveFigures(0).update(SOURCE, 2) == {
        "rate": "1.25 MB/s",
        "heaps received": "1,234",
        "samples missing": "5,678",
        "dropped by socket": "9",
        "packets rejected": "1,004",
        "buffer fill": "25 %",
    }
    stopped = SOURCE | {"status": "no descriptors have arrived"}
    figures = LiveFigures(0).update(stopped, 2)
    assert figures["no output"] == "no descriptors have arrived"
