# Copyright 2026 The gr-spead authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Rates and bursts, computed from arrival times in s and sizes in bytes.

Both are arrays of the same length, in order of arrival. Packets that arrive as one
message are one arrival.
"""

import math
from dataclasses import dataclass

import numpy as np

CATCH_UP = 1.05  # times the rate, at which the sink catches up


def long_run_rate(times, sizes):
    """Bytes per second: the slope of a straight line through all arrivals.

    NaN if there are less than two.
    """
    if len(times) < 2:
        return math.nan
    t = times - times.mean()
    total = np.cumsum(sizes, dtype=float)
    return float(t @ (total - total.mean()) / (t @ t))


def longest_burst(times, sizes, rate):
    """The most bytes that arrive beyond rate x time, over all intervals.

    A receiver that reads at the rate has to buffer them. A token bucket of that size
    and rate would have let all arrivals pass.
    """
    total = np.cumsum(sizes, dtype=float)
    line = rate * (times - times[0])
    before = np.minimum.accumulate(total - sizes - line)
    return float(np.max(total - line - before))


@dataclass(frozen=True)
class Stall:
    """A gap between arrivals, and how the sender caught up after it."""

    seconds: float
    rate: float  # bytes per second, while it caught up


def longest_stall(times, sizes, rate, burst):
    """The longest gap between arrivals, and how the sender caught up.

    Catching up ends when no more than a burst is missing, which may stay missing.
    """
    gap = int(np.argmax(np.diff(times)))
    after = gap + 1
    total = np.cumsum(sizes, dtype=float)
    ahead = total - rate * (times - times[gap])
    missing = np.mean(ahead[:after]) - ahead
    # The token bucket is full after the gap: the first burst comes at once.
    begin = after + int(np.searchsorted(total[after:] - total[gap], burst, "right"))
    caught_up = np.flatnonzero(missing[begin:] <= burst)
    end = begin + int(caught_up[0]) if len(caught_up) else len(times)
    return Stall(
        seconds=float(times[after] - times[gap]),
        rate=long_run_rate(times[begin:end], sizes[begin:end]),
    )
