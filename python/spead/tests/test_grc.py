# Copyright 2026 The gr-spead authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""The block in GNU Radio Companion: the same options, limits and words."""

import ast
import json
import os
import re
import select
import shutil
import socket
import subprocess
import sys

import grc_lint
import numpy as np
import pytest
import spead2
import spead2.recv
from conftest import EXAMPLES, ROOT
from gnuradio import spead
from grc_values import ACCEPTED, REFUSED

DESCRIPTION = ROOT / "grc" / "spead_sink.block.yml"
EXAMPLE = EXAMPLES / "spead_noise.grc"

ESSENTIALS = ["destinations", "heap_samples"]

# What a field is called in Python, where that is not its name in GRC.
IN_PYTHON = {
    "timestamp_id": "items",
    "timestamp_name": "items",
    "samples_id": "items",
    "samples_name": "items",
    "sender_affinity": "affinity",
}


@pytest.fixture(scope="module")
def platform():
    return grc_lint.load_platform(DESCRIPTION.parent)


@pytest.fixture
def sink(platform):
    """Makes a block with some fields filled in, the way a user does."""
    return lambda **fields: grc_lint.make_block(platform, "spead_sink", **fields)


@pytest.fixture
def noise(platform):
    return grc_lint.load_flow_graph(platform, EXAMPLE)


def arguments(block):
    """What the generated program will pass to spead.sink, by name."""
    name, sources = grc_lint.call(block.templates.render("make"))
    assert name == "spead.sink"
    return {key: eval(source, {"spead": spead}) for key, source in sources.items()}


def plain(text):
    return " ".join(text.split())


def documented(thing):
    """What a docstring says of each parameter."""
    found = re.findall(r"^(\w+): (.*?)(?=^\S|\Z)", thing.__doc__, re.S | re.M)
    return {name: plain(text) for name, text in found}


def documentation_of(field):
    """What Python's docstrings, and so the C++ headers, say of a field."""
    if IN_PYTHON.get(field) == "items":
        item, parameter = field.split("_")
        return documented(getattr(spead, item))[parameter]
    return documented(spead.sink)[IN_PYTHON.get(field, field)]


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


def test_the_description_follows_the_schema():
    assert grc_lint.schema_errors(DESCRIPTION) == []


def test_the_block_is_valid_as_it_comes(sink):
    assert grc_lint.block_errors(sink()) == []


def test_the_block_has_every_option_and_its_default(sink):
    found = arguments(sink())
    del found["destinations"]
    assert found == python_defaults()


def test_the_block_makes_a_sink(sink):
    assert isinstance(spead.sink(**arguments(sink())), spead.sink)


def test_every_callback_is_a_method_of_the_sink(sink):
    for callback in sink().templates.render("callbacks"):
        method, values = re.fullmatch(r"(\w+)\((.+)\)", callback).groups()
        getattr(spead.sink(**arguments(sink())), method)(eval(values))


def test_the_items_keep_their_order(sink):
    block = sink(items="samples, timestamp", samples_id="0x4300", timestamp_name="t")
    assert arguments(block)["items"] == [
        spead.samples(id=0x4300),
        spead.timestamp(name="t"),
    ]


def test_a_timestamp_step_left_blank_is_that_of_the_heap(sink):
    block = sink(timestamp_step="")
    assert grc_lint.block_errors(block) == []
    assert arguments(block)["timestamp_step"] is None


def test_an_ipv6_address_is_a_destination(sink):
    assert grc_lint.block_errors(sink(destinations="[::1]:7148")) == []


@pytest.mark.parametrize("field", ["heap_samples", "timestamp_step", "dscp"])
def test_a_fraction_is_no_integer(sink, field):
    block = sink(**{field: "1.5"})
    assert grc_lint.block_errors(block) != []
    with pytest.raises(TypeError):
        spead.sink(**arguments(block))


@pytest.mark.parametrize(("field", "fields"), REFUSED)
def test_grc_refuses(sink, field, fields):
    errors = grc_lint.block_errors(sink(**fields))
    assert any(field in error for error in errors)


@pytest.mark.parametrize(("field", "fields"), REFUSED)
def test_the_sink_refuses(sink, field, fields):
    refused = arguments(sink(**fields))
    with pytest.raises(ValueError, match=IN_PYTHON.get(field, field)):
        spead.sink(**refused)


@pytest.mark.parametrize(("field", "fields"), ACCEPTED)
def test_grc_and_the_sink_accept(sink, field, fields):
    block = sink(**fields)
    assert grc_lint.block_errors(block) == []
    spead.sink(**arguments(block))


def test_the_canvas_shows_the_essentials(sink):
    shown = [key for key, param in sink().params.items() if param.hide == "none"]
    assert shown == ESSENTIALS


@pytest.mark.parametrize(("field", "fields"), ACCEPTED)
def test_the_canvas_shows_what_was_changed(sink, field, fields):
    assert sink(**fields).params[field].hide == "none"


def test_the_documentation_is_that_of_the_headers(sink):
    block = sink()
    about_the_sink, _, _ = spead.sink.__doc__.partition("Parameters:")
    about_fields = [
        f"{data['label']}: {documentation_of(data['id'])}"
        for data in block.parameters_data
        if "label" in data  # GRC's own have none
    ]
    expected = plain(" ".join([about_the_sink, *about_fields]))
    assert plain(block.documentation[""]) == expected


def test_the_example_is_valid(noise):
    assert grc_lint.flow_graph_errors(noise) == []


def test_the_example_runs_and_every_sample_arrives(tmp_path):
    """Through grcc and without a screen, as in a script."""
    blocks = {"GRC_BLOCKS_PATH": str(DESCRIPTION.parent)}
    subprocess.run(
        [shutil.which("grcc"), "-o", tmp_path, EXAMPLE],
        env=os.environ | blocks,
        check=True,
        timeout=60,
    )

    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as udp:
        udp.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4 << 20)
        udp.bind(("127.0.0.1", 0))
        stream = spead2.recv.Stream(spead2.ThreadPool())
        stream.add_udp_reader(socket=udp)
        command = [
            *(sys.executable, tmp_path / "spead_noise.py"),
            *("--destination", f"127.0.0.1:{udp.getsockname()[1]}"),
            *("--sample-rate", "1M", "--duration", "0.5"),
        ]
        with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as program:
            try:
                timestamps, samples = receive(stream)
                output, _ = program.communicate(timeout=30)
            finally:
                program.kill()
                stream.stop()

    assert program.returncode == 0
    assert timestamps == list(range(0, 500_000, 8192))
    assert len(samples) == 500_000
    spectrum = np.abs(np.fft.rfft(samples))
    assert np.argmax(spectrum[1:]) + 1 == 500_000 / 8
    assert 19 < np.std(samples) < 22

    (line,) = (row for row in output.splitlines() if row.startswith("SPEAD_STATS "))
    stats = json.loads(line.removeprefix("SPEAD_STATS "))
    assert stats["samples_in"] == stats["samples_sent"] == 500_000


def receive(stream):
    """All heaps up to the end of the stream, unless 30 s pass without one."""
    items = spead2.ItemGroup()
    timestamps, samples = [], []
    while select.select([stream.fd], [], [], 30)[0]:
        try:
            items.update(stream.get_nowait())
        except spead2.Stopped:
            return timestamps, np.concatenate(samples)
        timestamps.append(int(items["timestamp"].value))
        samples.append(items["adc_samples"].value)
    raise TimeoutError(f"nothing came after {len(timestamps)} heaps")
