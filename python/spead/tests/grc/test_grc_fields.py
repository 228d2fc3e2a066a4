# Copyright 2026 The gr-spead authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""What may be written in the fields of the block, and what GRC says of the rest."""

import os
import subprocess
from fractions import Fraction

import grc_lint
import pytest
from gnuradio import spead
from grc_sink import IN_GRC, arguments, platform, sink, written
from places import ROOT
from possible_options import POSSIBLE

each_possible = pytest.mark.parametrize("options", POSSIBLE, ids=" ".join)


def errors(**fields):
    return grc_lint.block_errors(sink(**fields))


@each_possible
def test_what_is_possible_is_accepted_and_passed_on(options):
    block = sink(**written(options))
    assert grc_lint.block_errors(block) == []
    passed = arguments(block)
    assert {name: passed[name] for name in options} == options


def is_exact_on_the_canvas(parameter):
    """GRC writes integers from 1000 on with a suffix, and shortens texts."""
    value = parameter.get_evaluated()
    if parameter.get_value() in parameter.options or isinstance(value, bool):
        return True
    if isinstance(value, int):
        return value < 1000
    if isinstance(value, str):
        return len(value) <= 27 - len(parameter.name)
    return not isinstance(value, list)


@each_possible
def test_the_canvas_shows_what_was_changed_if_that_is_exact(options):
    changed = next(iter(options))
    if changed == "heap_samples":  # is always shown
        return
    shown = sink(**written(options)).params[IN_GRC.get(changed, changed)]
    assert shown.hide == ("none" if is_exact_on_the_canvas(shown) else "part")


@pytest.mark.parametrize(
    "name", ["max_packet_size", "burst_size", "buffer_size", "socket_buffer"]
)
def test_the_canvas_shows_listed_sizes(name):
    default, sizes = sink().params[name].default, sink().params[name].options
    assert len(sizes) > 3
    for size in sizes:
        hide = sink(**{name: size}).params[name].hide
        assert hide == ("part" if size == default else "none")


@pytest.mark.parametrize(
    "fields",
    [
        {"destinations": "localhost"},
        {"destinations": "['localhost:1', 'localhost:2']"},
        {"destinations": "127.0.0.1 :7148"},
        {"destinations": "127.0.0.1:0"},
        {"heap_samples": "0"},
        {"max_packet_size": "79"},
        {"byte_order": "little", "input_type": "int16"},
        {"scale": "float('nan')", "input_type": "float"},
        {"items": "[spead.samples(), spead.timestamp(name='adc_samples')]"},
        {"items": "['samples']"},
        {"timestamp_step": "1.5"},
        {"timestamp_source": "rx_time"},
        {"sample_rate": "8e6 / 7", "timestamp_source": "rx_time"},
        {"sync_time": "noon", "timestamp_source": "rx_time", "sample_rate": "1"},
        {"tail": "cut"},
        {"rate": "-1"},
    ],
    ids=str,
)
def test_grc_shows_the_error_of_the_sink(fields):
    block = sink(**fields)
    with pytest.raises((ValueError, TypeError), match=r"^spead\.sink: ") as refused:
        spead.sink(**arguments(block))
    (error,) = grc_lint.block_errors(block)
    assert error == f"Value '{refused.value}' not in allowed values"


@pytest.mark.parametrize("text", ["[::1]", "['host:1'; 'host:2']", "('host:1'"])
def test_destinations_that_are_neither_text_nor_list_are_refused_as_text(text):
    (error,) = errors(destinations=text)
    assert f'spead.sink: destinations = "{text}" is not possible' in error


def test_the_sender_thread_is_named_as_in_grc():
    """There "affinity" is the one of the block's own thread."""
    (error,) = errors(sender_affinity="-2")
    assert "spead.sink: sender_affinity = -2 is not possible; allowed: -1 to" in error


def test_grc_shows_why_an_item_is_refused():
    items = "[spead.samples(), spead.immediate(0x3101, 'x', -1)]"
    with pytest.raises(ValueError, match=r"^spead\.immediate: value = -1") as refused:
        eval(items)
    (error,) = errors(items=items)
    assert str(refused.value) in error


@pytest.mark.parametrize(
    "fields",
    [
        {"rate": "unknown"},
        {"scale": "unknown", "input_type": "float"},
        # neither is possible with the default of the other
        {"items": "unknown", "max_packet_size": "64"},
        {"num_inputs": "unknown", "destinations": "['host:1', 'host:2']"},
    ],
    ids=str,
)
def test_the_sink_says_nothing_where_a_field_has_no_value(fields):
    found = errors(**fields)
    assert "name 'unknown' is not defined" in found[0]
    assert not any("spead.sink" in error for error in found)


