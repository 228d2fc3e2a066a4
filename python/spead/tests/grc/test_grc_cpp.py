# Copyright 2026 The gr-spead authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""C++ out of GNU Radio Companion: the same block, and the same packets."""

import json
import os
import re
import select
import subprocess
import sys

import grc_lint
import pytest
from grc_sink import sink, written
from places import ROOT, install
from possible_options import POSSIBLE
from receiving import bound_socket, destination

# All sinks, one after the other.
PROGRAM = """
#include <gnuradio/spead/sink.h>

int main()
{{
    struct {{
        gr::spead::sink::sptr block;
        void make() {{ {} }}
    }} graph;
    graph.make();
}}
"""

PROJECT = """
cmake_minimum_required(VERSION 3.18)
project(possible LANGUAGES CXX)
find_package(gnuradio-spead REQUIRED)
add_executable(possible possible.cc)
target_link_libraries(possible gnuradio::gnuradio-spead)
"""

ITEMS = """[
    spead.samples(id=0x4300, name='data'),
    spead.immediate(0x3101, 'digitiser_id', [0, 1], '"H" or \\'V\\', True, \\\\ 90°'),
    spead.timestamp(),
    spead.immediate(id=0x3102, name='state', value=2**47),
]"""

STATES = {"coordinate": [0, 0], "rotation": 0, "state": "enabled"}


def run(*command, **options):
    subprocess.run(command, check=True, timeout=120, **options)


@pytest.fixture(scope="module")
def platform():
    return grc_lint.load_platform(ROOT / "grc")


@pytest.fixture(scope="module")
def prefix(tmp_path_factory):
    prefix = tmp_path_factory.mktemp("prefix")
    install(prefix)
    return prefix


def build(project, prefix):
    """Build a CMake project; the program in it has the name of its directory."""
    build = project / "build"
    run("cmake", "-S", project, "-B", build, f"-DCMAKE_PREFIX_PATH={prefix}")
    run("cmake", "--build", build)
    return build / project.name


def test_every_option_is_set_by_name(platform):
    block = grc_lint.make_block(platform, "spead_sink", sample_rate="10")
    _, in_python = grc_lint.call(block.templates.render("make"))
    in_cpp = re.findall(r"options\.(\w+) = ", block.cpp_templates.render("make"))
    assert ["destinations", *in_cpp] == list(in_python)


@pytest.mark.parametrize(
    ("field", "expression"),
    [
        ("items", "[spead.samples(), spead.immediate(0x3101, 'x', n)]"),
        ("destinations", "['127.0.0.1:1', '127.0.0.1:' + str(n)]"),
        ("sample_rate", "(n, 7)"),
    ],
)
def test_lists_and_ratios_take_no_variables(platform, field, expression):
    """They would be as they were when the program was generated, for ever."""
    graph = platform.make_flow_graph()
    variable, sink = graph.new_block("variable"), graph.new_block("spead_sink")
    variable.params["id"].set_value("n")
    variable.params["value"].set_value("2")
    sink.params[field].set_value(expression)
    graph.rewrite()
    with pytest.raises(Exception, match="no variables in C"):
        sink.cpp_templates.render("make")


def test_what_is_possible_is_accepted_in_cpp(prefix, tmp_path):
    blocks = [sink(**written(options)) for options in POSSIBLE]
    made = [block.cpp_templates.render("make") for block in blocks]
    project = tmp_path / "possible"
    project.mkdir()
    (project / "possible.cc").write_text(PROGRAM.format("\n".join(made)))
    (project / "CMakeLists.txt").write_text(PROJECT)
    run(build(project, prefix))


def block(kind, name, **parameters):
    return {"id": kind, "name": name, "parameters": parameters, "states": STATES}


def flow_graph(language, destinations):
    """A .grc file, of a sawtooth and a sink with fields of all kinds."""
    options = {"id": "saw", "generate_options": "no_gui", "run_options": "run"}
    options["output_language"] = language
    return json.dumps(
        {
            "options": {"parameters": options, "states": STATES},
            "blocks": [
                block("variable", "pace", value="5e6"),
                block("variable", "first", value="7000"),
                # text: GNU Radio 3.10.12 takes numbers for text in C++
                block("parameter", "ending", type="str", value='"drop"'),
                block(
                    *("analog_sig_source_x", "source"),
                    **{"type": "float", "samp_rate": "300", "freq": "1", "amp": "300"},
                    **{"waveform": "analog.GR_SAW_WAVE", "offset": "-150"},
                ),
                block("blocks_head", "head", type="float", num_items="20000"),
                block("blocks_message_debug", "debug"),
                block(
                    *("spead_sink", "sink"),
                    destinations=str(destinations),
                    num_inputs="2",
                    input_type="float",
                    sample_bits="16",
                    scale="1 / 2",
                    heap_samples="2**10 - 24",
                    max_packet_size="512",
                    heap_address_bits="48",
                    heap_id_start="first + 5",
                    heap_id_step="3",
                    items=ITEMS,
                    descriptors="separate",
                    pad_packets="False",
                    timestamp_step="16",
                    timestamp_source="rx_time",
                    sample_rate="(8000000, 7)",
                    sync_time="1600000000.5",
                    rate="pace * 2",
                    tail="ending",
                    stop_timeout="10",
                    stats_interval="0.01",
                ),
            ],
            "connections": [
                ["source", "0", "head", "0"],
                ["head", "0", "sink", "0"],
                ["head", "0", "sink", "1"],
                ["sink", "stats", "debug", "store"],
            ],
            "metadata": {"file_format": 1},
        }
    )


def generate(language, destinations, folder):
    """What grcc makes of the flow graph: a program, or a project."""
    folder.mkdir()
    (folder / "saw.grc").write_text(flow_graph(language, destinations))
    blocks = {"GRC_BLOCKS_PATH": str(ROOT / "grc")}
    run("grcc", "-o", folder, folder / "saw.grc", env=os.environ | blocks)
    return folder / ("saw.py" if language == "python" else "saw")


def sent_by(sockets, *program):
    """All datagrams that arrive at each socket while a program runs."""
    run(*program, "--ending", "pad")
    return [list(queued(sock)) for sock in sockets]


def queued(sock):
    while select.select([sock], [], [], 0)[0]:
        yield sock.recv(65536)


def test_the_same_packets_come_from_cpp_as_from_python(prefix, tmp_path):
    with bound_socket() as first, bound_socket() as second:
        sockets = first, second
        to = [destination(sock) for sock in sockets]
        script = generate("python", to, tmp_path / "python")
        project = generate("cpp", to, tmp_path / "cpp")
        from_python = sent_by(sockets, sys.executable, script)
        from_cpp = sent_by(sockets, build(project, prefix))
    assert min(map(len, from_python)) > 40  # two and more in each of the 20 heaps
    assert from_cpp == from_python
    source = (project / "saw.cpp").read_text()
    assert "this->sink->set_rate((this->pace * 2));" in source
