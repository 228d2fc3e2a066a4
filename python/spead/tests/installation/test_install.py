# Copyright 2026 The gr-spead authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""The installed files work from any prefix, without ldconfig."""

import os
import re
import shutil
import subprocess
import sys

import pytest
import yaml
from places import BUILD, EXAMPLES, ROOT, install

EXAMPLE_FILES = [
    path.relative_to(EXAMPLES)
    for pattern in ("*.py", "*.grc", "common/*.py", "several_hosts/*.*")
    for path in EXAMPLES.glob(pattern)
]
EXAMPLE_PROGRAMS = [
    path
    for path in EXAMPLE_FILES
    if path.suffix in (".py", ".grc") and path.parts[0] != "common"
]

CPP_PROGRAM = """
#include <gnuradio/spead/sink.h>
#include <gnuradio/spead/source.h>
#include <gnuradio/top_block.h>

int main()
{
    gr::spead::sink_options options;
    options.max_packet_size = 8972;
    auto sink = gr::spead::sink::make("127.0.0.1:9", options);
    if (sink->stats().samples_in != 0 || sink->packet_size() != 8192 + 56)
        return 1;

    options.num_inputs = 2;
    options.items = { gr::spead::timestamp(),
                      gr::spead::samples(),
                      gr::spead::immediate(0x3101, "state", { 5 }) };
    options.sample_rate = gr::spead::exact_rate{ 8000000, 7 };
    options.sync_time = 1600000000123456789;
    const std::vector<std::string> destinations{ "127.0.0.1:9", "127.0.0.1:10" };
    sink = gr::spead::sink::make(destinations, options);
    sink->set_item("state", 6, 1);
    sink->set_item(0x3101, 7);

    gr::spead::source_options receiving;
    receiving.num_outputs = 2;
    receiving.items = { gr::spead::timestamp(),
                        gr::spead::samples(),
                        gr::spead::immediate(0x3101, "input", { 0, 1 }) };
    receiving.sample_rate = options.sample_rate;
    auto source = gr::spead::source::make("127.0.0.1:0", receiving);
    if (source->stats(1).samples_out != 0 || source->ports().size() != 1)
        return 1;

    try { // an aggregate, because samples() would throw first
        options.items = { { gr::spead::item_kind::samples, 5, "x", "" } };
        gr::spead::sink::make(destinations, options);
    } catch (const std::invalid_argument&) {
        return 0;
    }
    return 1;
}
"""

CMAKE_PROJECT = """
cmake_minimum_required(VERSION 3.18)
project(user LANGUAGES CXX)
set(CMAKE_CXX_STANDARD 17)
find_package(gnuradio-spead REQUIRED)
add_executable(user user.cc)
target_link_libraries(user gnuradio::gnuradio-spead)
"""


def run(*command, **options):
    subprocess.run(command, check=True, timeout=120, **options)


@pytest.fixture(scope="module")
def prefix(tmp_path_factory):
    prefix = tmp_path_factory.mktemp("prefix")
    install(prefix)
    return prefix


def test_uninstall_leaves_no_file(tmp_path):
    installed = re.findall("^-- Installing: (.*)", install(tmp_path / "prefix"), re.M)
    (tmp_path / "install_manifest.txt").write_text("\n".join(installed))
    script = EXAMPLES.parent / "cmake" / "uninstall.cmake"
    run("cmake", "-P", script, cwd=tmp_path, stdout=subprocess.DEVNULL)
    assert [path for path in tmp_path.rglob("*") if not path.is_dir()] == []


def test_the_python_package_imports(prefix):
    (package,) = prefix.glob("lib/python3*/*-packages")
    code = (
        "from gnuradio import gr, spead\n"
        "print(spead.sink('127.0.0.1:9').stats(), spead.source('127.0.0.1:0').stats())"
    )
    env = {**os.environ, "PYTHONPATH": str(package)}
    env.pop("LD_LIBRARY_PATH", None)
    run(sys.executable, "-c", code, env=env, stdout=subprocess.DEVNULL)


@pytest.mark.parametrize("program", ["inspect", "record"])
def test_a_program_uses_the_package_of_its_prefix(prefix, tmp_path, program):
    """Also if the prefix was moved, and the program is called through a link."""
    moved = shutil.copytree(prefix, tmp_path / "moved", symlinks=True)
    link = tmp_path / program
    link.symlink_to(moved / "bin" / f"spead-{program}")
    run(link, "--help", env={}, stdout=subprocess.DEVNULL)
    (package,) = moved.glob("lib/python3*/*-packages")
    module = package / "gnuradio" / "spead" / f"{program}_program.py"
    module.write_text("def main(): print('the one of the prefix')")
    output = subprocess.run(
        [link],
        env={"PYTHONPATH": str(BUILD / "python")},
        capture_output=True,
        text=True,
        check=True,
        timeout=120,
    ).stdout
    assert output == "the one of the prefix\n"


