# Copyright 2026 The gr-spead authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Editors, mypy and inspect.signature() know the options, their types and texts."""

import ast
import inspect
import re
import subprocess
import sys
from collections.abc import Sequence
from fractions import Fraction

import jedi
import pytest
from gnuradio import spead
from places import BOUND, BUILD
from possible_options import ENDPOINTS, POSSIBLE, make

BLOCKS = {"sink": spead.sink, "source": spead.source}
STUB = BUILD / "python" / "gnuradio-stubs" / "spead" / "__init__.pyi"
# What stubtest cannot know: how pybind11 makes classes, and modules for internal use.
ALLOWED = r"""
gnuradio\.spead\.(item|sink|source)
gnuradio\.spead\.(sink|source)\.__signature__
gnuradio\.spead\.item\.__init__
gnuradio\.spead\.(bench_program|bench_report|bench_trial|control_link|described_stream)
gnuradio\.spead\.(hdf5_file|heap_blocks|heap_items|heap_pdus|heap_times|host_counters)
gnuradio\.spead\.(inspect_program|live_figures|packet_words|rate_search|record_program)
gnuradio\.spead\.(recording|sigmf_file|spead_python|stream_report|suggestion)
"""
HEAD = "from gnuradio import blocks, gr, spead\n"
WRONG = {
    "spead.sink('a', heap_sample=1)": 'did you mean "heap_samples"?',
    "spead.sink('a', heap_samples='8')": 'incompatible type "str"; expected "int"',
    "spead.sink('a', 8192, 'int8')": "Too many positional arguments",
    "spead.source('a', items=spead.samples())": 'incompatible type "item"',
    "spead.sink('a').set_item(1.5, 1)": 'expected "int | str"',
    "spead.sink('a').stats()['heap_sent']": 'has no key "heap_sent"',
    "spead.heap_sink('a', ids={1: 2})": 'expected "str": "int"',
    "spead.no_such": 'has no attribute "no_such"',
}
TYPES = {
    "spead.sink('a')": "gnuradio.spead.sink",
    "spead.sink('a').stats()['send_errors']": "dict[str, int]",
    "spead.sink('a').rate()": "float",
    "spead.source('a').stats(0)['status']": "str",
    "spead.immediate(5, 'x', [1]).values": "list[int]",
    "spead.heap_source('a').ports()": "list[int]",
    "spead.heap_to_numpy(1)": "dict[str, Any]",
    "gr.top_block()": "Any",
}

each_block = pytest.mark.parametrize("block", BLOCKS)


def run_mypy(module, *arguments, folder):
    return subprocess.run(
        [sys.executable, "-m", module, *arguments],
        cwd=folder,
        timeout=4 * BOUND,
        capture_output=True,
        text=True,
        check=False,
    ).stdout


def mypy(lines, folder):
    """What mypy says about lines of a program, by number from 1 on."""
    (folder / "program.py").write_text("\n".join([HEAD.strip(), *lines]))
    output = run_mypy("mypy", "program.py", folder=folder)
    diagnostics = re.findall(r"^program.py:(\d+): (.*)", output, re.M)
    assert diagnostics or output.startswith("Success")
    messages = {}
    for line, message in diagnostics:
        messages.setdefault(int(line) - 1, []).append(message)
    return messages


def stub_class(name):
    """The members of a class in the stub."""
    (body,) = [
        node.body
        for node in ast.parse(STUB.read_text()).body
        if isinstance(node, ast.ClassDef) and node.name == name
    ]
    return body


@each_block
def test_the_signature_has_every_option_with_a_default_that_is_accepted(block):
    (endpoints,) = ENDPOINTS[block]
    parameters = inspect.signature(BLOCKS[block]).parameters
    assert {*parameters} == {next(iter(row)) for row in POSSIBLE[block]}
    defaults = {name: parameter.default for name, parameter in parameters.items()}
    assert defaults.pop(endpoints) is inspect.Parameter.empty
    assert inspect.Parameter.empty not in defaults.values()
    make(block, **defaults)


@pytest.mark.parametrize(("block", "count"), [("sink", 2), ("source", 1)])
def test_the_signature_allows_what_the_constructor_allows_by_position(block, count):
    arguments = [*ENDPOINTS[block].values(), 1000, "int8"]
    for call in (BLOCKS[block], inspect.signature(BLOCKS[block]).bind):
        call(*arguments[:count])
        for wrong in ([], arguments[: count + 1]):
            with pytest.raises(TypeError):
                call(*wrong)


