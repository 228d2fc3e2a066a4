# Copyright 2026 The gr-spead authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""The message ports: what goes out on "stats", and what may come in on "items"."""

import contextlib
import ctypes
import os

import numpy as np
import pmt
import pytest
from gnuradio import gr, spead
from inputs import Waiting, connected
from places import eventually
from receiving import destination
from streams import Reporting, Running, balanced, noise, post, source, wait

LONG = 1e6  # seconds between messages: more than any test takes
ITEMS = [
    spead.timestamp(),
    spead.samples(),
    spead.immediate(0x3101, "state", 5),
    spead.immediate(0x3102, "other", [6]),
]


def entry(value):
    """A dict of one item, with a value that Python itself does not have."""
    return pmt.dict_add(pmt.make_dict(), pmt.intern("state"), value)


def test_stats_come_regularly_and_balance(sock):
    running = Reporting(destination(sock), stats_interval=0.005)

    def samples_in(message):
        return pmt.to_python(pmt.car(message))["samples_in"]

    with running as sink:
        eventually(lambda: len(running.messages) >= 3)
        eventually(
            lambda: samples_in(running.messages[-1]) > samples_in(running.messages[0])
        )
        keys = set(sink.stats())
    reports = []
    for message in running.messages:
        assert pmt.is_pair(message)
        assert pmt.is_null(pmt.cdr(message))
        reports.append(pmt.to_python(pmt.car(message)))
    assert {frozenset(report) for report in reports} == {frozenset(keys)}
    assert all(balanced(report) for report in reports)
    counts = [report["samples_in"] for report in reports]
    assert counts == sorted(counts)


def test_the_last_message_has_the_final_figures(sock):
    running = Reporting(destination(sock), noise(1_000_001), stats_interval=LONG)
    with running as sink:
        eventually(lambda: running.messages)
    assert len(running.messages) == 1
    report = pmt.to_python(pmt.car(running.messages[0]))
    report["send_errors"] = report["send_errors"] or {}  # an empty dict is NIL
    assert report == sink.stats()
    assert sink.samples_sent() == 1_000_001


def test_the_fill_of_the_ring_is_reported(sock):
    running = Reporting(destination(sock), rate=1, stats_interval=0.005)

    def reported():
        return pmt.to_python(pmt.car(running.messages[-1]))["ring_fill"]

    with running as sink:
        eventually(lambda: sink.ring_fill() > 0.9)
        # messages may wait in the queue of their receiver
        eventually(lambda: running.messages and reported() > 0.9)
        assert reported() <= 1
    assert sink.ring_fill() == 0


def test_without_an_interval_there_are_no_messages(sock):
    running = Reporting(destination(sock))
    with running as sink:
        eventually(lambda: sink.samples_sent() > 0)
    assert running.messages == []


def test_stats_go_on_over_stop_and_start(sock):
    running = Reporting(destination(sock), stats_interval=0.005)
    for _ in range(3):
        before = len(running.messages)
        with running:
            eventually(lambda before=before: len(running.messages) > before + 2)


MALFORMED = [
    (5, "a dict, or a pair"),
    ("state", "a dict, or a pair"),
    (np.zeros(3, np.uint8), "a dict, or a pair"),
    ({"states": 1}, 'item = "states"'),
    ({0x3103: 1}, "item = 0x3103"),
    ({"timestamp": 1}, 'item = "timestamp"'),
    ({0x3300: 1}, "item = 0x3300"),
    ({1.5: 1}, "an ID or a name"),
    ({"state": -1}, "value = -1"),
    ({"state": 2**40}, f"value = {2**40}"),
    ({"state": 1.5}, "value = 1.5"),
    ({"state": "on"}, "value = on"),
    ({"state": True}, "value = #t"),
    ({"state": None}, "value = ()"),
    ({"state": [1, 2]}, "value = [1, 2]"),
    ({"state": []}, "value = []"),
    ({"state": [1.5]}, "value = #(1.5)"),
    ({"state": np.array([1], np.uint32)}, "an integer, or a vector"),
    ({"state": {"state": 1}}, "an integer, or a vector"),
    ({"state": (1,)}, "an integer, or a vector"),
    (entry(pmt.cons(pmt.from_long(1), pmt.from_long(2))), "an integer, or a vector"),
    ({"state": 1, "other": -2}, "value = -2"),
    (pmt.cons(pmt.intern("state"), pmt.from_long(-3)), "value = -3"),
    (entry(pmt.from_uint64(2**64 - 1)), f"0 to {2**40 - 1}"),
]


@contextlib.contextmanager
def complaints_in(log):
    """What the sink logs of messages, as it comes."""
    stdout = os.dup(1)
    with log.open("ab") as file:
        os.dup2(file.fileno(), 1)

    def read():
        ctypes.CDLL(None).fflush(None)  # the log waits in the buffers of C
        lines = log.read_text().splitlines()
        return [line for line in lines if "message on port items ignored" in line]

    try:
        yield read
    finally:
        read()
        os.dup2(stdout, 1)
        os.close(stdout)


@pytest.fixture
def log(tmp_path):
    return tmp_path / "log"


@pytest.mark.parametrize(("message", "said"), MALFORMED, ids=str)
def test_a_malformed_message_is_named_once_and_ignored(sock, log, message, said):
    sender = Running(destination(sock), items=ITEMS)
    with complaints_in(log) as complaints, sender as sink:
        post(sink, message)
        post(sink, message)
        eventually(complaints)
        sent = sink.samples_sent()
        eventually(lambda: sink.samples_sent() > sent + 100_000)
        (complaint,) = complaints()
    assert said in complaint


def test_what_must_wait_is_said_in_a_line(sock, log):
    sink = spead.sink(destination(sock), items=ITEMS)
    idle = Waiting(noise(1))
    graph = connected(sink, idle)
    with complaints_in(log) as complaints:
        graph.start()
        post(sink, {"state": -1})
        eventually(complaints)
        post(sink, {"state": -2})
        post(sink, {"state": -3})
        idle.may.set()
        wait(graph)
        _, last = complaints()
    assert "value = -2" in last
    assert "value = -3" in last


WELL_FORMED = [
    {"state": 0},
    {0x3101: 2**40 - 1, "other": 1},
    {"state": [7]},
    {},
    pmt.cons(pmt.intern("state"), pmt.from_long(7)),
    entry(pmt.from_uint64(2**40 - 1)),
]


@pytest.mark.parametrize("message", WELL_FORMED, ids=str)
def test_a_good_message_is_taken_without_a_word(sock, log, message):
    sender = Running(destination(sock), items=ITEMS)
    with complaints_in(log) as complaints, sender as sink:
        post(sink, message)
        post(sink, {"state": -12345})  # whatever came before it has been looked at
        eventually(complaints)
        (complaint,) = complaints()
    assert "value = -12345" in complaint
    assert complaint.count("ignored") == 1


@pytest.mark.parametrize(("values", "good"), [([1], 1), ([1, 2], 1), ([1, 2, 3], 0)])
def test_a_message_has_a_value_for_all_inputs_or_one_for_each(sock, log, values, good):
    sink = spead.sink(destination(sock), num_inputs=2, items=ITEMS[:3])
    graph = gr.top_block()
    sources = [source(noise(100_000), repeat=True) for _ in range(2)]
    for i, begin in enumerate(sources):
        graph.connect(begin, (sink, i))
    with complaints_in(log) as complaints:
        graph.start()
        post(sink, {"state": values})
        post(sink, {"state": -12345})
        eventually(complaints)
        graph.stop()
        wait(graph)
        said = " ".join(complaints())
    assert ("value = [1" in said) != bool(good)
