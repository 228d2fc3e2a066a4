# Copyright 2026 The gr-spead authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Arguments that the examples share: endpoints, sizes and rates."""

import argparse
import fractions

import pytest
from common.arguments import positive, positive_rate, rate, seconds, size
from common.endpoints import endpoints


def test_endpoints_are_written_as_for_the_sink():
    assert endpoints("239.1.2.254+3:7148") == [
        ("239.1.2.254", 7148),
        ("239.1.2.255", 7148),
        ("239.1.3.0", 7148),
        ("239.1.3.1", 7148),
    ]
    assert endpoints("[ff15::77]:7148, localhost:0, 7148") == [
        ("ff15::77", 7148),
        ("localhost", 0),
        ("127.0.0.1", 7148),
    ]


@pytest.mark.parametrize(
    "text", ["", "host", "host:65536", "host+1:1", "a:1,", "::1:1"]
)
def test_other_endpoints_are_rejected(text):
    with pytest.raises(ValueError, match="'"):
        endpoints(text)


def test_sizes_have_binary_suffixes_and_rates_have_decimal_ones():
    assert [size(text) for text in ("0", "0x1000", "4k", "10M")] == [
        *(0, 4096, 4096, 10 << 20)
    ]
    assert rate("2.4M") == rate("2400000") == rate("2.4e6") == 2_400_000
    assert rate("100000000/3") == fractions.Fraction(10**8, 3)


@pytest.mark.parametrize(
    ("kind", "text"),
    [
        (size, "4x"),
        (size, "-1"),
        (size, "99999999999999999999"),
        (positive, "0"),
        (rate, "1/0"),
        (rate, "1e400"),
        (rate, "1e-400"),
        (rate, "1e999999999"),
        (positive_rate, "0"),
        (seconds, "-1"),
        (seconds, "1/0"),
    ],
)
def test_an_invalid_number_is_named(kind, text):
    with pytest.raises(argparse.ArgumentTypeError, match=f"'{text}'"):
        kind(text)
