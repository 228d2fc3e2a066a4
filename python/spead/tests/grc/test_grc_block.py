# Copyright 2026 The gr-spead authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""The GRC blocks have the options, ports and labels of the Python blocks."""

import inspect
import re

import grc_lint
import pmt
import pytest
from gnuradio import spead
from grc_blocks import each_block, sink, source

ABBREVIATIONS = {"id": "ID", "ttl": "TTL"}
PORTS = {
    "int8": "byte",
    "sc8": "sc8",
    "int16": "short",
    "sc16": "sc16",
    "int32": "int",
    "float": "float",
    "complex": "complex",
}
TYPE_OPTIONS = {sink: "input_type", source: "output_type"}


def python_defaults(grc):
    """The default values in the Python signature, by parameter."""
    parameters = inspect.signature(grc.python).parameters.values()
    return {
        parameter.name: parameter.default
        for parameter in parameters
        if parameter.default is not parameter.empty
    }


def groups(grc):
    """The parameters with a default in each group of the Python docstring."""
    documentation = grc.python.__doc__.split("Parameters:\n")[1]
    found = {}
    for line in documentation.splitlines():
        if group := re.fullmatch(r"(\w+):", line):
            found[group[1]] = set()
        elif (name := line.partition(": ")[0]) in python_defaults(grc):
            found[list(found)[-1]].add(name)
    return found


def options_in_grc(grc):
    """The GRC parameters by the names of the Python parameters."""
    fields = grc().params
    del fields["affinity"]  # a built-in GRC parameter
    found = {grc.in_python(key): field for key, field in fields.items()}
    return {name: found[name] for name in found if name in python_defaults(grc)}


def stream_ports(block):
    return [port for port in block.sinks + block.sources if port.domain == "stream"]


@each_block
def test_the_tabs_are_the_groups_of_the_docstring(grc):
    tabs = {group: set() for group in groups(grc)}
    for name, parameter in options_in_grc(grc).items():
        tabs[parameter.category].add(name)
    assert tabs == groups(grc)


@each_block
def test_labels_are_derived_from_the_python_names(grc):
    for name, parameter in options_in_grc(grc).items():
        label = " ".join(ABBREVIATIONS.get(word, word) for word in name.split("_"))
        label = label[0].upper() + label[1:]
        assert re.fullmatch(rf"{label}( \(.+\))?", parameter.name)


@each_block
def test_the_description_follows_the_schema(grc):
    assert grc_lint.schema_errors(grc.description) == []


@each_block
def test_the_block_has_every_option_and_its_default(grc):
    found = grc.arguments(grc())
    del found[grc.endpoints]
    usual = {"input_type": "complex", "output_type": "complex"}  # in GRC
    assert found == {
        name: usual.get(name, value) for name, value in python_defaults(grc).items()
    }


@each_block
def test_every_callback_calls_a_method(grc):
    for callback in grc().templates.render("callbacks"):
        method, values = re.fullmatch(r"(\w+)\((.+)\)", callback).groups()
        instance = grc.make(grc(**grc.with_streams(1)))
        getattr(instance, method)(*eval(f"({values},)", {"spead": spead}))


def check_stream_ports(grc, block):
    """The ports are those of the Python block; returns them."""
    assert grc_lint.block_errors(block) == []
    instance = grc.make(block)
    signature = (
        instance.input_signature() if grc is sink else instance.output_signature()
    )
    ports = stream_ports(block)
    assert len(ports) == signature.max_streams()
    assert {port.item_size for port in ports} == {signature.sizeof_stream_item(0)}
    return ports


@pytest.mark.parametrize("sample_type", PORTS)
@each_block
def test_the_stream_ports_match_the_python_block(grc, sample_type):
    ports = check_stream_ports(
        grc, grc(**{TYPE_OPTIONS[grc]: sample_type}, **grc.with_streams(8))
    )
    assert len(ports) == 8
    # GRC selects the colour of a port by its dtype.
    assert {port.dtype for port in ports} == {PORTS[sample_type]}


@pytest.mark.parametrize("axes", ["time=3", "a = 3,channel=2/ 4,pol=3"])
@each_block
def test_the_ports_have_the_axes(grc, axes):
    options = {}
    if grc is sink:
        index = "spead.immediate(1000, 'channel', [])," if "/" in axes else ""
        options["items"] = f"[spead.timestamp(), {index} spead.samples()]"
    check_stream_ports(grc, grc(axes=axes, **options))


@each_block
def test_the_message_ports_match_the_python_block_and_are_optional(grc):
    block = grc(**grc.with_streams(1))
    instance = grc.make(block)
    for ports, registered in (
        (block.sinks, instance.message_ports_in()),
        (block.sources, instance.message_ports_out()),
    ):
        messages = [port for port in ports if port.domain == "message"]
        assert all(port.optional for port in messages)
        names = {port.key for port in messages}
        assert names == set(pmt.to_python(registered)) - {"system"}
