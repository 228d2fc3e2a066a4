# Copyright 2026 The gr-spead authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Values and types that the options accept, and the errors for others."""

import re
from decimal import Decimal
from fractions import Fraction

import numpy as np
import pytest
from gnuradio import spead
from possible_options import AT, POSSIBLE, TO, make


@pytest.mark.parametrize(
    ("block", "options"),
    [(block, options) for block, rows in POSSIBLE.items() for options in rows],
    ids=lambda value: " ".join(value) if isinstance(value, dict) else value,
)
def test_valid_options_are_accepted(block, options):
    make(block, **options)


@pytest.mark.parametrize("block", POSSIBLE)
def test_times_may_be_a_fraction_and_nanoseconds(block):
    make(block, sample_rate=Fraction(8000000, 7), sync_time=1600000000123456789)


def test_a_sync_time_that_is_not_in_integer_nanoseconds_is_rejected():
    with pytest.raises(ValueError, match=r"spead.sink: sync_time = .*integer nanosec"):
        spead.sink(TO, sample_rate=1, sync_time=Fraction(3, 2))


def test_numpy_integers_are_accepted():
    from_numpy = spead.sink(TO, np.int32(8), timestamp_step=np.uint8(16))
    from_python = spead.sink(TO, 8, timestamp_step=16)
    assert from_numpy.packet_size() == from_python.packet_size()


def test_options_are_keyword_only():
    with pytest.raises(TypeError, match="only destinations and heap_samples may be"):
        spead.sink(TO, 8192, "int8")
    with pytest.raises(TypeError, match="only endpoints may be positional"):
        spead.source(AT, "int8")


ENDPOINTS = 'a string such as "127.0.0.1:7148", or a list of strings'
LIST = "a list of items, with parentheses, such as [spead.timestamp(), spead.samples()]"

INTEGER = "an integer; integers are from -2^63 to 2^63 - 1"
NO_BYTES = "; bytes and NUL are not allowed"

# The block, an argument of the wrong type, and the allowed type in the error.
WRONG_TYPES = [
    # not truncated to integers
    ("sink", {"heap_samples": 8192.5}, "an integer"),
    ("sink", {"heap_samples": np.float32(1000.9)}, "an integer"),
    ("sink", {"heap_samples": Decimal("5.7")}, "an integer"),
    ("sink", {"timestamp_step": np.array(1.5)}, "an integer, or None"),
    ("sink", {"heap_samples": 2**64}, INTEGER),
    ("sink", {"heap_samples": b"8192"}, f"an integer{NO_BYTES}"),
    ("sink", {"send_stop": None}, "True or False"),
    ("sink", {"rate": "1e6"}, "a number"),
    ("sink", {"scale": "1"}, "a number, or None"),
    ("sink", {"interface": 3}, "a string"),
    ("sink", {"interface": "lo\0x"}, f"a string{NO_BYTES}"),
    ("sink", {"items": [spead.samples(), None]}, LIST),
    ("source", {"items": spead.samples()}, f"{LIST}, or None"),
    ("sink", {"destinations": [TO, bytearray(b"\xff")]}, ENDPOINTS + NO_BYTES),
    ("sink", {"destinations": "127.0.0.1\0x:7148"}, f"a string{NO_BYTES}"),
    ("source", {"endpoints": ("127.0.0.1", 7148)}, ENDPOINTS),
    ("source", {"endpoints": None}, ENDPOINTS),
]


@pytest.mark.parametrize(("block", "arguments", "allowed"), WRONG_TYPES, ids=str)
def test_an_argument_of_the_wrong_type_is_rejected(block, arguments, allowed):
    ((name, value),) = arguments.items()
    with pytest.raises(TypeError) as error:
        make(block, **arguments)
    assert str(error.value) == (
        f"spead.{block}: {name} = {value!r} is invalid; allowed: {allowed}"
    )


@pytest.mark.parametrize(
    ("block", "name", "nearest"),
    [
        ("sink", "heap_sample", "heap_samples"),
        ("source", "end_points", "endpoints"),
        ("source", "num_inputs", "num_outputs"),
    ],
)
def test_an_unknown_parameter_suggests_the_nearest_name(block, name, nearest):
    with pytest.raises(TypeError) as error:
        make(block, **{name: 1})
    assert str(error.value) == (
        f"spead.{block}: unknown parameter {name}; did you mean {nearest}?"
    )


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["x", 0x3101, 1], "id = 'x' is invalid; allowed: an integer"),
        ([5, b"\xff", 1], r"name = b'\xff' is invalid; allowed: a string; bytes and"),
        ([5, "x", 1.5], "value = 1.5 is invalid; allowed: an integer, or a list of"),
    ],
)
def test_an_item_rejects_an_argument_of_the_wrong_type(arguments, message):
    with pytest.raises(TypeError, match="^spead.immediate: " + re.escape(message)):
        spead.immediate(*arguments)


@pytest.mark.parametrize(
    ("method", "arguments", "message"),
    [
        ("set_rate", ["fast"], "rate = 'fast' is invalid; allowed: a number"),
        ("set_item", [None, 1], "item = None is invalid; allowed: the ID or the"),
        ("set_items", [None], f"items = None is invalid; allowed: {LIST}"),
    ],
)
def test_a_setter_rejects_an_argument_of_the_wrong_type(method, arguments, message):
    with pytest.raises(TypeError, match="^spead.sink: " + re.escape(message)):
        getattr(spead.sink(TO), method)(*arguments)
