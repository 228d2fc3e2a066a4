# Copyright 2026 The gr-spead authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""The figures for people, from consecutive stats."""

import pmt
from gnuradio.spead.live_figures import LiveFigures
from places import eventually
from receiving import destination
from streams import Reporting, noise, send


def stats(**figures):
    quiet = {
        "bytes_sent": 0,
        "heaps_sent": 0,
        "heaps_dropped": 0,
        "icmp_errors": 0,
        "send_errors": {},
        "ring_fill": 0.0,
    }
    return quiet | figures


def test_the_rate_is_that_since_the_last_stats():
    figures = LiveFigures(10)
    rates = [
        figures.update(stats(bytes_sent=count), seconds)["rate"]
        for count, seconds in [
            (0, 11),
            (3_000_000, 13),
            (3_000_000, 14),
            (4_000_000, 14.5),
        ]
    ]
    assert rates == ["0.00 MB/s", "1.50 MB/s", "0.00 MB/s", "2.00 MB/s"]


def test_all_figures():
    seen = stats(
        bytes_sent=2_500_000,
        heaps_sent=1234,
        heaps_dropped=5678,
        icmp_errors=3,
        send_errors={"ENETDOWN": 4, "EHOSTUNREACH": 1000},
        ring_fill=0.254,
    )
    assert LiveFigures(0).update(seen, 2) == {
        "rate": "1.25 MB/s",
        "heaps sent": "1,234",
        "heaps dropped": "5,678",
        "errors": "1,007",
        "ring fill": "25 %",
    }


def test_all_figures_of_a_source():
    seen = {
        "bytes_received": 2_500_000,
        "heaps_received": 1234,
        "samples_missing": 5678,
        "datagrams_dropped_by_socket": 9,
        "packets_rejected": {"magic": 4, "size": 1000},
        "buffer_fill": 0.254,
    }
    assert LiveFigures(0).update(seen, 2) == {
        "rate": "1.25 MB/s",
        "heaps received": "1,234",
        "samples missing": "5,678",
        "dropped by socket": "9",
        "packets rejected": "1,004",
        "buffer fill": "25 %",
    }


def test_stats_at_the_same_time_have_a_rate():
    assert LiveFigures(5).update(stats(), 5)["rate"] == "0.00 MB/s"


def test_they_agree_with_the_stats_of_a_sink(sock):
    sink = send(sock, noise(1_000_000), heap_samples=1000)
    figures = LiveFigures(0).update(sink.stats(), 2)
    assert figures == {
        "rate": f"{sink.bytes_sent() / 2e6:.2f} MB/s",
        "heaps sent": "1,000",
        "heaps dropped": "0",
        "errors": "0",
        "ring fill": "0 %",
    }


def test_they_agree_with_a_message(sock):
    running = Reporting(destination(sock), noise(1_000_000), stats_interval=1e6)
    with running as sink:
        eventually(lambda: running.messages)
    message = pmt.to_python(pmt.car(running.messages[0]))
    figures = LiveFigures(0).update(message, 1)
    assert figures == LiveFigures(0).update(sink.stats(), 1)
    assert figures["heaps sent"] == "123"
