# Copyright 2026 The gr-spead authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""What arrival times say about a pace: functions of times in s and sizes in bytes.

Both are arrays of the same length, in order of arrival. A message of several packets
that arrive in one piece is one arrival.
"""

from dataclasses import dataclass

import numpy as np

CATCH_UP = 1.05  # times the rate, at which the sink pays back what it owes


def long_run_rate(times, sizes):
    """Bytes per second: the slope of a straight line through all arrivals."""
    if len(times) < 2:
        raise ValueError("two arrivals are the least that have a rate")
    at = times - times.mean()
    total = np.cumsum(sizes, dtype=float)
    return float(at @ (total - total.mean()) / (at @ at))


def backlog(times, sizes, rate):
    """Bytes that a link of this rate has yet to pass on, right after each arrival.

    Put otherwise, and for the maximum: in every interval that begins and ends with an
    arrival, both counted in, no more arrives than rate x length + this. A sender that
    keeps to a token bucket of a size and a rate never exceeds that size.
    """
    total = np.cumsum(sizes, dtype=float)
    line = rate * (times - times[0])
    return total - line - np.minimum.accumulate(total - sizes - line)


def fastest(times, sizes, seconds, burst):
    """The highest rate in an interval of at least so many seconds, beyond one burst.

    Beyond: what leaves a full bucket at once comes on top of the rate.
    """
    total = np.cumsum(sizes, dtype=float)
    last = np.searchsorted(times, times + seconds)
    first = np.flatnonzero(last < len(times))
    if not len(first):
        raise ValueError("too few arrivals for such an interval")
    last = last[first]
    inside = total[last] - total[first] + sizes[first]
    return float(np.max((inside - burst) / (times[last] - times[first])))


@dataclass(frozen=True)
class Stall:
    """What became of a pace after an interruption."""

    seconds: float  # that nothing came
    rate: float  # bytes per second, while it caught up
    fastest: float  # the same in the shortest interval that was looked at
    missing: float  # bytes that were not made up for at the end


def after_longest_gap(times, sizes, rate, burst, shortest):
    """The Stall that is the longest gap between arrivals.

    `shortest` is the interval in s to look for the highest rate in. Catching up ends
    when no more than a burst is missing: the last of it does not show.
    """
    gap = int(np.argmax(np.diff(times)))
    total = np.cumsum(sizes, dtype=float)
    before = slice(0, gap + 1)
    line = rate * (times - times[gap])
    ahead = total - line
    missing = np.mean(ahead[before]) - ahead
    # The first burst is what the bucket held: it came at once.
    begin = (
        gap + 1 + int(np.searchsorted(total[gap + 1 :] - total[gap], burst, "right"))
    )
    late = np.flatnonzero(missing[begin:] <= burst)
    end = begin + int(late[0]) if len(late) else len(times)
    return Stall(
        seconds=float(times[gap + 1] - times[gap]),
        rate=long_run_rate(times[begin:end], sizes[begin:end]),
        fastest=fastest(times[gap + 1 : end], sizes[gap + 1 : end], shortest, burst),
        missing=float(np.mean(missing[-max(len(missing) // 20, 2) :])),
    )
