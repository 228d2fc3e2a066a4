# Copyright 2026 The gr-spead authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""pacing.py computes rates and bursts right from made-up arrivals, and runs."""

import numpy as np
import pacing
import pytest
from arrivals import highest_rate, long_run_rate, longest_burst, longest_stall
from benchmarks import WITHOUT_RIGHTS, lines_of, run_script
from places import NEEDS_NAMESPACES

RATE, BURST = 1e6, 10000


def bursts(count, rate=RATE, start=0.0):
    """Times and sizes of bursts at a steady rate."""
    return start + np.arange(count) * BURST / rate, np.full(count, BURST)


def stalled(seconds, factor=1.05):
    """A second of bursts, a gap, a full token bucket at once, and catching up."""
    before, _ = bursts(101)
    resumed = before[-1] + seconds
    missing = RATE * seconds - BURST
    count = int(missing / (factor - 1) * factor / BURST)
    after, _ = bursts(count + 1, factor * RATE, resumed)
    caught_up, _ = bursts(50, start=after[-1] + BURST / RATE)
    times = np.concatenate([before, after, caught_up])
    return times, np.full(len(times), BURST)


def test_the_long_run_rate_is_that_of_the_bursts():
    times, sizes = bursts(50)
    assert long_run_rate(times, sizes) == pytest.approx(RATE)
    late = times + np.resize([0, 1e-5, 3e-5], len(times))
    assert long_run_rate(late, sizes) == pytest.approx(RATE, rel=1e-4)
    assert np.isnan(long_run_rate(times[:1], sizes[:1]))


def test_the_longest_burst_is_what_a_receiver_has_to_buffer():
    times = np.array([0, 0, 0.005, 0.1, 0.101])
    sizes = np.array([1000, 4000, 2000, 3000, 3100])
    assert longest_burst(times, sizes, RATE) == pytest.approx(5100)
    assert longest_burst(times[:3], sizes[:3], RATE) == pytest.approx(5000)


def test_the_longest_burst_of_a_steady_rate_is_one_burst():
    times, sizes = bursts(50)
    assert longest_burst(times, sizes, RATE) == pytest.approx(BURST)
    times[20] += 0.002
    assert longest_burst(times, sizes, RATE) == pytest.approx(BURST + 0.002 * RATE)


def test_the_highest_rate_is_without_one_burst():
    times, sizes = bursts(50)
    assert highest_rate(times, sizes, 0.02, BURST) == pytest.approx(RATE)
    times[21:] -= 0.005  # half a burst too early
    assert highest_rate(times, sizes, 0.014, BURST) == pytest.approx(RATE / 0.75)
    assert np.isnan(highest_rate(times, sizes, 1, BURST))


@pytest.mark.parametrize("factor", [1.05, 1.2])
def test_the_rate_of_catching_up(factor):
    stall = longest_stall(*stalled(0.2, factor), RATE, BURST, 0.02)
    assert stall.seconds == pytest.approx(0.2)
    assert stall.rate == pytest.approx(factor * RATE, rel=1e-3)
    assert stall.highest_rate == pytest.approx(factor * RATE, rel=1e-3)


def pace_of(times, sizes, lost=0, *options):
    args = pacing.parse(["--seconds", "1", "--burst", str(BURST), *options])
    return pacing.pace_of(times, sizes, lost, args, RATE)


def test_problems_of_a_pace():
    good = pace_of(*stalled(0.2))
    assert list(good.problems()) == []
    assert "1.0000" in good.row()
    burst = bursts(300)
    burst[0][19:21] = burst[0][21]  # three at once
    no_stall = ("--stall", "0")
    for pace, problem in (
        (pace_of(*stalled(0.2, 1.06)), "it caught up at 1.060 times the rate"),
        (pace_of(*bursts(300, 1.002 * RATE), 0, *no_stall), "the rate is +0.200 % off"),
        (pace_of(*stalled(0.2), 3), "3 packets were lost"),
        (pace_of(*burst, 0, *no_stall), "a burst was 30,000 bytes long"),
    ):
        assert problem in pace.problems()


def run_pacing(rate, *options, **how):
    """The row of the table that pacing.py prints."""
    done = run_script("pacing.py", "--rates", rate, "--burst", 4000, *options, **how)
    (row,) = lines_of(done, str(rate))
    assert float(row[1]) > 0
    return done, row


def test_pacing_on_loopback_without_rights():
    # At this rate any socket has room for all packets, whenever they are read.
    options = ("--seconds", 0.5, "--stall", 0)
    done, row = run_pacing(0.1, *options, before=WITHOUT_RIGHTS)
    assert "using loopback: no private network, which needs root" in done.stderr
    assert row[-1] == "0"  # packets lost


@NEEDS_NAMESPACES
def test_pacing_with_a_stall_in_a_private_network():
    _, row = run_pacing(1, "--seconds", 1, "--stall", 0.1)
    assert len(row) == 10
    # One burst, of 4 ms, may leave while the sender is being stopped.
    assert float(row[-3]) >= 95
