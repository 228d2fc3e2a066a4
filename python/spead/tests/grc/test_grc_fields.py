# Copyright 2026 The gr-spead authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Field values that GRC accepts, and the errors that it shows for others."""

import inspect
import os
import re

import grc_lint
import pytest
from gnuradio import spead
from grc_blocks import BLOCKS, each_block, platform, sink, source
from inputs import run_all
from possible_options import ITEMS, POSSIBLE
from receiving import destination
from streams import noise


@each_block
def test_every_valid_option_is_passed_to_the_block(grc):
    for options in POSSIBLE[grc.name]:
        block = grc(**grc.written(options))
        assert grc_lint.block_errors(block) == []
        passed = grc.arguments(block)
        assert {name: passed[name] for name in options} == options


def with_fields(rows):
    """Parametrize a test with rows of a block and its fields."""
    return pytest.mark.parametrize(("grc", "fields"), rows, ids=str)


@with_fields(
    [
        (sink, {"destinations": "['localhost:1', 'localhost:2']"}),
        (sink, {"heap_samples": "0"}),
        (sink, {"items": "[spead.samples(), spead.timestamp(name='adc_samples')]"}),
        (sink, {"sender_affinity": "-2"}),
        (sink, {"sync_time": "noon", "sample_rate": "1"}),
        (source, {"num_outputs": "2"}),
        (source, {"scale": "float('nan')", "output_type": "float"}),
        (source, {"on_missing": "wait"}),
    ]
)
def test_grc_shows_the_error_of_the_block(grc, fields):
    block = grc(**fields)
    name = rf"^spead\.{grc.name}: "
    with pytest.raises((ValueError, TypeError), match=name) as raised:
        grc.make(block)
    (error,) = grc_lint.block_errors(block)
    name, value, allowed = re.fullmatch(
        r"spead\.\w+: (\w+)(.*) is invalid; allowed: (.*)", str(raised.value)
    ).groups()
    name = grc.in_grc(name)
    label, tab = label_of(block, name), block.params[name].category
    for option in block.params:
        if "_" in option or option == grc.endpoints:
            allowed = allowed.replace(option, label_of(block, option))
    expected = f"{label}{value} (tab {tab}); allowed: {allowed}"
    assert error == f"Value '{expected}' not in allowed values"


def label_of(block, field):
    """The label without its unit."""
    return block.params[field].name.partition(" (")[0]


@pytest.mark.parametrize("text", ["[::1]", "['host:1'; 'host:2']"])
@each_block
def test_malformed_endpoint_lists_are_rejected_as_strings(grc, text):
    block = grc(**{grc.endpoints: text})
    (error,) = grc_lint.block_errors(block)
    assert f'{label_of(block, grc.endpoints)} = "{text}" (tab General); all' in error


@with_fields(
    [
        (sink, {"rate": "unknown"}),
        # Neither value is valid with the default of the other.
        (sink, {"items": "unknown", "max_packet_size": "64"}),
        (source, {"num_outputs": "unknown", "endpoints": "['host:1', 'host:2']"}),
    ]
)
def test_an_undefined_variable_causes_no_error_of_the_block(grc, fields):
    found = grc_lint.block_errors(grc(**fields))
    assert "name 'unknown' is not defined" in found[0]
    assert not any("; allowed: " in error for error in found)


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
def test_grc_accepts_values_that_only_the_running_host_can_check(grc, fields):
    assert grc_lint.block_errors(grc(**fields)) == []


@each_block
def test_errors_are_updated_while_the_user_types(grc):
    """The properties dialog validates only the block, after each keystroke."""
    block = grc()
    for text, count in (("-1", 1), ("-", 2), ("1", 0)):
        block.params["heap_samples"].set_value(text)
        block.rewrite()
        block.validate()
        assert len(grc_lint.block_errors(block)) == count


def test_items_may_use_variables():
    """A callback updates them while the flow graph runs."""
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
    callback = f"self.sink._set_from_grc('set_items', lambda: {items})"
    assert callback in block.get_callbacks()


