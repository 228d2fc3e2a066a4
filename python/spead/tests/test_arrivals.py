# Copyright 2026 The gr-spead authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""What the benchmark makes of arrival times that are known."""

import re

import numpy as np
import pacing
import pytest
from arrivals import after_longest_gap, backlog, fastest, long_run_rate

RATE, BURST = 1e6, 10000


def bursts(count, rate=RATE, start=0.0):
    """Times and sizes of bursts at a steady pace."""
    return start + np.arange(count) * BURST / rate, np.full(count, BURST)


def stalled(seconds, factor=1.05):
    """A second of bursts, a gap, a full bucket at once, and catching up to the end."""
    before, _ = bursts(101)
    resumed = before[-1] + seconds
    owed = RATE * seconds - BURST
    catching_up = int(owed / (factor - 1) * factor / BURST)
    after, _ = bursts(catching_up + 1, factor * RATE, resumed)
    caught_up, _ = bursts(50, start=after[-1] + BURST / RATE)
    times = np.concatenate([before, after, caught_up])
    return times, np.full(len(times), BURST)


def test_long_run_rate_is_that_of_the_bursts():
    times, sizes = bursts(50)
    assert long_run_rate(times, sizes) == pytest.approx(RATE)
    late = times + np.resize([0, 1e-5, 3e-5], len(times))
    assert long_run_rate(late, sizes) == pytest.approx(RATE, rel=1e-4)
    with pytest.raises(ValueError, match="two arrivals"):
        long_run_rate(times[:1], sizes[:1])


def test_backlog_is_what_a_link_has_yet_to_pass_on():
    times = np.array([0, 0, 0.005, 0.1, 0.101])
    sizes = np.array([1000, 4000, 2000, 3000, 3000])
    found = backlog(times, sizes, RATE)
    assert found == pytest.approx([1000, 5000, 2000, 3000, 5000])


def test_backlog_of_a_steady_pace_is_a_burst():
    assert backlog(*bursts(50), RATE).max() == pytest.approx(BURST)
    # at the pace of catching up as well, if that is what is compared with
    assert backlog(*bursts(50, 1.05 * RATE), 1.05 * RATE).max() == pytest.approx(BURST)
    assert backlog(*bursts(50, 1.05 * RATE), RATE).max() > 2 * BURST


def test_a_burst_that_leaves_late_makes_a_longer_one():
    times, sizes = bursts(50)
    times[20] += 0.002
    assert backlog(times, sizes, RATE).max() == pytest.approx(BURST + 0.002 * RATE)


def test_fastest_does_not_count_one_burst():
    times, sizes = bursts(50)
    assert fastest(times, sizes, 0.02, BURST) == pytest.approx(RATE)
    times[21:] -= 0.005  # half a burst too early
    assert fastest(times, sizes, 0.014, BURST) == pytest.approx(RATE / 0.75)
    with pytest.raises(ValueError, match="too few"):
        fastest(times, sizes, 100, BURST)


@pytest.mark.parametrize("factor", [1.05, 1.2])
def test_a_stall_and_how_it_was_caught_up(factor):
    times, sizes = stalled(0.2, factor)
    stall = after_longest_gap(times, sizes, RATE, BURST, 0.02)
    assert stall.seconds == pytest.approx(0.2)
    assert stall.rate == pytest.approx(factor * RATE, rel=1e-3)
    assert stall.fastest == pytest.approx(factor * RATE, rel=1e-3)
    assert abs(stall.missing) < BURST


def test_what_is_never_caught_up_is_missing():
    before, _ = bursts(101)
    after, _ = bursts(100, start=before[-1] + 0.2)
    times = np.concatenate([before, after])
    stall = after_longest_gap(times, np.full(201, BURST), RATE, BURST, 0.02)
    assert stall.rate == pytest.approx(RATE)
    assert stall.missing == pytest.approx(0.2 * RATE - BURST)


def judge(times, sizes, lost=0, *options):
    args = pacing.parse(["--seconds", "1", "--burst", str(BURST), *options])
    return pacing.judge(times, sizes, lost, args, RATE)


def test_a_pace_is_judged():
    good = judge(*stalled(0.2))
    assert list(good.broken()) == []
    assert "1.0000" in pacing.line(good)
    faults = [
        (judge(*stalled(0.2, 1.06)), "caught up at 1.06"),
        (judge(*bursts(300, 1.002 * RATE), 0, "--stall", "0"), r"\+0.2"),
        (judge(*stalled(0.2), 3), "3 packets were lost"),
    ]
    for pace, complaint in faults:
        assert re.search(complaint, " ".join(pace.broken()))


def test_more_than_two_bursts_at_once_are_complained_about():
    times, sizes = bursts(300)
    times[20] = times[21]
    assert list(judge(times, sizes, 0, "--stall", "0").broken()) == []
    times[19] = times[21]
    complaints = " ".join(judge(times, sizes, 0, "--stall", "0").broken())
    assert "a burst was 30,000 bytes" in complaints


def test_a_short_burst_is_200_us_of_the_rate():
    times, sizes = bursts(300)
    for burst, bound in (1, 2 * 1472), (100_000, 200_000):
        pace = judge(times, sizes, 0, "--stall", "0", "--burst", str(burst))
        assert pace.bound == bound