@each_block
def test_the_stub_has_the_signature(block):
    """stubtest does not compare the constructors of pybind11."""
    (init,) = [
        node for node in stub_class(block) if getattr(node, "name", "") == "__init__"
    ]
    names = {"Sequence": Sequence, "Fraction": Fraction, "item": spead.item}
    exec(ast.unparse(init), names)
    stub = dict(inspect.signature(names["__init__"]).parameters)
    del stub["self"]
    actual = inspect.signature(BLOCKS[block]).parameters
    for name, parameter in stub.items():
        if parameter.default is ...:  # no literal
            stub[name] = parameter.replace(default=actual[name].default)
    assert list(stub.values()) == list(actual.values())


@each_block
def test_the_stub_has_the_types_of_the_counters(block):
    types = {
        node.target.id: ast.unparse(node.annotation).partition("[")[0]
        for node in stub_class(f"_{block}_stats")
        if isinstance(node, ast.AnnAssign)
    }
    stats = make(block).stats()
    assert types == {name: type(value).__name__ for name, value in stats.items()}


@each_block
def test_the_stub_has_the_docstrings(block):
    for node in stub_class(block):
        if text := isinstance(node, ast.FunctionDef) and ast.get_docstring(node):
            signature, _, actual = getattr(BLOCKS[block], node.name).__doc__.partition(
                "\n\n"
            )
            assert signature.startswith(f"{node.name}(")
            assert text == inspect.cleandoc(actual)


def test_stubtest_finds_no_difference(tmp_path):
    (tmp_path / "allowed").write_text(ALLOWED)
    output = run_mypy(
        "mypy.stubtest", "gnuradio.spead", "--allowlist=allowed", folder=tmp_path
    )
    assert output.startswith("Success")


def test_mypy_accepts_every_possible_option(tmp_path):
    """It needs no configuration for other modules of GNU Radio."""
    calls = []
    for block, rows in POSSIBLE.items():
        for row in rows:
            options = ENDPOINTS[block] | row
            arguments = (f"{name}={value!r}" for name, value in options.items())
            calls.append(f"spead.{block}({', '.join(arguments)})")
    assert mypy([*calls, "gr.top_block()", "blocks.null_sink(1)"], tmp_path) == {}


def test_mypy_names_mistakes_and_knows_the_types_of_results(tmp_path):
    revealed = {
        f"reveal_type({line})": f'note: Revealed type is "{result}"'
        for line, result in TYPES.items()
    }
    expected = WRONG | revealed
    messages = mypy(list(expected), tmp_path)
    for number, (line, message) in enumerate(expected.items(), 1):
        assert message in " ".join(messages.get(number, [])), line


def complete(line):
    """What an editor with jedi offers at the end of a line."""
    project = jedi.Project(".", added_sys_path=[str(BUILD / "python")])
    script = jedi.Script(HEAD + line, project=project)
    return {found.name for found in script.complete()}


def test_jedi_completes_options_methods_and_counters():
    assert complete("spead.sink('a', heap_s") == {"heap_samples="}
    assert complete("spead.source('a').st") >= {"stats", "start", "stop"}
    assert complete("x = spead.sink('a').stats()\nx['heaps_s") == {"'heaps_sent'"}
    assert "null_sink" in complete("blocks.null_")


def test_repr_names_the_endpoints():
    endpoints = ["127.0.0.1:1", "127.0.0.1+1:2, 127.0.0.9:3"]
    sink = spead.sink(endpoints, num_inputs=2)
    assert repr(sink) == "<spead.sink to 127.0.0.1:1; 127.0.0.1+1:2, 127.0.0.9:3>"
    assert repr(spead.source("127.0.0.1:0")) == "<spead.source from 127.0.0.1:0>"


def test_a_long_repr_is_cut_between_characters(tmp_path):
    for shift in range(2):
        name = tmp_path / f"{'a' * shift}{'ä' * 110}.pcap"
        text = repr(spead.sink(str(name)))
        assert text.startswith("<spead.sink to /")
        assert "..." in text
        assert len(text) < 250
