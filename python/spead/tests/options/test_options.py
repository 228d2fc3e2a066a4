# Copyright 2026 The gr-spead authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Values and types that the options accept, and the errors for others."""

import re
from decimal import Decimal
from fractions import Fraction

import numpy as np
import pytest
from gnuradio import spead
from possible_options import AT, POSSIBLE, RX, TO, make


@pytest.mark.parametrize(
    ("block", "options"),
    [(block, options) for block, rows in POSSIBLE.items() for options in rows],
    ids=lambda each: " ".join(each) if isinstance(each, dict) else each,
)
def test_valid_options_are_accepted(block, options):
    make(block, **options)


each_clock = pytest.mark.parametrize(
    ("block", "options"), [("sink", RX), ("source", {"sample_rate": 10})], ids=str
)


@each_clock
def test_a_sample_rate_may_be_a_fraction(block, options):
    make(block, **options | {"sample_rate": Fraction(8000000, 7)})


@each_clock
def test_a_sync_time_may_be_in_nanoseconds(block, options):
    make(block, sync_time=1600000000123456789, **options)


SIZES = {
    **{"int8": 1, "sc8": 2, "int16": 2, "sc16": 4},
    **{"int32": 4, "float": 4, "complex": 8},
}


@pytest.mark.parametrize("sample_type", SIZES)
@pytest.mark.parametrize("inputs", [1, 64])
def test_input_items_have_the_size_of_their_type(sample_type, inputs):
    sink = spead.sink(TO, input_type=sample_type, num_inputs=inputs)
    signature = sink.input_signature()
    assert signature.max_streams() == inputs
    assert signature.sizeof_stream_item(inputs - 1) == SIZES[sample_type]


@pytest.mark.parametrize("sample_type", SIZES)
@pytest.mark.parametrize("outputs", [1, 64])
def test_output_items_have_the_size_of_their_type(sample_type, outputs):
    options = {"output_type": sample_type, "num_outputs": outputs}
    signature = spead.source([AT] * outputs, **options).output_signature()
    assert signature.max_streams() == outputs
    assert signature.sizeof_stream_item(outputs - 1) == SIZES[sample_type]


@pytest.mark.parametrize("time", [Decimal("1600000000.5"), Fraction(3, 2), 1.5])
def test_a_sync_time_that_is_not_in_integer_nanoseconds_is_rejected(time):
    with pytest.raises(ValueError, match=r"spead.sink: sync_time = .*integer nanosec"):
        spead.sink(TO, sample_rate=1, sync_time=time)


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

# arguments of the wrong type, and the allowed type in the error
WRONG_TYPES = {
    "sink": [
        ({"heap_samples": 8192.5}, "an integer"),
        # not truncated to integers
        ({"heap_samples": np.float32(1000.9)}, "an integer"),
        ({"heap_samples": Decimal("5.7")}, "an integer"),
        ({"ttl": Fraction(17, 2)}, "an integer"),
        ({"timestamp_step": np.array(1.5)}, "an integer, or None"),
        ({"send_stop": None}, "True or False"),
        ({"rate": "1e6"}, "a number"),
        ({"scale": "1"}, "a number, or None"),
        ({"interface": 3}, "a string"),
        ({"items": 3}, LIST),
        ({"items": [spead.samples(), None]}, LIST),
        ({"heap_samples": 2**64}, INTEGER),
        ({"heap_samples": b"8192"}, f"an integer{NO_BYTES}"),
        ({"input_type": b"\xff"}, f"a string{NO_BYTES}"),
        ({"interface": "lo\0x"}, f"a string{NO_BYTES}"),
        (
            {"destinations": ["127.0.0.1:7148", bytearray(b"\xff")]},
            ENDPOINTS + NO_BYTES,
        ),
        ({"destinations": "127.0.0.1\0x:7148"}, f"a string{NO_BYTES}"),
        ({"destinations": ("127.0.0.1", 7148)}, ENDPOINTS),
        ({"destinations": None}, ENDPOINTS),
    ],
    "source": [
        ({"num_outputs": 1.5}, "an integer"),
        ({"heap_samples": 2**64}, INTEGER),
        ({"endpoints": b"127.0.0.1:7148"}, ENDPOINTS + NO_BYTES),
        ({"max_delay": "0.1"}, "a number"),
        ({"timeout": None}, "a number"),
        ({"scale": "1"}, "a number, or None"),
        ({"end_on_stop": "no"}, "True or False"),
        ({"output_type": None}, "a string"),
        ({"wire_type": np.dtype(">i2")}, "a string"),
        ({"timestamp_step": 1.5}, "an integer, or None"),
        ({"items": spead.samples()}, f"{LIST}, or None"),
        ({"items": ["samples"]}, f"{LIST}, or None"),
        ({"endpoints": 7148}, ENDPOINTS),
        ({"endpoints": ("127.0.0.1", 7148)}, ENDPOINTS),
        ({"endpoints": None}, ENDPOINTS),
    ],
}


@pytest.mark.parametrize(
    ("block", "arguments", "allowed"),
    [(block, *row) for block, rows in WRONG_TYPES.items() for row in rows],
    ids=str,
)
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
        ("sink", "destination", "destinations"),
        ("source", "outputtype", "output_type"),
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
    ("function", "message"),
    [
        (
            lambda: spead.timestamp(id="5"),
            "timestamp: id = '5' is invalid; allowed",
        ),
        (
            lambda: spead.samples(name=3),
            "samples: name = 3 is invalid; allowed: a",
        ),
        (
            lambda: spead.immediate(0x3101, "x", Fraction(1, 2)),
            "immediate: value = Fraction(1, 2) is invalid; allowed: an integer",
        ),
        (
            lambda: spead.immediate(0x3101, "x", 1.5),
            "immediate: value = 1.5 is invalid; allowed: an integer, or a list of",
        ),
        (
            lambda: spead.immediate(0x3101, b"\xff", 1),
            r"immediate: name = b'\xff' is invalid; allowed: a string; bytes and NUL",
        ),
        (
            lambda: spead.immediate(0x3101, "x", 2**64),
            f"immediate: value = {2**64} is invalid; allowed: an integer, or a"
            " list of integers, one for each input; integers are from -2^63 to",
        ),
        (
            lambda: spead.immediate("x", 0x3101, 1),
            "immediate: id = 'x' is invalid; allowed: an integer",
        ),
    ],
)
def test_an_item_rejects_an_argument_of_the_wrong_type(function, message):
    with pytest.raises(TypeError, match="^spead." + re.escape(message)):
        function()


@pytest.mark.parametrize(
    ("method", "arguments", "message"),
    [
        ("set_rate", ["fast"], "rate = 'fast' is invalid; allowed: a number"),
        ("set_item", [None, 1], "item = None is invalid; allowed: the ID or the"),
        ("set_item", ["x", "5"], "value = '5' is invalid; allowed: an integer"),
        ("set_item", ["x", 1, 0.5], "input = 0.5 is invalid; allowed: an integer"),
        ("set_items", [None], f"items = None is invalid; allowed: {LIST}"),
    ],
)
def test_a_setter_rejects_an_argument_of_the_wrong_type(method, arguments, message):
    sink = spead.sink(TO)
    with pytest.raises(TypeError, match="^spead.sink: " + re.escape(message)):
        getattr(sink, method)(*arguments)
