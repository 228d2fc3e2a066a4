# Copyright 2026 The gr-spead authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Options and types of arguments, for argparse."""

import argparse
import fractions


def option(parser, name, kind, text, default=None):
    """Add an option such as "--rate HZ"; its help ends with the default."""
    name, metavar = name.split()
    if "(default" not in text:
        text += " (default: none)" if default is None else " (default: %(default)s)"
    parser.add_argument(name, metavar=metavar, type=kind, default=default, help=text)


def integer(text):
    """Decimal, or hexadecimal such as 0x1600."""
    return int(text, 0)


def integers(text):
    return tuple(integer(part) for part in text.split(","))


def size(text, least=0):
    """A number of samples, bytes or heaps; k, M and G are powers of 1024."""
    number, factor = _split(text, 1024)
    try:
        value = int(number, 0) * factor
    except ValueError:
        value = -1
    if value < least:
        raise argparse.ArgumentTypeError(
            f"{text!r} is not a whole number from {least} on, such as 4096, 4k or 10M"
        )
    return value


def positive(text):
    """A size above 0."""
    return size(text, 1)


def rate(text):
    """A rate or a frequency as an exact Fraction; k, M and G are powers of 1000."""
    number, factor = _split(text, 1000)
    try:
        value = fractions.Fraction(number) * factor
    except (ArithmeticError, ValueError):
        value = -1
    if value < 0:
        raise argparse.ArgumentTypeError(
            f"{text!r} is not a rate from 0 on, such as 2400000, 2.4M or 100000000/3"
        )
    return value


def _split(text, step):
    """The number without its suffix, and the factor of the suffix."""
    power = "?KMG".find(text[-1:].upper())
    return (text[:-1], step**power) if power > 0 else (text, 1)
