# Copyright 2026 The gr-spead authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""C++ out of GNU Radio Companion: the same blocks, packets and samples."""

import json
import os
import re
import select
import subprocess
import sys

import numpy as np
import pytest
from grc_blocks import BLOCKS, each_block, platform
from places import ROOT, install
from possible_options import POSSIBLE
from receiving import bound_socket, destination

# All blocks, one after the other.
PROGRAM = """
#include <gnuradio/spead/sink.h>
#include <gnuradio/spead/source.h>

int main()
{{
    struct {{
        gr::spead::sink::sptr block;
        void make() {{ {sink} }}
    }} sinks;
    sinks.make();
    struct {{
        gr::spead::source::sptr block;
        void make() {{ {source} }}
    }} sources;
    sources.make();
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

SAMPLES = 20000

STATES = {"coordinate": [0, 0], "rotation": 0, "state": "enabled"}


def run(*command, **options):
    subprocess.run(command, check=True, timeout=120, **options)


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


@each_block
def test_every_option_is_set_by_name(grc):
    filled = grc()
    in_cpp = re.findall(r"options\.(\w+) = ", filled.cpp_templates.render("make"))
    assert [grc.endpoints, *in_cpp] == list(grc.arguments(filled))


@pytest.mark.parametrize(
    ("field", "expression"),
    [
        ("items", "[spead.samples(), spead.immediate(0x3101, 'x', n)]"),
        ("endpoints", "['127.0.0.1:1', '127.0.0.1:' + str(n)]"),
        ("sample_rate", "(n, 7)"),
    ],
)
@each_block
def test_lists_and_ratios_take_no_variables(grc, field, expression):
    """They would be as they were when the program was generated, for ever."""
    graph = platform().make_flow_graph()
    variable, filled = graph.new_block("variable"), graph.new_block(grc.id)
    variable.params["id"].set_value("n")
    variable.params["value"].set_value("2")
    parameter = grc.endpoints if field == "endpoints" else field
    filled.params[parameter].set_value(expression)
    graph.rewrite()
    with pytest.raises(Exception, match="no variables in C"):
        filled.cpp_templates.render("make")


def test_what_is_possible_is_accepted_in_cpp(prefix, tmp_path):
    def in_cpp(grc, options):
        fields = grc.written({grc.endpoints: grc.endpoint, **options})
        return grc(**fields).cpp_templates.render("make")

    made = {
        grc.name: "\n".join(in_cpp(grc, options) for options in POSSIBLE[grc.name])
        for grc in BLOCKS
    }
    project = tmp_path / "possible"
    project.mkdir()
    (project / "possible.cc").write_text(PROGRAM.format(**made))
    (project / "CMakeLists.txt").write_text(PROJECT)
    run(build(project, prefix))


def block(kind, name, **parameters):
    return {"id": kind, "name": name, "parameters": parameters, "states": STATES}


def flow_graph(language, blocks, connections):
    """A .grc file, of a sawtooth and other blocks."""
    options = {"id": "saw", "generate_options": "no_gui", "run_options": "run"}
    options["output_language"] = language
    return json.dumps(
        {
            "options": {"parameters": options, "states": STATES},
            "blocks": [
                block(
                    *("analog_sig_source_x", "saw_source"),
                    **{"type": "float", "samp_rate": "300", "freq": "1", "amp": "300"},
                    **{"waveform": "analog.GR_SAW_WAVE", "offset": "-150"},
                ),
                block("blocks_head", "head", type="float", num_items=str(SAMPLES)),
                *blocks,
            ],
            "connections": [["saw_source", "0", "head", "0"], *connections],
            "metadata": {"file_format": 1},
        }
    )


def sender(language, destinations):
    """A .grc file, of a sink with fields of all kinds."""
    return flow_graph(
        language,
        [
            block("variable", "pace", value="5e6"),
            block("variable", "first", value="7000"),
            # text: GNU Radio 3.10.12 takes numbers for text in C++
            block("parameter", "ending", type="str", value='"drop"'),
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
        [
            ["head", "0", "sink", "0"],
            ["head", "0", "sink", "1"],
            ["sink", "stats", "debug", "store"],
        ],
    )


def loopback(language, port, recordings):
    """A .grc file, of a sink and a source with fields of all kinds."""
    items = "[spead.timestamp(), spead.immediate(0x3101, 'x', [3, 7]), spead.samples()]"
    return flow_graph(
        language,
        [
            block("variable", "delay", value="0.25"),
            block("parameter", "missing", type="str", value='"zero_fill"'),
            block("blocks_message_debug", "debug"),
            block(
                *("spead_sink", "sink"),
                destinations=f"127.0.0.1:{port}",
                num_inputs="2",
                input_type="float",
                sample_bits="16",
                scale="100",
                heap_samples="1000",
                items=items,
                tail="drop",
                byte_order="little",
            ),
            block(
                *("spead_source", "source"),
                endpoints=f"127.0.0.1:{port}",
                num_outputs="2",
                output_type="float",
                sample_bits="16",
                scale="50 * 2",
                byte_order="little",
                items=items,
                heap_samples="2**10 - 24",
                timestamp_step="1000",
                sample_rate="(8000000, 7)",
                sync_time="1600000000.5",
                on_missing="missing",
                max_delay="delay * 2",
                max_gap="10**6",
                timeout="60",
                stats_interval="0.01",
            ),
            *(
                block(
                    *("blocks_file_sink", f"file{i}"),
                    **{"type": "float", "file": str(path), "unbuffered": "True"},
                )
                for i, path in enumerate(recordings)
            ),
        ],
        [
            ["head", "0", "sink", "0"],
            ["head", "0", "sink", "1"],
            ["source", "0", "file0", "0"],
            ["source", "1", "file1", "0"],
            ["source", "stats", "debug", "store"],
        ],
    )


def generate(language, graph, folder):
    """What grcc makes of a flow graph: a program, or a project."""
    folder.mkdir()
    (folder / "saw.grc").write_text(graph)
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
        script = generate("python", sender("python", to), tmp_path / "python")
        project = generate("cpp", sender("cpp", to), tmp_path / "cpp")
        from_python = sent_by(sockets, sys.executable, script)
        from_cpp = sent_by(sockets, build(project, prefix))
    assert min(map(len, from_python)) > 40  # two and more in each of the 20 heaps
    assert from_cpp == from_python
    source = (project / "saw.cpp").read_text()
    assert "this->sink->set_rate((this->pace * 2));" in source


def recorded_by(recordings, *program):
    """The samples that a program writes to files."""
    run(*program, "--missing", "zero_fill")
    return np.stack([np.fromfile(path, np.float32) for path in recordings])


def test_the_same_samples_come_out_of_the_source_in_cpp_as_in_python(prefix, tmp_path):
    with bound_socket() as sock:
        port = sock.getsockname()[1]  # free, once it is closed
    recordings = [tmp_path / f"{i}.f32" for i in range(2)]
    script = generate("python", loopback("python", port, recordings), tmp_path / "py")
    project = generate("cpp", loopback("cpp", port, recordings), tmp_path / "cpp")
    from_python = recorded_by(recordings, sys.executable, script)
    from_cpp = recorded_by(recordings, build(project, prefix))
    assert from_python.shape == (2, SAMPLES)
    np.testing.assert_array_equal(from_python[:, :150], [range(150)] * 2)
    np.testing.assert_array_equal(from_cpp, from_python)
