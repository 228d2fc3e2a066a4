# Copyright 2026 The gr-spead authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""What numbers the command lines of the examples take; for argparse."""

import argparse


def integer(text):
    return int(text, 0)  # also 0x1600


def integers(text):
    return tuple(integer(part) for part in text.split(","))


def natural(text):
    return _at_least(0, text)


def positive(text):
    return _at_least(1, text)


def _at_least(least, text):
    value = int(text)
    if value < least:
        raise argparse.ArgumentTypeError(f"{value} is less than {least}")
    return value
