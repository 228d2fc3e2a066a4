# Copyright 2026 The gr-spead authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""What help() says agrees with what there is in Python."""

import ast
import re

import pytest
import spead2.recv
from gnuradio import spead
from possible_options import make

BLOCKS = {"sink": spead.sink, "source": spead.source}
METHODS = {
    block: [name for name in vars(kind) if not name.startswith("_")]
    for block, kind in BLOCKS.items()
}
FUNCTIONS = {
    "timestamp": spead.timestamp,
    "samples": spead.samples,
    "immediate": spead.immediate,
    **{block: kind.__init__ for block, kind in BLOCKS.items()},
    **{
        f"{block}.{name}": getattr(BLOCKS[block], name)
        for block, names in METHODS.items()
        for name in names
    },
}
ERRORS = {"std::invalid_argument": "ValueError", "std::runtime_error": "RuntimeError"}

each_function = pytest.mark.parametrize("name", FUNCTIONS)


def parameters(name):
    """The names in the signatures."""
    signatures = re.findall(r"^(?:\d\. )?(\w+\(.*\)) ->", FUNCTIONS[name].__doc__, re.M)
    specs = [ast.parse(f"def {text}: ...").body[0].args for text in signatures]
    names = [argument.arg for one in specs for argument in (*one.args, *one.kwonlyargs)]
    return [name for name in dict.fromkeys(names) if name != "self"]


def text(name):
    """What is said besides the signature."""
    if name in BLOCKS:
        return BLOCKS[name].__doc__
    return re.sub(r"^(\d\. )?\w+\(.*", "", FUNCTIONS[name].__doc__, flags=re.M)


def test_signatures_are_found():
    assert parameters("immediate") == ["id", "name", "value", "description"]
    assert parameters("sink.set_item") == ["item", "value", "input"]
    assert parameters("sink")[:2] == ["destinations", "heap_samples"]
    assert parameters("source")[:2] == ["endpoints", "output_type"]


@each_function
def test_a_list_of_names_is_that_of_the_parameters(name):
    """Or that of the counters, where it is about what is returned."""
    named = re.findall(r"^(\w+): ", text(name), re.M)
    block, _, method = name.partition(".")
    if method == "stats":
        assert named == list(make(block).stats())
    elif named or "." not in name:
        assert named == parameters(name)


@each_function
def test_names_in_sentences_are_those_of_options_methods_or_counters(name):
    """But for those of spead2, and of Linux, which are in capitals."""
    block = name.partition(".")[0]
    if block not in BLOCKS:  # a function that makes an item
        block = "sink"
    known = {*parameters(block), *METHODS[block], *make(block).stats()}
    known |= {*dir(spead2.recv.StreamConfig)}
    plain = re.sub(r'"[^"]*"|std::\w+', "", text(name))
    named = set(re.findall(r"\b[a-z]+_\w+\b|\b\w+(?==)", plain))
    assert named - known == set()


@each_function
def test_errors_have_their_name_in_python(name):
    for cpp, python in re.findall(r"(std::\w+)(?: \(in Python: (\w+)\))?", text(name)):
        assert python == ERRORS[cpp]
