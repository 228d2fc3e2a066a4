# Copyright 2026 The gr-spead authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Finds the highest rate that passes, with as few attempts as possible."""

import math

SATURATED = 0.97  # of the rate that was asked for: this sender comes to its own limit


class Search:
    """Bisection on a logarithmic scale, from a first guess whose error is `step`.

    Attempt `rate`, tell what came of it, until that is None.
    """

    LOWEST = 0.1  # MB/s; a receiver that cannot take this takes nothing

    def __init__(self, guess, step, resolution):
        self.rate = guess
        self.step = step
        self.least = 1 + resolution  # times what is known, to be worth going on
        self.passed = self.failed = None
        self.reached = None  # by the sender, at most, without loss

    def tell(self, passed, reached):
        known = self.reached or 0
        saturated = reached < SATURATED * self.rate
        if passed:
            self.passed, self.reached = self.rate, max(reached, known)
        else:
            self.failed = self.rate
        if passed and saturated and reached < known * self.least:
            self.rate = None
        elif self.failed is None:
            # what falls short of a rate may still do better at a much higher one
            self.rate *= max(self.step, 2) if saturated else self.step
        elif self.passed is None:
            self.rate = self.rate / self.step if self.rate > self.LOWEST else None
        elif self.failed <= self.passed * self.least:
            self.rate = None
        else:
            self.rate = math.sqrt(self.passed * self.failed)
