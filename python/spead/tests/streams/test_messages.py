# Copyright 2026 The gr-spead authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""The message ports: output "stats" and input "items"."""

from pathlib import Path

import numpy as np
import pmt
import pytest
from gnuradio import spead
from inputs import Gated, connected, playing
from places import eventually
from receiving import destination
from streams import Reporting, Running, balanced, noise, post, source, wait

ITEMS = [
    spead.timestamp(),
    spead.samples(),
    spead.immediate(0x3101, "state", 5),
    spead.immediate(0x3102, "other", [6, 6]),
]
ONE_INPUT = [*ITEMS[:3], spead.immediate(0x3102, "other", 6)]


def entry(value):
    """A dict of one item, with a value of a type that Python lacks."""
    return pmt.dict_add(pmt.make_dict(), pmt.intern("state"), value)


def reports(running):
    assert all(pmt.is_null(pmt.cdr(message)) for message in running.messages)
    return [pmt.to_python(pmt.car(message)) for message in running.messages]


def test_stats_are_sent_at_the_interval_in_each_run(sock):
    running = Reporting(destination(sock), rate=1e6, stats_interval=0.005)
    for _ in range(2):
        before = len(running.messages)
        with running as sink:
            eventually(lambda before=before: len(running.messages) > before + 2)
            eventually(lambda: reports(running)[-1]["ring_fill"] > 0.5)
    assert {frozenset(report) for report in reports(running)} == {
        frozenset(sink.stats())
    }
    assert all(balanced(report) for report in reports(running))
    counts = [report["samples_in"] for report in reports(running)]
    assert counts == sorted(counts)


def test_last_message_has_the_final_counters(sock):
    running = Reporting(destination(sock), noise(1_000_001), stats_interval=1e6)
    with running as sink:
        eventually(lambda: running.messages)
    (report,) = reports(running)
    report["send_errors"] = report["send_errors"] or {}  # an empty dict is NIL
    assert report == sink.stats()
    assert sink.samples_sent() == 1_000_001


def test_no_messages_are_sent_without_an_interval(sock):
    running = Reporting(destination(sock))
    with running as sink:
        eventually(lambda: sink.samples_sent() > 0)
    assert running.messages == []


@pytest.fixture
def complaints():
    """A function that returns the lines logged so far about ignored messages."""

    def lines():
        # capfd would lose lines that are written while it reads
        log = Path("/proc/self/fd/1").read_text()
        return [line for line in log.splitlines() if " ignored: " in line]

    return lines


@pytest.mark.parametrize(
    ("message", "error"),
    [
        (5, "a dict, or a pair"),
        ({"states": 1}, 'item = "states"'),
        ({1.5: 1}, "an ID or a name"),
        ({"state": 2**40}, f"value = {2**40}"),
        ({"state": 1.5}, "value = 1.5"),
        ({"state": [1, 2, 3]}, "value = [1, 2, 3]"),
        ({"state": [1.5]}, "value = #(1.5)"),
        ({"state": np.array([1], np.uint32)}, "an integer, or a vector"),
        ({"state": 1, "other": -2}, "value = -2"),
        (pmt.cons(pmt.intern("state"), pmt.from_long(-3)), "value = -3"),
        (entry(pmt.from_uint64(2**64 - 1)), f"0 to {2**40 - 1}"),
    ],
    ids=str,
)
def test_malformed_message_is_ignored_and_logged_once(sock, complaints, message, error):
    with Running(destination(sock), items=ONE_INPUT) as sink:
        post(sink, message)
        post(sink, message)
        eventually(complaints)
        sent = sink.samples_sent()
        eventually(lambda: sink.samples_sent() > sent + 100_000)
        (complaint,) = complaints()  # at the end, the second follows
    assert error in complaint


def test_further_complaints_are_coalesced_into_one_line(sock, complaints):
    sink = spead.sink(destination(sock), items=ITEMS[:3])
    with playing(sink, Gated(noise(1))):
        post(sink, {"state": -1})
        eventually(complaints)
        post(sink, {"state": -2})
        post(sink, {"state": -3})
    _, last = complaints()
    assert "value = -2" in last
    assert "value = -3" in last


def test_messages_set_the_rate(sock, complaints):
    sink = spead.sink(destination(sock), rate=1e6)
    pair = pmt.cons(pmt.intern("freq"), pmt.from_double(2e6))  # as from a QT GUI Range
    with playing(sink, Gated(noise(1))):
        for message, rate in ((pmt.from_long(3), 3), (pair, 2e6)):
            post(sink, message, "rate")
            eventually(lambda rate=rate: sink.rate() == rate)
        post(sink, pmt.intern("fast"), "rate")
        eventually(complaints)
    assert sink.rate() == 2e6


def test_well_formed_messages_are_accepted_silently(sock, complaints):
    """A value for all inputs, or one for each."""
    sink = spead.sink(destination(sock), num_inputs=2, items=ITEMS)
    endless = [source(noise(100_000), repeat=True) for _ in range(2)]
    graph = connected(sink, *endless)
    graph.start()
    for message in (
        {0x3101: 2**40 - 1, "other": 1},
        {"state": [7]},
        {"state": [7, 8.0]},
        {},
        pmt.cons(pmt.intern("state"), pmt.from_long(7)),
        entry(pmt.from_uint64(2**40 - 1)),
        {"state": -12345},  # when this is rejected, the others have been handled
    ):
        post(sink, message)
    eventually(complaints)
    graph.stop()
    wait(graph)
    (complaint,) = complaints()
    assert "value = -12345" in complaint
    assert complaint.count("ignored") == 1
