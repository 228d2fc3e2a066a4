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
from fractions import Fraction

import grc_lint
import numpy as np
import pmt
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
IN_PYTHON = {"sender_affinity": "affinity"}


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


def test_items_are_an_expression(sink):
    items = "[spead.samples(id=0x4300), spead.immediate(0x3101, 'x', 5)]"
    block = sink(items=items)
    assert grc_lint.block_errors(block) == []
    assert arguments(block)["items"] == eval(items)


def test_items_are_not_their_names(sink):
    block = sink(items="['samples']")
    assert any("items" in error for error in grc_lint.block_errors(block))
    with pytest.raises(TypeError):
        spead.sink(**arguments(block))


def test_items_may_have_the_values_of_variables(platform):
    """And change with them, while the flow graph runs."""
    graph = platform.make_flow_graph()
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
    ("written", "destinations"),
    [
        ("host:1", "host:1"),
        ("host:1, 10.0.0.1+7:2", "host:1, 10.0.0.1+7:2"),
        ("[::1]:7148", "[::1]:7148"),
        ("'host:1'", "host:1"),
        ("['host:1']", ["host:1"]),
        (" ['host:1', '[::1]:' + str(2)] ", ["host:1", "[::1]:2"]),
        ("('host:1', 'host:2,host:3')", ("host:1", "host:2,host:3")),
    ],
)
def test_destinations_are_a_text_or_a_list(sink, written, destinations):
    block = sink(destinations=written, num_inputs="2")
    assert grc_lint.block_errors(block) == []
    assert arguments(block)["destinations"] == destinations


@pytest.mark.parametrize("written", ["[::1]", "['host:1'; 'host:2']", "('host:1'"])
def test_what_is_neither_is_refused(sink, written):
    errors = grc_lint.block_errors(sink(destinations=written))
    assert any("destinations" in error for error in errors)


@pytest.mark.parametrize("inputs", [1, 2, 8])
@pytest.mark.parametrize("kind", ["int8", "sc8", "int16", "sc16", "float", "complex"])
def test_the_ports_are_those_of_the_sink(sink, kind, inputs):
    block = sink(input_type=kind, num_inputs=str(inputs))
    assert grc_lint.block_errors(block) == []
    signature = spead.sink(**arguments(block)).input_signature()
    streams = [port for port in block.sinks if port.domain == "stream"]
    assert len(streams) == inputs == signature.max_streams()
    sizes = {port.item_size for port in streams}
    assert sizes == {signature.sizeof_stream_item(0)}


def test_the_types_have_colours_of_their_own(sink):
    kinds = ["int8", "sc8", "int16", "sc16", "float", "complex"]
    ports = [sink(input_type=kind).sinks[0].dtype for kind in kinds]
    assert ports == ["byte", "sc8", "short", "sc16", "float", "complex"]


def test_the_message_ports_are_those_of_the_sink_and_need_no_connection(sink):
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


# Fields that only matter with another one, and what makes them matter.
DEPENDENT = [
    ("scale", "2.5", {"input_type": "float"}),
    ("byte_order", "little", {"input_type": "int16", "tail": "pad"}),
    ("sync_time", "15.5", {"timestamp_source": "rx_time", "sample_rate": "10"}),
    ("on_gap", "ignore", {"timestamp_source": "rx_time", "sample_rate": "10"}),
    ("on_start", "zero_fill", {"timestamp_source": "rx_time", "sample_rate": "10"}),
    ("sample_rate", "10", {"timestamp_source": "rx_time"}),
]


@pytest.mark.parametrize(("field", "value", "needed"), DEPENDENT)
def test_what_does_not_matter_is_hidden_and_does_no_harm(sink, field, value, needed):
    hidden = sink(**{field: value})
    assert hidden.params[field].hide == "all"
    assert grc_lint.block_errors(hidden) == []
    spead.sink(**arguments(hidden))
    assert sink(**{field: value}, **needed).params[field].hide == "none"


def test_an_interval_for_descriptors_that_are_not_sent_does_no_harm(sink):
    block = sink(descriptor_interval="5", descriptors="none")
    assert block.params["descriptor_interval"].hide == "all"
    assert grc_lint.block_errors(block) == []
    assert arguments(block)["descriptor_interval"] == 0


@pytest.mark.parametrize(
    ("written", "rate"),
    [
        ("10", 10),
        ("10e6", 10_000_000),
        ("(8000000, 7)", (8000000, 7)),
        ("__import__('fractions').Fraction(8000000, 7)", Fraction(8000000, 7)),
    ],
)
def test_a_sample_rate_is_passed_on_as_it_is(sink, written, rate):
    block = sink(sample_rate=written, timestamp_source="rx_time")
    assert grc_lint.block_errors(block) == []
    assert arguments(block)["sample_rate"] == rate
    spead.sink(**arguments(block))


def test_a_sync_time_keeps_its_digits(sink):
    block = sink(sync_time="1600000000.123456789012345678")
    assert grc_lint.block_errors(block) == []
    assert arguments(block)["sync_time"] == "1600000000.123456789012345678"


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