@pytest.mark.parametrize(
    "fields",
    [
        {"destinations": "no-such-host.invalid:1"},
        {"interface": "nosuch0"},
        {"sender_affinity": str(os.sysconf("SC_NPROCESSORS_CONF"))},
        {"buffer_size": str(2**62)},
    ],
    ids=str,
)
def test_what_depends_on_the_host_that_runs_the_flow_graph_is_not_refused(fields):
    assert errors(**fields) == []


def test_the_error_comes_and_goes_with_the_value():
    """In the window, where the block alone is looked at after each key."""
    block = sink()
    for text, count in (("-1", 1), ("-", 2), ("1", 0)):
        block.params["rate"].set_value(text)
        block.rewrite()
        block.validate()
        assert len(grc_lint.block_errors(block)) == count


def test_grcc_ends_with_the_error(tmp_path):
    example = (ROOT / "examples" / "spead_noise.grc").read_text()
    refused = example.replace("heap_samples: '8192'", "heap_samples: '0'")
    assert refused != example
    (tmp_path / "refused.grc").write_text(refused)
    program = subprocess.run(
        ["grcc", "-o", tmp_path, tmp_path / "refused.grc"],
        env=os.environ | {"GRC_BLOCKS_PATH": str(ROOT / "grc")},
        stdout=subprocess.PIPE,
        text=True,
        timeout=120,
    )
    assert program.returncode != 0
    assert "spead_sink_0" in program.stdout
    assert "spead.sink: heap_samples = 0 is not possible; allowed: 1" in program.stdout


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
    ("text", "destinations"),
    [
        ("[::1]:7148", "[::1]:7148"),
        ("'host:1'", "host:1"),
        (" ['host:1', '[::1]:' + str(2)] ", ["host:1", "[::1]:2"]),
        ("('host:1', 'host:2,host:3')", ("host:1", "host:2,host:3")),
    ],
)
def test_destinations_are_a_text_or_a_list(text, destinations):
    block = sink(destinations=text, num_inputs="2")
    assert grc_lint.block_errors(block) == []
    assert arguments(block)["destinations"] == destinations


# Fields that only matter with another one, and what makes them matter.
DEPENDENT = [
    ("scale", "2.5", {"input_type": "float"}),
    ("sample_bits", "16", {"input_type": "complex"}),
    ("byte_order", "little", {"input_type": "int16", "tail": "pad"}),
    ("sync_time", "15.5", {"timestamp_source": "rx_time", "sample_rate": "10"}),
    ("on_gap", "ignore", {"timestamp_source": "rx_time", "sample_rate": "10"}),
    ("on_start", "zero_fill", {"timestamp_source": "rx_time", "sample_rate": "10"}),
    ("sample_rate", "10", {"timestamp_source": "rx_time"}),
    ("timestamp_start", "7", {"timestamp_source": "count"}),
    ("descriptor_interval", "5", {"descriptors": "separate"}),
]
DOES_NOT_MATTER = {
    "timestamp_start": {"timestamp_source": "rx_time", "sample_rate": "10"},
    "descriptor_interval": {"descriptors": "none"},
}


@pytest.mark.parametrize(("field", "value", "needed"), DEPENDENT)
def test_what_does_not_matter_is_hidden_unless_it_is_set(field, value, needed):
    """Then GRC shows the field, and why it is refused."""
    others = DOES_NOT_MATTER.get(field, {})
    assert sink(**others).params[field].hide == "all"
    refused = sink(**{field: value}, **others)
    assert refused.params[field].hide == "none"
    (error,) = grc_lint.block_errors(refused)
    assert f"spead.sink: {field} = " in error
    accepted = sink(**{field: value}, **needed)
    assert accepted.params[field].hide == "none"
    assert grc_lint.block_errors(accepted) == []


def test_the_skew_of_one_input_is_hidden():
    assert sink().params["max_skew"].hide == "all"
    assert sink(num_inputs="2").params["max_skew"].hide == "part"


def test_a_sample_rate_may_be_a_fraction():
    rate = "__import__('fractions').Fraction(8000000, 7)"
    block = sink(sample_rate=rate, timestamp_source="rx_time")
    assert grc_lint.block_errors(block) == []
    assert arguments(block)["sample_rate"] == Fraction(8000000, 7)


def test_a_timestamp_step_left_blank_is_that_of_the_heap():
    block = sink(timestamp_step="")
    assert grc_lint.block_errors(block) == []
    assert arguments(block)["timestamp_step"] is None
