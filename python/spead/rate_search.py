# Copyright 2026 The gr-spead authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Searches the highest rate without loss by repeated trials."""

import math
import statistics

TRIALS = 3  # per rate that the result names
MANY_LOSSES = 2  # of these; a single one may be an accident
ACCURACY = 1.02  # ratio of the rates between which the search ends
REACHED = 0.97  # fraction of a rate; a sender that sends less has reached its limit
STEP_DOWN = 0.9  # to a rate at which no trial loses samples
MIN_RATE = 1.0  # MB/s


class Rate:
    """A rate in MB/s and its trials, which have a `rate` and may be `lossy`."""

    def __init__(self, target):
        self.target = target
        self.trials = []

    @property
    def losses(self):
        return sum(trial.lossy for trial in self.trials)

    @property
    def is_lossy(self):
        return self.losses >= MANY_LOSSES

    @property
    def achieved(self):
        """The rate at which the sender sent, on average."""
        return statistics.mean(trial.rate for trial in self.trials)

    @property
    def is_sender_limit(self):
        """Whether no trial reached the rate: a single one may have waited for a CPU."""
        return max(trial.rate for trial in self.trials) < REACHED * self.target

    def run(self, run_trial, count):
        """Complete the trials, up to a count or until many have lost."""
        while len(self.trials) < count and not self.is_lossy:
            self.trials.append(run_trial(self.target))


class Search:
    """Doubles the rate until samples are lost, then bisects.

    run_trial(rate) returns a trial; judged(rate) is called with each Rate
    """

    def __init__(self, run_trial, first, maximum=math.inf, judged=lambda rate: None):
        self._run_trial = run_trial
        self._first = min(first, maximum)
        self._maximum = maximum
        self._judged = judged
        self._rates = []

    def run(self):
        while (rate := self._next_rate()) is not None:
            rate.run(self._run_trial, TRIALS if self.lossy or rate.trials else 1)
            if rate.losses or rate.is_sender_limit:
                rate.run(self._run_trial, TRIALS)
            self._judged(rate)

    @property
    def lossy(self):
        """The lowest rate at which most trials lost samples."""
        return min(
            (rate for rate in self._rates if rate.is_lossy),
            key=lambda rate: rate.target,
            default=None,
        )

    @property
    def clean(self):
        """The highest rate below that at which no trial lost samples."""
        return self._highest(lambda rate: not rate.losses)

    def decisive(self):
        """The rates from the clean to the lossy one."""
        low = self.clean.target if self.clean else 0
        high = self.lossy.target if self.lossy else math.inf
        rates = [rate for rate in self._rates if low <= rate.target <= high]
        return sorted(rates, key=lambda rate: rate.target)

    def _highest(self, condition):
        lossy = self.lossy
        return max(
            (
                rate
                for rate in self._rates
                if condition(rate) and (not lossy or rate.target < lossy.target)
            ),
            key=lambda rate: rate.target,
            default=None,
        )

    def _next_rate(self):
        target = self._next_target() or self._lower_target()
        if target is None:
            clean = self.clean
            return clean if clean and len(clean.trials) < TRIALS else None
        self._rates.append(Rate(target))
        return self._rates[-1]

    def _lower_target(self):
        """A rate that may be clean, if those found so far have each lost in a trial."""
        above = self.clean.target if self.clean else 0
        losing = [r.target for r in self._rates if r.losses and r.target > above]
        target = max(STEP_DOWN * min(losing, default=0), MIN_RATE)
        return target if above < target < min(losing, default=0) else None

    def _next_target(self):
        low, high = self._highest(lambda rate: not rate.is_lossy), self.lossy
        if not low:
            below = max(high.target / 2, MIN_RATE) if high else self._first
            return below if not high or below < high.target else None
        if low.is_sender_limit:
            return None
        if not high:
            above = min(2 * low.target, self._maximum)
            return above if above > low.target else None
        above = min(high.target, high.achieved)
        return math.sqrt(low.target * above) if above > ACCURACY * low.target else None