def test_python_and_grc_need_the_variables_of_the_readme(prefix, tmp_path):
    readme = (ROOT / "README.md").read_text()
    exports = re.findall(r"^    (export \w+=.*)", readme, re.M)
    graph = prefix / "share/gnuradio/examples/spead/spead_loopback.grc"
    script = "\n".join(
        [
            "set -eu",
            *(line.replace("$HOME/spead", "$PREFIX") for line in exports),
            f"grcc --output . {graph}",
            f"{sys.executable} -c 'from gnuradio import spead; print(spead.__file__)'",
        ]
    )
    output = subprocess.run(
        ["bash", "-c", script],
        cwd=tmp_path,
        env={"PATH": os.environ["PATH"], "HOME": str(tmp_path), "PREFIX": str(prefix)},
        capture_output=True,
        text=True,
        check=True,
        timeout=120,
    ).stdout
    assert output.splitlines()[-1].startswith(str(prefix))
    (program,) = tmp_path.glob("*.py")
    assert "spead.sink(" in program.read_text()


def test_mypy_knows_the_types_of_the_installed_package(prefix, tmp_path):
    (package,) = prefix.glob("lib/python3*/*-packages")
    (tmp_path / "program.py").write_text(
        "from gnuradio import blocks, gr, spead\n"
        "reveal_type(spead.sink('a').stats()['heaps_sent'])\n"
    )
    output = subprocess.run(
        [sys.executable, "-m", "mypy", "program.py"],
        cwd=tmp_path,
        env={"PYTHONPATH": str(package)},
        capture_output=True,
        text=True,
        check=True,
        timeout=120,
    ).stdout
    assert 'Revealed type is "int"' in output


def test_grc_blocks_examples_and_dissector_are_installed(prefix):
    share = prefix / "share" / "gnuradio"
    blocks = {path.name for path in (share / "grc" / "blocks").iterdir()}
    assert blocks == {path.name for path in (BUILD / "grc").glob("*.block.yml")}
    assert {"spead_sink.block.yml", "spead_meerkat_digitiser_sink.block.yml"} < blocks
    installed = share / "examples" / "spead"
    assert all((installed / path).is_file() for path in EXAMPLE_FILES)
    assert list(prefix.glob("lib/**/wireshark/plugins/spead.lua"))


def test_the_files_of_the_conda_package_are_installed(prefix):
    recipe = yaml.safe_load((ROOT / "packaging" / "conda" / "recipe.yaml").read_text())
    (contents,) = (test["package_contents"] for test in recipe["tests"][2:])
    (library,) = contents.pop("lib")
    assert (prefix / "lib" / f"lib{library}.so").is_file()
    (site_packages,) = prefix.glob("lib/python3*/*-packages")
    folders = {"files": prefix, "site_packages": site_packages}
    for name, files in contents.items():
        for path in files:
            assert (folders.get(name, prefix / name) / path).is_file()


def test_the_examples_readme_lists_every_example():
    index = (EXAMPLES / "README.md").read_text()
    assert [path for path in EXAMPLE_PROGRAMS if f"| `{path}` |" not in index] == []


@pytest.mark.parametrize(
    "program", [path for path in EXAMPLE_PROGRAMS if path.suffix == ".py"], ids=str
)
def test_examples_run_anywhere_and_their_help_has_defaults(prefix, program, tmp_path):
    """It also lists the options that the errors of the program name."""
    (package,) = prefix.glob("lib/python3*/*-packages")
    path = prefix / "share/gnuradio/examples/spead" / program
    done = subprocess.run(
        [sys.executable, path, "--help"],
        cwd=tmp_path,
        env=os.environ | {"PYTHONPATH": str(package)},
        capture_output=True,
        text=True,
        check=True,
        timeout=120,
    )
    options = re.findall(r"^  (--[\w-]+ \S(?:.*\n)+?)(?=  -|\n|\Z)", done.stdout, re.M)
    assert options
    assert [option for option in options if "default" not in option] == []
    named = re.findall(r"(?<![\w-])--[a-z][\w-]+", path.read_text())
    listed = set(re.findall(r"^  (--[\w-]+)", done.stdout, re.M))
    assert set(named) <= listed
    if program.stem != "instrument_captures":  # which writes files
        # Errors of the blocks ask to set the interface.
        assert listed & {"--interface", "--option"}


def test_a_cpp_program_builds_against_the_installation(prefix, tmp_path):
    (tmp_path / "user.cc").write_text(CPP_PROGRAM)
    (tmp_path / "CMakeLists.txt").write_text(CMAKE_PROJECT)
    build = tmp_path / "build"
    run("cmake", "-S", tmp_path, "-B", build, f"-DCMAKE_PREFIX_PATH={prefix}")
    run("cmake", "--build", build)
    run(build / "user")
