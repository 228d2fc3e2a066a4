# Copyright 2026 The gr-spead authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Values of the fields that GRC accepts, and the errors that it shows for others."""

import os
import subprocess
from fractions import Fraction

import grc_lint
import pytest
from gnuradio import spead
from grc_blocks import BLOCKS, each_block, platform, sink, source
from places import ROOT
from possible_options import POSSIBLE


@each_block
def test_every_possible_option_is_passed_on(grc):
    for options in POSSIBLE[grc.name]:
        filled = grc(**grc.written(options))
        assert grc_lint.block_errors(filled) == []
        passed = grc.arguments(filled)
        assert {name: passed[name] for name in options} == options


def with_fields(rows):
    """Rows of a block and its fields."""
    return pytest.mark.parametrize(("grc", "fields"), rows, ids=str)


@with_fields(
    [
        (sink, {"destinations": "['localhost:1', 'localhost:2']"}),
        (sink, {"heap_samples": "0"}),
        (sink, {"scale": "float('nan')", "input_type": "float"}),
        (sink, {"items": "[spead.samples(), spead.timestamp(name='adc_samples')]"}),
        (sink, {"timestamp_step": "1.5"}),
        (sink, {"sample_rate": "8e6 / 7"}),
        (sink, {"sync_time": "noon", "sample_rate": "1"}),
        (source, {"endpoints": "['localhost:1', 'localhost:2']"}),
        (source, {"num_outputs": "2"}),
        (source, {"scale": "float('nan')", "output_type": "float"}),
        (source, {"items": "[spead.timestamp()]"}),
        (source, {"sample_rate": "8e6 / 7"}),
        (source, {"sync_time": "noon", "sample_rate": "1"}),
        (source, {"on_missing": "wait"}),
    ]
)
def test_grc_shows_the_error_of_the_block(grc, fields):
    filled = grc(**fields)
    name = rf"^spead\.{grc.name}: "
    with pytest.raises((ValueError, TypeError), match=name) as refused:
        grc.make(filled)
    (error,) = grc_lint.block_errors(filled)
    assert error == f"Value '{refused.value}' not in allowed values"


@pytest.mark.parametrize("text", ["[::1]", "['host:1'; 'host:2']", "('host:1'"])
@each_block
def test_endpoints_that_are_neither_text_nor_list_are_refused_as_text(grc, text):
    (error,) = grc_lint.block_errors(grc(**{grc.endpoints: text}))
    assert f'spead.{grc.name}: {grc.endpoints} = "{text}" is invalid' in error


def test_the_thread_of_the_network_is_named_as_in_grc():
    """There "affinity" is the one of the block's own thread."""
    (error,) = grc_lint.block_errors(sink(sender_affinity="-2"))
    assert "spead.sink: sender_affinity = -2 is invalid; allowed: " in error


@each_block
def test_grc_shows_why_an_item_is_refused(grc):
    items = "[spead.samples(), spead.immediate(0x3101, 'x', -1)]"
    with pytest.raises(ValueError, match=r"^spead\.immediate: value = -1") as refused:
        eval(items, {"spead": spead})
    (error,) = grc_lint.block_errors(grc(items=items))
    assert str(refused.value) in error


@with_fields(
    [
        (sink, {"rate": "unknown"}),
        (sink, {"scale": "unknown", "input_type": "float"}),
        # neither is possible with the default of the other
        (sink, {"items": "unknown", "max_packet_size": "64"}),
        (sink, {"num_inputs": "unknown", "destinations": "['host:1', 'host:2']"}),
        (source, {"max_gap": "unknown"}),
        (source, {"scale": "unknown", "output_type": "float"}),
        (source, {"items": "unknown"}),
        (source, {"num_outputs": "unknown", "endpoints": "['host:1', 'host:2']"}),
    ]
)
def test_the_block_says_nothing_where_a_field_has_no_value(grc, fields):
    found = grc_lint.block_errors(grc(**fields))
    assert "name 'unknown' is not defined" in found[0]
    assert not any("spead." in error for error in found)


@with_fields(
    [
        (grc, fields)
        for grc in BLOCKS
        for fields in (
            {grc.endpoints: "no-such-host.invalid:1"},
            {"interface": "nosuch0"},
            {"buffer_size": {sink: str(2**62), source: str(2**40)}[grc]},
        )
    ]
    + [(sink, {"sender_affinity": str(os.sysconf("SC_NPROCESSORS_CONF"))})]
)
def test_what_depends_on_the_host_that_runs_the_flow_graph_is_not_refused(grc, fields):
    assert grc_lint.block_errors(grc(**fields)) == []


@each_block
def test_the_error_comes_and_goes_with_the_value(grc):
    """In the window, where the block alone is looked at after each key."""
    filled = grc()
    for text, count in (("-1", 1), ("-", 2), ("1", 0)):
        filled.params["heap_samples"].set_value(text)
        filled.rewrite()
        filled.validate()
        assert len(grc_lint.block_errors(filled)) == count


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
    assert "spead.sink: heap_samples = 0 is invalid; allowed: 1" in program.stdout


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
    ("text", "endpoints"),
    [
        ("[::1]:7148", "[::1]:7148"),
        ("'host:1'", "host:1"),
        (" ['host:1', '[::1]:' + str(2)] ", ["host:1", "[::1]:2"]),
        ("('host:1', 'host:2,host:3')", ("host:1", "host:2,host:3")),
    ],
)
@each_block
def test_endpoints_are_a_text_or_a_list(grc, text, endpoints):
    items = "[spead.timestamp(), spead.samples(), spead.immediate(0x3101, 'x', [1, 2])]"
    streams = {f"num_{grc.streams}": "2", "items": items}
    filled = grc(**{grc.endpoints: text}, **streams)
    assert grc_lint.block_errors(filled) == []
    assert grc.arguments(filled)[grc.endpoints] == endpoints


def test_a_list_of_endpoints_with_variables_tells_outputs_apart():
    """How many there are is not known to GRC."""
    filled = source(endpoints="['host:1', 'host:' + str(2)]", num_outputs="2")
    assert grc_lint.block_errors(filled) == []


@each_block
def test_a_sample_rate_may_be_a_fraction(grc):
    rate = "__import__('fractions').Fraction(8000000, 7)"
    filled = grc(sample_rate=rate)
    assert grc_lint.block_errors(filled) == []
    assert grc.arguments(filled)["sample_rate"] == Fraction(8000000, 7)


@with_fields(
    [
        (sink, {"timestamp_step": ""}),
        (source, {"timestamp_step": ""}),
        (source, {"items": ""}),
        (sink, {"sample_rate": ""}),
        (source, {"sample_rate": ""}),
    ]
)
def test_a_field_left_blank_has_its_default(grc, fields):
    filled = grc(**fields)
    assert grc_lint.block_errors(filled) == []
    (name,) = fields
    assert grc.arguments(filled)[name] is None


@each_block
def test_a_number_of_streams_that_is_refused_adds_no_more_ports(grc):
    """A million of them would take all memory."""
    filled = grc(**{f"num_{grc.streams}": "1000"})
    ports = [*filled.sinks, *filled.sources]
    assert len([port for port in ports if port.domain == "stream"]) == 64
    (error,) = grc_lint.block_errors(filled)
    assert f"num_{grc.streams} = 1000 is invalid; allowed: 1 to 64" in error
