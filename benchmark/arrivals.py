# Copyright 2026 The gr-spead authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Computes rates and bursts from arrival times in s and sizes in bytes.

Both are arrays of the same length, in order of arrival. Packets that the kernel
delivers as one message (UDP GRO) are one arrival.
"""

import math
from dataclasses import dataclass

import numpy as np

CATCH_UP = 1.05  # pace of the sink after a stall, relative to the rate


def long_run_rate(times, sizes):
    """Bytes per second: the slope of a linear fit through all arrivals.

    NaN if there are fewer than two.
    """
    if len(times) < 2:
        return math.nan
    t = times - times.mean()
    total = np.cumsum(sizes, dtype=float)
    return float(t @ (total - total.mean()) / (t @ t))


def longest_burst(times, sizes, rate):
    """The maximum of (bytes arrived - rate x time) over all intervals.

    This is the buffer that a receiver reading at the rate needs, and the size of the
    smallest token bucket that passes all arrivals.
    """
    total = np.cumsum(sizes, dtype=float)
    expected = rate * (times - times[0])
    before = np.minimum.accumulate(total - sizes - expected)
    return float(np.max(total - expected - before))


@dataclass(frozen=True)
class Stall:
    """A gap between arrivals, and the rate at which the sender caught up."""

    seconds: float
    rate: float  # bytes per second while catching up


def longest_stall(times, sizes, rate, burst):
    """The longest gap between arrivals, and the rate of catching up after it.

    Catching up ends when the backlog is at most a burst, which may remain.
    """
    gap = int(np.argmax(np.diff(times)))
    after = gap + 1
    total = np.cumsum(sizes, dtype=float)
    ahead = total - rate * (times - times[gap])
    backlog = np.mean(ahead[:after]) - ahead
    # Skip the first burst: the token bucket is full after the gap.
    begin = after + int(np.searchsorted(total[after:] - total[gap], burst, "right"))
    caught_up = np.flatnonzero(backlog[begin:] <= burst)
    end = begin + int(caught_up[0]) if len(caught_up) else len(times)
    return Stall(
        seconds=float(times[after] - times[gap]),
        rate=long_run_rate(times[begin:end], sizes[begin:end]),
    )
