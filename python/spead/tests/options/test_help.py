# Copyright 2026 The gr-spead authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""The docstrings agree with the signatures, methods and counters."""

import inspect
import re

import pytest
import spead2.recv
from gnuradio import spead
from possible_options import make

BLOCKS = {"sink": spead.sink, "source": spead.source}
METHODS = {
    block: [name for name in vars(block_class) if not name.startswith("_")]
    for block, block_class in BLOCKS.items()
}
FUNCTIONS = {
    "timestamp": spead.timestamp,
    "samples": spead.samples,
    "immediate": spead.immediate,
    **BLOCKS,
    **{
        f"{block}.{name}": getattr(BLOCKS[block], name)
        for block, names in METHODS.items()
        for name in names
    },
}
ERRORS = {"std::invalid_argument": "ValueError", "std::runtime_error": "RuntimeError"}

each_function = pytest.mark.parametrize("name", FUNCTIONS)


def parameters(name):
    """Parameter names in the signature."""
    return [
        name for name in inspect.signature(FUNCTIONS[name]).parameters if name != "self"
    ]


def description(name):
    """The docstring without the signature with types."""
    return re.sub(r"^\w+\(.*\) -> .*\n\n", "", FUNCTIONS[name].__doc__)


def test_signatures_are_found():
    assert parameters("immediate") == ["id", "name", "value", "description"]
    assert parameters("sink.set_item") == ["item", "value", "input"]
    assert parameters("sink")[:2] == ["destinations", "heap_samples"]
    assert parameters("source")[:2] == ["endpoints", "output_type"]


@each_function
def test_every_parameter_is_described_in_order(name):
    """stats() lists the counters that it returns instead."""
    described = re.findall(r"^(\w+): ", description(name), re.M)
    block, _, method = name.partition(".")
    if method == "stats":
        assert described == list(make(block).stats())
    elif described or "." not in name:
        assert described == parameters(name)


@each_function
def test_names_in_descriptions_exist(name):
    """As options, methods, counters or parameters of spead2; Linux uses upper case."""
    block = name.partition(".")[0]
    if block not in BLOCKS:  # the factory functions of items
        block = "sink"
    known = {*parameters(block), *METHODS[block], *make(block).stats()}
    known |= {*dir(spead2.recv.StreamConfig)}
    prose = re.sub(r'"[^"]*"|std::\w+', "", description(name))
    mentioned = set(re.findall(r"\b[a-z]+_\w+\b|\b\w+(?==)", prose))
    assert mentioned - known == set()


@each_function
def test_exceptions_are_listed_with_their_python_names(name):
    for cpp, python in re.findall(
        r"(std::\w+)(?: \(in Python: (\w+)\))?", description(name)
    ):
        assert python == ERRORS[cpp]
