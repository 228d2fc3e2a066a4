# Copyright 2026 The gr-spead authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""What may be written in the fields of the block: what GRC and the sink accept."""

from fractions import Fraction

import grc_lint
import pytest
from gnuradio import spead
from grc_sink import IN_PYTHON, arguments, platform, sink
from grc_values import ACCEPTED, NO_ITEMS, REFUSED


def test_items_are_an_expression():
    items = "[spead.samples(id=0x4300), spead.immediate(0x3101, 'x', 5)]"
    block = sink(items=items)
    assert grc_lint.block_errors(block) == []
    assert arguments(block)["items"] == eval(items)


def test_items_are_not_their_names():
    block = sink(items="['samples']")
    assert any("items" in error for error in grc_lint.block_errors(block))
    with pytest.raises(TypeError):
        spead.sink(**arguments(block))


@pytest.mark.parametrize("items", NO_ITEMS)
def test_grc_says_what_is_wrong_with_an_item(items):
    errors = grc_lint.block_errors(sink(items=items))
    with pytest.raises(ValueError, match=r"^spead\.\w+: \w+ = ") as refused:
        eval(items)
    assert any(str(refused.value) in error for error in errors)


def test_items_may_have_the_values_of_variables():
    """And change with them, while the flow graph runs."""
    graph = platform().make_flow_graph()
    variable = graph.new_block("variable")
    variable.params["id"].set_value("state")
    variable.params["value"].set_value("7")
    block = graph.new_block("spead_sink")
    block.params["id"].set_value("sink")
    items = "[spead.samples(), spead.immediate(0x3101, 'state', state)]"
    block.params["items"].set_value(items)
    graph.rewrite()
    graph.validate()
    assert grc_lint.block_errors(block) == []
    assert block.params["items"].get_evaluated()[1].values == [7]
    assert f"self.sink.set_items({items})" in block.get_callbacks()


@pytest.mark.parametrize(
    ("written", "destinations"),
    [
        ("host:1", "host:1"),
        ("host:1, 10.0.0.1+7:2", "host:1, 10.0.0.1+7:2"),
        ("[::1]:7148", "[::1]:7148"),
        ("'host:1'", "host:1"),
        ("['host:1']", ["host:1"]),
        (" ['host:1', '[::1]:' + str(2)] ", ["host:1", "[::1]:2"]),
        ("('host:1', 'host:2,host:3')", ("host:1", "host:2,host:3")),
    ],
)
def test_destinations_are_a_text_or_a_list(written, destinations):
    block = sink(destinations=written, num_inputs="2")
    assert grc_lint.block_errors(block) == []
    assert arguments(block)["destinations"] == destinations


@pytest.mark.parametrize("written", ["[::1]", "['host:1'; 'host:2']", "('host:1'"])
def test_what_is_neither_is_refused(written):
    errors = grc_lint.block_errors(sink(destinations=written))
    assert any("destinations" in error for error in errors)


def test_an_ipv6_address_is_a_destination():
    assert grc_lint.block_errors(sink(destinations="[::1]:7148")) == []


# Fields that only matter with another one, and what makes them matter.
DEPENDENT = [
    ("scale", "2.5", {"input_type": "float"}),
    ("byte_order", "little", {"input_type": "int16", "tail": "pad"}),
    ("sync_time", "15.5", {"timestamp_source": "rx_time", "sample_rate": "10"}),
    ("on_gap", "ignore", {"timestamp_source": "rx_time", "sample_rate": "10"}),
    ("on_start", "zero_fill", {"timestamp_source": "rx_time", "sample_rate": "10"}),
    ("sample_rate", "10", {"timestamp_source": "rx_time"}),
]


@pytest.mark.parametrize(("field", "value", "needed"), DEPENDENT)
def test_what_does_not_matter_is_hidden_and_does_no_harm(field, value, needed):
    hidden = sink(**{field: value})
    assert hidden.params[field].hide == "all"
    assert grc_lint.block_errors(hidden) == []
    spead.sink(**arguments(hidden))
    assert sink(**{field: value}, **needed).params[field].hide == "none"


def test_an_interval_for_descriptors_that_are_not_sent_does_no_harm():
    block = sink(descriptor_interval="5", descriptors="none")
    assert block.params["descriptor_interval"].hide == "all"
    assert grc_lint.block_errors(block) == []
    assert arguments(block)["descriptor_interval"] == 0


@pytest.mark.parametrize(
    ("written", "rate"),
    [
        ("10", 10),
        ("10e6", 10_000_000),
        ("(8000000, 7)", (8000000, 7)),
        ("__import__('fractions').Fraction(8000000, 7)", Fraction(8000000, 7)),
    ],
)
def test_a_sample_rate_is_passed_on_as_it_is(written, rate):
    block = sink(sample_rate=written, timestamp_source="rx_time")
    assert grc_lint.block_errors(block) == []
    assert arguments(block)["sample_rate"] == rate
    spead.sink(**arguments(block))


def test_a_sync_time_keeps_its_digits():
    block = sink(sync_time="1600000000.123456789012345678")
    assert grc_lint.block_errors(block) == []
    assert arguments(block)["sync_time"] == "1600000000.123456789012345678"


def test_a_timestamp_step_left_blank_is_that_of_the_heap():
    block = sink(timestamp_step="")
    assert grc_lint.block_errors(block) == []
    assert arguments(block)["timestamp_step"] is None


@pytest.mark.parametrize("field", ["heap_samples", "timestamp_step", "dscp"])
def test_a_fraction_is_no_integer(field):
    block = sink(**{field: "1.5"})
    assert grc_lint.block_errors(block) != []
    with pytest.raises(TypeError):
        spead.sink(**arguments(block))


@pytest.mark.parametrize(("field", "fields"), REFUSED)
def test_grc_refuses(field, fields):
    errors = grc_lint.block_errors(sink(**fields))
    assert any(field in error for error in errors)


@pytest.mark.parametrize(("field", "fields"), REFUSED)
def test_the_sink_refuses(field, fields):
    refused = arguments(sink(**fields))
    with pytest.raises(ValueError, match=IN_PYTHON.get(field, field)):
        spead.sink(**refused)


@pytest.mark.parametrize(("field", "fields"), ACCEPTED)
def test_grc_and_the_sink_accept(field, fields):
    block = sink(**fields)
    assert grc_lint.block_errors(block) == []
    spead.sink(**arguments(block))


@pytest.mark.parametrize(("field", "fields"), ACCEPTED)
def test_the_canvas_shows_what_was_changed(field, fields):
    assert sink(**fields).params[field].hide == "none"
