# Copyright 2026 The gr-spead authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Option types for argparse."""

import math


def positive(kind):
    def convert(text):
        value = kind(text)
        if not 0 < value < math.inf:
            raise ValueError
        return value

    convert.__name__ = f"positive {kind.__name__}"  # argparse prints it in errors
    return convert


def several(kind):
    """A comma-separated list."""

    def convert(text):
        return [kind(part) for part in text.split(",") if part]

    convert.__name__ = f"{kind.__name__} list"
    return convert


def size(text):
    """A number of bytes, such as 1472, 64k or 1M."""
    unit = {"k": 1 << 10, "M": 1 << 20}.get(text[-1:], 1)
    return positive(int)(text.rstrip("kM")) * unit


def packet_size(text):
    """Bytes of UDP payload, up to 65507."""
    value = size(text)
    if value > 65507:
        raise ValueError
    return value


def megabytes(text):
    """Convert MB/s to bytes per second."""
    return positive(float)(text) * 1e6
