# Copyright 2026 The gr-spead authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""What the options take, and what Python's help says of them."""

import re
from fractions import Fraction

import pytest
from gnuradio import spead
from possible_options import POSSIBLE, RX, TO


@pytest.mark.parametrize(
    "options",
    [
        {"input_type": kind, "tail": tail, "byte_order": order}
        for kind in ("int8", "sc8", "int16", "sc16", "float", "complex")
        for tail in ("short", "pad")
        for order in ("big", "little")
        if order == "big" or (kind.endswith("16") and tail == "pad")
    ],
    ids=lambda options: "-".join(options.values()),
)
def test_types_byte_orders_and_tails_that_go_together(options):
    spead.sink(TO, **options)


@pytest.mark.parametrize("options", POSSIBLE, ids=" ".join)
def test_what_is_possible_is_accepted(options):
    spead.sink(**{"destinations": TO, **options})


def test_a_sample_rate_may_be_a_fraction():
    spead.sink(TO, timestamp_source="rx_time", sample_rate=Fraction(8000000, 7))


def test_a_sync_time_may_be_in_nanoseconds():
    spead.sink(TO, sync_time=1600000000123456789, **RX)


@pytest.mark.parametrize("kind", ["int8", "sc8", "int16", "sc16", "float", "complex"])
@pytest.mark.parametrize("inputs", [1, 64])
def test_inputs_have_the_size_of_their_type(kind, inputs):
    signature = spead.sink(TO, input_type=kind, num_inputs=inputs).input_signature()
    size = {"int8": 1, "sc8": 2, "int16": 2, "sc16": 4, "float": 4, "complex": 8}[kind]
    assert signature.max_streams() == inputs
    assert signature.sizeof_stream_item(inputs - 1) == size


def test_options_are_keyword_only():
    with pytest.raises(TypeError, match="only destinations and heap_samples need no"):
        spead.sink(TO, 8192, "int8")


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (
            {"heap_sample": 1},
            "there is no parameter heap_sample; the nearest is heap_s",
        ),
        (
            {"heap_samples": 8192.0},
            "heap_samples = 8192.0 is not possible; allowed: an integer",
        ),
        ({"rate": "1e6"}, "rate = '1e6' is not possible; allowed: a number"),
        ({"scale": "1"}, "scale = '1' is not possible; allowed: a number, or None"),
        (
            {"pad_packets": "yes"},
            "pad_packets = 'yes' is not possible; allowed: True or",
        ),
        ({"interface": 3}, "interface = 3 is not possible; allowed: a string"),
        (
            {"timestamp_step": "1"},
            "timestamp_step = '1' is not possible; allowed: an integer, or None",
        ),
        (
            {"items": 3},
            "items = 3 is not possible; allowed: a list, such as [spead.timestamp(), ",
        ),
        (
            {"destinations": ("127.0.0.1", 7148)},
            "destinations = ('127.0.0.1', 7148) is not possible; allowed: a string such"
            ' as "127.0.0.1:7148", or a list of strings',
        ),
        ({"destinations": None}, "destinations = None is not possible; allowed: a str"),
    ],
)
def test_an_argument_of_the_wrong_type_or_name_is_named(arguments, message):
    with pytest.raises(TypeError, match="^spead.sink: " + re.escape(message)):
        spead.sink(**{"destinations": TO, **arguments})


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (
            lambda: spead.timestamp(id="5"),
            "timestamp: id = '5' is not possible; allowed",
        ),
        (
            lambda: spead.samples(name=3),
            "samples: name = 3 is not possible; allowed: a",
        ),
        (
            lambda: spead.immediate(0x3101, "x", 1.5),
            "immediate: value = 1.5 is not possible; allowed: an integer, or a list of",
        ),
        (
            lambda: spead.immediate("x", 0x3101, 1),
            "immediate: id = 'x' is not possible; allowed: an integer",
        ),
    ],
)
def test_an_argument_of_the_wrong_type_of_an_item_is_named(make, message):
    with pytest.raises(TypeError, match="^spead." + re.escape(message)):
        make()


def test_help_shows_options_and_defaults():
    text = spead.sink.__init__.__doc__
    for part in (
        "destinations: Union[str, list[str]]",
        "heap_samples: int = 8192, *",
        "scale: Optional[float] = None",
        "max_packet_size: int = 1472",
        "= [spead.timestamp(id=0x1600, name='timestamp'), spead.samples(id=0x3300,",
        "sample_rate: Optional[Union[int, tuple[int, int], Fraction]] = None",
        "sync_time: Union[str, int] = '0'",
        "rate: float = 0",
        "when_full: str = 'block'",
        "affinity: int = -1",
    ):
        assert part in text
    assert "Heap counter of the first heap" in spead.sink.__doc__
    assert "samples in heaps that were sent completely" in spead.sink.stats.__doc__
