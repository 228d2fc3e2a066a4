# Copyright 2026 The gr-spead authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""The block in GNU Radio Companion: the options, ports and words of the sink."""

import ast
import re

import grc_lint
import pmt
import pytest
from gnuradio import spead
from grc_sink import DESCRIPTION, IN_PYTHON, arguments, sink

ESSENTIALS = ["input_type", "destinations", "heap_samples"]
ABBREVIATIONS = {"id": "ID", "ttl": "TTL", "dscp": "DSCP", "gso": "GSO"}


def python_defaults():
    """The arguments of spead.sink that have a default, out of its signature."""
    signature = spead.sink.__init__.__doc__.splitlines()[0]
    spec = ast.parse(f"def {signature}: ...").body[0].args
    optional = spec.args[-len(spec.defaults) :] + spec.kwonlyargs
    return {
        argument.arg: eval(ast.unparse(default), {"spead": spead})
        for argument, default in zip(
            optional, spec.defaults + spec.kw_defaults, strict=True
        )
    }


def groups():
    """The parameters with a default in each group of Python's documentation."""
    documentation = spead.sink.__doc__.split("Parameters:\n")[1]
    found = {}
    for line in documentation.splitlines():
        if group := re.fullmatch(r"(\w+):", line):
            found[group[1]] = set()
        elif (name := line.partition(": ")[0]) in python_defaults():
            found[list(found)[-1]].add(name)
    return found


def options_in_grc():
    """Name in Python -> parameter in GRC."""
    fields = sink().params
    del fields["affinity"]  # that of GRC
    found = {IN_PYTHON.get(key, key): field for key, field in fields.items()}
    return {name: found[name] for name in found if name in python_defaults()}


def test_the_tabs_are_the_groups_of_the_documentation():
    tabs = {group: set() for group in groups()}
    for name, parameter in options_in_grc().items():
        tabs[parameter.category].add(name)
    assert tabs == groups()


def test_labels_are_the_names_of_python():
    for name, parameter in options_in_grc().items():
        label = " ".join(ABBREVIATIONS.get(word, word) for word in name.split("_"))
        label = label[0].upper() + label[1:]
        assert re.fullmatch(rf"{label}( \(.+\))?", parameter.name)


def test_the_description_follows_the_schema():
    assert grc_lint.schema_errors(DESCRIPTION) == []


def test_the_block_is_valid_as_it_comes():
    assert grc_lint.block_errors(sink()) == []


def test_the_block_has_every_option_and_its_default():
    found = arguments(sink())
    del found["destinations"]
    assert found == python_defaults()


def test_the_block_makes_a_sink():
    assert isinstance(spead.sink(**arguments(sink())), spead.sink)


def test_every_callback_is_a_method_of_the_sink():
    for callback in sink().templates.render("callbacks"):
        method, values = re.fullmatch(r"(\w+)\((.+)\)", callback).groups()
        getattr(spead.sink(**arguments(sink())), method)(eval(values))


@pytest.mark.parametrize("inputs", [1, 2, 8])
@pytest.mark.parametrize("kind", ["int8", "sc8", "int16", "sc16", "float", "complex"])
def test_the_ports_are_those_of_the_sink(kind, inputs):
    block = sink(input_type=kind, num_inputs=str(inputs))
    assert grc_lint.block_errors(block) == []
    signature = spead.sink(**arguments(block)).input_signature()
    streams = [port for port in block.sinks if port.domain == "stream"]
    assert len(streams) == inputs == signature.max_streams()
    sizes = {port.item_size for port in streams}
    assert sizes == {signature.sizeof_stream_item(0)}


def test_the_types_have_colours_of_their_own():
    kinds = ["int8", "sc8", "int16", "sc16", "float", "complex"]
    ports = [sink(input_type=kind).sinks[0].dtype for kind in kinds]
    assert ports == ["byte", "sc8", "short", "sc16", "float", "complex"]


def test_the_message_ports_are_those_of_the_sink_and_need_no_connection():
    block = sink()
    made = spead.sink(**arguments(block))
    for ports, registered in (
        (block.sinks, made.message_ports_in()),
        (block.sources, made.message_ports_out()),
    ):
        messages = [port for port in ports if port.domain == "message"]
        assert all(port.optional for port in messages)
        names = {port.key for port in messages}
        assert names == set(pmt.to_python(registered)) - {"system"}


def test_the_canvas_shows_the_essentials():
    shown = [key for key, param in sink().params.items() if param.hide == "none"]
    assert shown == ESSENTIALS
