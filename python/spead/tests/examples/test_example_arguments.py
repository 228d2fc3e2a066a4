# Copyright 2026 The gr-spead authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Shared code of the examples: endpoints, numbers, progress and Ctrl-C."""

import argparse
import fractions
import importlib
import io
import re
import signal
import sys

import pytest
from common.arguments import positive, positive_rate, rate, seconds, size
from common.endpoints import endpoints
from common.interrupts import at_interrupt
from common.progress import Progress


def test_endpoints_have_the_syntax_of_the_sink():
    assert endpoints("239.1.2.255+1:7148,[ff15::77]:7148, localhost:0, 7148") == [
        ("239.1.2.255", 7148),
        ("239.1.3.0", 7148),
        ("ff15::77", 7148),
        ("localhost", 0),
        ("127.0.0.1", 7148),
    ]


@pytest.mark.parametrize(
    "text", ["", "host", "host:65536", "host+1:1", "a:1,", "255.255.255.255+1:1"]
)
def test_invalid_endpoints_are_rejected(text):
    last = re.escape(text.rpartition(",")[2])
    with pytest.raises(ValueError, match=f"^'{last}'(:| is not)"):
        endpoints(text)


def test_sizes_have_binary_suffixes_and_rates_have_decimal_ones():
    assert (size("0x1000"), size("4k"), size("10M")) == (4096, 4096, 10 << 20)
    assert rate("2.4M") == rate("2400000") == rate("2.4e6") == 2_400_000
    assert rate("100000000/3") == fractions.Fraction(10**8, 3)


@pytest.mark.parametrize(
    ("kind", "text"),
    [
        *((size, "4x"), (size, "-1"), (size, "99999999999999999999"), (positive, "0")),
        *((rate, "1/0"), (rate, "1e400"), (rate, "1e999999999")),
        *((positive_rate, "0"), (seconds, "-1"), (seconds, "nan")),
    ],
)
def test_an_invalid_number_is_quoted_in_the_error(kind, text):
    with pytest.raises(argparse.ArgumentTypeError, match=f"'{text}'"):
        kind(text)


class Terminal(io.StringIO):
    def isatty(self):
        return True


def test_the_progress_line_is_rewritten_in_place(monkeypatch):
    screen = Terminal()
    times = iter([10, 12, 14, 16])
    progress = Progress(1_000_000, screen, lambda: next(times))
    stats = {"send_errors": {}, "icmp_errors": 0, "ring_fill": 0.5}
    names = "bytes_sent", "heaps_sent", "heaps_dropped", "samples_sent"
    progress.show(stats | dict.fromkeys(names, 0))
    values = 4_000_000, 56_789, 123, 32_000
    progress.show(stats | dict(zip(names, values, strict=True)))
    line = "3.2 %, 2.00 MB/s, heaps 56,789, dropped 123, errors 0, ring 50 %"
    assert screen.getvalue().split("\r")[-1].startswith(line)
    monkeypatch.setenv("COLUMNS", "11")
    progress.show(stats | dict.fromkeys(names, 0))
    assert len(screen.getvalue().split("\r")[-1].removesuffix("\x1b[K")) == 10
    progress.clear()
    assert screen.getvalue().endswith("\r\x1b[K")


def test_a_second_ctrl_c_kills_the_program():
    handlers = []
    with at_interrupt(lambda: handlers.append(signal.getsignal(signal.SIGINT))):
        signal.raise_signal(signal.SIGINT)
    assert handlers == [signal.SIG_DFL]


@pytest.mark.parametrize(
    ("module", "missing"),
    [
        ("common.progress", "gnuradio.spead.live_figures"),  # of all programs
        ("spead2_receiver", "spead2"),
        ("metrics", "prometheus_client"),
    ],
)
def test_a_missing_module_is_reported_with_the_remedy(monkeypatch, module, missing):
    monkeypatch.setitem(sys.modules, missing, None)
    monkeypatch.delitem(sys.modules, module, raising=False)
    with pytest.raises(SystemExit, match=f"{missing}.*: .*install"):
        importlib.import_module(module)
