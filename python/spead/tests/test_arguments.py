# Copyright 2026 The gr-spead authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""The benchmark's programs refuse what cannot be, and say what can."""

import latency
import pacing
import pytest
from benchmarks import run_script


@pytest.mark.parametrize(
    ("parse", "option", "value", "complaint"),
    [
        (pacing.parse, "--rates", "0", "'0' is not a number above 0"),
        (pacing.parse, "--rates", "10,nan", "'nan' is not a number above 0"),
        (pacing.parse, "--rates", "inf", "'inf' is not a number above 0"),
        (pacing.parse, "--rates", "", "'' has less than 1 in it"),
        (pacing.parse, "--seconds", "0.1", "'0.1' is not a number above 0.1"),
        (pacing.parse, "--stall", "-1", "'-1' is not a number of 0 or more"),
        (latency.parse, "--rate", "0", "'0' is not a number above 0"),
        (latency.parse, "--heaps", "0", "'0' is not a whole number above 0"),
        (latency.parse, "--heap-sizes", "9,7", "'7' is not a whole number of 8"),
        (latency.parse, "--packet", "65508", "is not a number from 1 to 65507"),
    ],
)
def test_a_value_that_cannot_be_is_named(capsys, parse, option, value, complaint):
    with pytest.raises(SystemExit):
        parse([f"{option}={value}"])
    said = capsys.readouterr().err
    assert f"argument {option}: " in said
    assert complaint in said


def test_values_that_can_be():
    assert pacing.parse(["--rates", "0.5,10", "--stall", "0"]).rates == [0.5e6, 10e6]
    assert latency.parse(["--heap-sizes", "8"]).heap_sizes == [8]


def test_what_the_sink_refuses_is_said_in_a_line():
    done = run_script("latency.py", "--packet", 10)
    assert "max_packet_size = 10 is not possible" in done.stderr
    assert "Traceback" not in done.stderr
    assert done.returncode == 1
