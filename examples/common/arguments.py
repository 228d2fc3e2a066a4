# Copyright 2026 The gr-spead authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Options and argument types for argparse."""

import argparse
import fractions
import re


def option(parser, name, kind, text, default=None):
    """Add an option such as "--rate HZ"; append the default to its help."""
    name, metavar = name.split()
    if "(default" not in text:
        text += (
            " (default: %(default)s)"
            if default not in (None, "")
            else " (default: none)"
        )
    parser.add_argument(name, metavar=metavar, type=kind, default=default, help=text)


def in_options(error, **options):
    """An error of a block with options of the program instead of those of the block."""
    for name, own in options.items():
        error = re.sub(rf"\b{name}\b", own, error)
    return error


def integer(text):
    """Decimal, or hexadecimal such as 0x1600."""
    return int(text, 0)


def size(text, least=0):
    """A number of samples, bytes or heaps; k, M and G are powers of 1024."""
    number, factor = _split(text, 1024)
    try:
        value = int(number, 0) * factor
    except ValueError:
        value = -1
    if not least <= value < 2**63:
        raise argparse.ArgumentTypeError(
            f"{text!r} is not a whole number from {least} to 2^63 - 1, such as 4096, 4k"
            " or 10M"
        )
    return value


def positive(text):
    """A size above 0."""
    return size(text, 1)


def rate(text):
    """A rate or a frequency as an exact Fraction; k, M and G are powers of 1000."""
    number, factor = _split(text, 1000)
    value = _fraction(number) * factor
    if not (value == 0 or fractions.Fraction(1, 10**6) <= value <= 10**15):
        raise argparse.ArgumentTypeError(
            f"{text!r} is not 0 or a rate from 1e-6 to 1e15, such as 2400000, 2.4M or"
            " 100000000/3"
        )
    return value


def positive_rate(text):
    """A rate above 0."""
    value = rate(text)
    if not value:
        raise argparse.ArgumentTypeError(f"{text!r} is not a rate above 0")
    return value


def seconds(text):
    """A time or a duration as an exact Fraction."""
    value = _fraction(text)
    if not 0 <= value < 10**11:
        raise argparse.ArgumentTypeError(
            f"{text!r} is not a number of seconds from 0 to 1e11, such as 12.5"
        )
    return value


def _fraction(text):
    """-1 if the text is invalid."""
    # A long exponent would exhaust the memory.
    if re.search(r"e[+-]?\d{3}", text, re.IGNORECASE):
        return fractions.Fraction(-1)
    try:
        return fractions.Fraction(text)
    except (ArithmeticError, ValueError):
        return fractions.Fraction(-1)


def _split(text, step):
    """The number without its suffix, and the factor that the suffix stands for."""
    power = "?KMG".find(text[-1:].upper())
    return (text[:-1], step**power) if power > 0 else (text, 1)