def test_a_refused_value_of_a_running_flow_graph_is_logged(sock, receiver, capfd):
    """Widgets have floats, and an exception in a slot of Qt ends the program."""
    state = 7.0

    def items():
        return [*ITEMS, spead.immediate(0x3101, "state", state)]

    sender = spead.sink(destination(sock), heap_samples=1000, items=items(), rate=1e6)
    for state, rate in ((8.0, 2e6), (8.5, -1), (-1.0, "fast")):  # noqa: B007
        sender._set_from_grc("set_items", items)
        sender._set_from_grc("set_rate", lambda rate=rate: rate)
    run_all(sender, noise(1000))
    receiver.next_heaps(1)
    assert receiver.items["state"].value == 8
    assert sender.rate() == 2e6
    log = capfd.readouterr().out
    for text in ("value = 8.5", "value = -1", "rate = -1", "rate = 'fast'"):
        assert text in log


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
def test_endpoints_are_a_string_or_a_list(grc, text, endpoints):
    """GRC does not know the number of endpoints."""
    items = "[spead.timestamp(), spead.samples(), spead.immediate(0x3101, 'x', [1, 2])]"
    streams = {f"num_{grc.streams}": "2", "items": items}
    block = grc(**{grc.endpoints: text}, **streams)
    assert grc_lint.block_errors(block) == []
    assert grc.arguments(block)[grc.endpoints] == endpoints


@pytest.mark.parametrize(
    ("grc", "name"),
    [
        *((grc, name) for grc in BLOCKS for name in ("timestamp_step", "sample_rate")),
        (source, "items"),
    ],
    ids=str,
)
def test_a_blank_field_has_its_default(grc, name):
    block = grc(**{name: ""})
    assert grc_lint.block_errors(block) == []
    assert grc.arguments(block)[name] is None


@each_block
def test_the_number_of_ports_is_limited(grc):
    """GRC would run out of memory with a million ports."""
    block = grc(**{f"num_{grc.streams}": "1000"})
    ports = [*block.sinks, *block.sources]
    assert len([port for port in ports if port.domain == "stream"]) == 64
    (error,) = grc_lint.block_errors(block)
    assert f"Num {grc.streams} = 1000 (tab General); allowed: 1 to 64" in error


@pytest.mark.parametrize(
    ("text", "is_shown"),
    [
        ("192.168.100.200:65535", True),
        ("239.102.0.0+7:7148, 239.102.0.8+7:7148", False),
    ],
)
@each_block
def test_the_canvas_shows_whole_addresses_or_none(grc, text, is_shown):
    """GRC cuts the middle of a value if it and its label exceed 27 characters."""
    field = grc(**{grc.endpoints: text}).params[grc.endpoints]
    assert field.hide == ("none" if is_shown else "part")
    assert is_shown == (len(field.name) + len(text) <= 27)


@each_block
def test_the_canvas_shows_axes_but_not_what_they_replace(grc):
    fields = grc(axes="channel=8, pol=2").params
    assert fields["axes"].hide == "none"
    assert fields["heap_samples"].hide == fields[f"num_{grc.streams}"].hide == "part"
    fields = grc().params
    assert fields["axes"].hide == fields[f"num_{grc.streams}"].hide == "part"


@each_block
def test_no_field_appears_or_vanishes_while_another_one_is_edited(grc):
    """GRC would rebuild the dialog, and the rest of what is typed would get lost."""

    def fields(**values):
        params = grc(**values).params
        return {key: param.hide == "all" for key, param in params.items()}

    for values in (
        {"axes": "channel=8"},
        {"timestamp_step": "8"},
        {"items": "[spead.samples()]"},
        {"sample_rate": "1"},
        {grc.endpoints: "x"},
        {f"num_{grc.streams}": "2"},
    ):
        assert fields(**values) == fields(), values


@each_block
def test_the_documentation_has_all_fields(grc):
    block = grc()
    text = block.documentation[""]
    labels = {
        block.params[key].name
        for key in inspect.signature(getattr(spead, grc.name)).parameters
        if key in block.params and key != "affinity"  # of the scheduler's thread
    }
    assert {label for label in labels if f"\n{label}:\n" not in text} == set()


@each_block
def test_presets_are_accepted(grc):
    params = grc().params
    for items in params["items"].options:
        for axes in params["axes"].options:
            fields = {"items": items, "axes": axes}
            if grc is sink:
                if bool(axes.count("/")) != ("[]" in items):
                    continue  # belongs to other items
            elif "/" in axes and "frequency" not in items and items != "None":
                continue
            assert grc_lint.block_errors(grc(**fields)) == []
