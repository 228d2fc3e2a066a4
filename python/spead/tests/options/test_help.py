# Copyright 2026 The gr-spead authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""What help() says agrees with what there is in Python."""

import ast
import re

import pytest
import spead2.recv
from gnuradio import spead
from possible_options import TO

METHODS = [name for name in vars(spead.sink) if not name.startswith("_")]
FUNCTIONS = {
    "timestamp": spead.timestamp,
    "samples": spead.samples,
    "immediate": spead.immediate,
    "sink": spead.sink.__init__,
    **{f"sink.{name}": getattr(spead.sink, name) for name in METHODS},
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
    if name == "sink":
        return spead.sink.__doc__
    return re.sub(r"^(\d\. )?\w+\(.*", "", FUNCTIONS[name].__doc__, flags=re.M)


def test_signatures_are_found():
    assert parameters("immediate") == ["id", "name", "value", "description"]
    assert parameters("sink.set_item") == ["item", "value", "input"]
    assert parameters("sink")[:2] == ["destinations", "heap_samples"]


@each_function
def test_a_list_of_names_is_that_of_the_parameters(name):
    """Or that of the counters, where it is about what is returned."""
    named = re.findall(r"^(\w+): ", text(name), re.M)
    if name == "sink.stats":
        assert named == list(spead.sink(TO).stats())
    elif named or "." not in name:
        assert named == parameters(name)


@each_function
def test_names_in_sentences_are_those_of_options_methods_or_counters(name):
    """But for those of spead2, and of Linux, which are in capitals."""
    known = {*parameters("sink"), *METHODS, *spead.sink(TO).stats()}
    known |= {*dir(spead2.recv.StreamConfig)}
    plain = re.sub(r'"[^"]*"|std::\w+', "", text(name))
    named = set(re.findall(r"\b[a-z]+_\w+\b|\b\w+(?==)", plain))
    assert named <= known


@each_function
def test_errors_have_their_name_in_python(name):
    for cpp, python in re.findall(r"(std::\w+)(?: \(in Python: (\w+)\))?", text(name)):
        assert python == ERRORS[cpp]
