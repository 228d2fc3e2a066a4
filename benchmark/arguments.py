# Copyright 2026 The gr-spead authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""The parser that the programs here share, and what their options take.

A value that will not do is shown with its option, and with what would do.
"""

import argparse
import functools
import math


def parser(description, **properties):
    """An ArgumentParser that leaves the lines of its texts as they are."""
    return argparse.ArgumentParser(
        description=description,
        formatter_class=argparse.RawDescriptionHelpFormatter,
        **properties,
    )


def saying_why(convert):
    """argparse keeps to itself what a ValueError says; this shows it."""

    @functools.wraps(convert)
    def converted(text):
        try:
            return convert(text)
        except ValueError as error:
            raise argparse.ArgumentTypeError(str(error)) from None

    return converted


def number(kind, fits, allowed):
    """Numbers that fit; `allowed` says in words which those are."""

    @saying_why
    def convert(text):
        try:
            value = kind(text)
        except ValueError:
            value = math.nan
        if not (value < math.inf and fits(value)):
            whole = "whole " if kind is int else ""
            raise ValueError(f"{text!r} is not a {whole}number {allowed}")
        return value

    return convert


def positive(kind):
    return number(kind, lambda value: value > 0, "above 0")


def at_least(kind, least):
    return number(kind, lambda value: value >= least, f"of {least} or more")


def between(kind, least, most):
    return number(kind, lambda value: least <= value <= most, f"from {least} to {most}")


port = between(int, 1, 65535)


def megabytes(text):
    """MB/s, in bytes per second."""
    return positive(float)(text) * 1e6


@saying_why
def size(text):
    """A number of bytes, as 1472, 64k or 1M."""
    factor = {"k": 1 << 10, "m": 1 << 20}.get(text[-1:].lower(), 1)
    digits = text[:-1] if factor > 1 else text
    if not digits.isdecimal() or int(digits) == 0:
        raise ValueError(f"{text!r} is not a number of bytes, as 1472, 64k or 1M")
    return int(digits) * factor


packet_size = between(size, 1, 65507)  # of UDP, without its header


def several(kind, least=0):
    """A list of them, separated by commas."""

    @saying_why
    def convert(text):
        found = [kind(part) for part in text.split(",") if part]
        if len(found) < least:
            raise ValueError(f"{text!r} has less than {least} in it")
        return found

    return convert
