# Copyright 2026 The gr-spead authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""The blocks in GNU Radio Companion: the options, ports and words of Python."""

import ast
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
    "float": "float",
    "complex": "complex",
}


def python_defaults(grc):
    """The arguments of Python that have a default, out of its signature."""
    signature = grc.python.__init__.__doc__.splitlines()[0]
    spec = ast.parse(f"def {signature}: ...").body[0].args
    optional = spec.args[len(spec.args) - len(spec.defaults) :] + spec.kwonlyargs
    return {
        argument.arg: eval(ast.unparse(default), {"spead": spead})
        for argument, default in zip(
            optional, spec.defaults + spec.kw_defaults, strict=True
        )
    }


def groups(grc):
    """The parameters with a default in each group of Python's documentation."""
    documentation = grc.python.__doc__.split("Parameters:\n")[1]
    found = {}
    for line in documentation.splitlines():
        if group := re.fullmatch(r"(\w+):", line):
            found[group[1]] = set()
        elif (name := line.partition(": ")[0]) in python_defaults(grc):
            found[list(found)[-1]].add(name)
    return found


def options_in_grc(grc):
    """Name in Python -> parameter in GRC."""
    fields = grc().params
    del fields["affinity"]  # that of GRC
    found = {grc.in_python(key): field for key, field in fields.items()}
    return {name: found[name] for name in found if name in python_defaults(grc)}


def streams(filled):
    return [port for port in filled.sinks + filled.sources if port.domain == "stream"]


@each_block
def test_the_tabs_are_the_groups_of_the_documentation(grc):
    tabs = {group: set() for group in groups(grc)}
    for name, parameter in options_in_grc(grc).items():
        tabs[parameter.category].add(name)
    assert tabs == groups(grc)


@each_block
def test_labels_are_the_names_of_python(grc):
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
    assert found == python_defaults(grc)


@each_block
def test_every_callback_is_a_method(grc):
    for callback in grc().templates.render("callbacks"):
        method, values = re.fullmatch(r"(\w+)\((.+)\)", callback).groups()
        made = grc.make(grc(**grc.with_streams(1)))
        getattr(made, method)(eval(values))


@pytest.mark.parametrize("count", [1, 8])
@pytest.mark.parametrize("kind", PORTS)
@each_block
def test_the_ports_are_those_of_the_block_in_python(grc, kind, count):
    sample_type = {sink: "input_type", source: "output_type"}[grc]
    filled = grc(**{sample_type: kind}, **grc.with_streams(count))
    assert grc_lint.block_errors(filled) == []
    made = grc.make(filled)
    signature = made.input_signature() if grc is sink else made.output_signature()
    assert len(streams(filled)) == count == signature.max_streams()
    sizes = {port.item_size for port in streams(filled)}
    assert sizes == {signature.sizeof_stream_item(0)}
    # each type has a colour of its own
    assert {port.dtype for port in streams(filled)} == {PORTS[kind]}


@each_block
def test_the_message_ports_are_those_of_python_and_need_no_connection(grc):
    filled = grc(**grc.with_streams(1))
    made = grc.make(filled)
    for ports, registered in (
        (filled.sinks, made.message_ports_in()),
        (filled.sources, made.message_ports_out()),
    ):
        messages = [port for port in ports if port.domain == "message"]
        assert all(port.optional for port in messages)
        names = {port.key for port in messages}
        assert names == set(pmt.to_python(registered)) - {"system"}
