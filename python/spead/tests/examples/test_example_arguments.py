# Copyright 2026 The gr-spead authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Shared code of the examples: endpoints, numbers, progress and Ctrl-C."""

import argparse
import fractions
import io
import os
import re
import signal
import subprocess
import sys

import pytest
from common.arguments import positive, positive_rate, rate, seconds, size
from common.endpoints import bound_socket, endpoints
from common.progress import Progress
from places import BOUND, EXAMPLES


def test_endpoints_have_the_syntax_of_the_sink():
    assert endpoints("239.1.2.255+1:7148,[ff15::77]:7148, localhost:0, 7148") == [
        ("239.1.2.255", 7148),
        ("239.1.3.0", 7148),
        ("ff15::77", 7148),
        ("localhost", 0),
        ("127.0.0.1", 7148),
    ]


@pytest.mark.parametrize(
    "text", ["", "host", "host:65536", "host+1:1", "a:1,", "255.255.255.255+1:1"]
)
def test_invalid_endpoints_are_rejected(text):
    last = re.escape(text.rpartition(",")[2])
    with pytest.raises(ValueError, match=f"^'{last}'(:| is not)"):
        endpoints(text)


@pytest.mark.parametrize(
    ("endpoint", "message"),
    [
        (("192.0.2.1", 7148), "192.0.2.1:7148: Cannot assign"),
        (("no-such-host.invalid", 1), "no-such-host.invalid:1: "),
        (("239.1.2.3", 0, "nosuch0"), "239.1.2.3:0 on interface nosuch0: no interface"),
        (("127.0.0.1", 0, "lo"), "127.0.0.1:0 on interface lo: .* multicast groups"),
    ],
)
def test_a_bind_error_names_the_endpoint(endpoint, message):
    with pytest.raises(OSError, match=f"^cannot receive at {message}"):
        bound_socket(*endpoint)


def test_sizes_have_binary_suffixes_and_rates_have_decimal_ones():
    assert (size("0x1000"), size("4k"), size("10M")) == (4096, 4096, 10 << 20)
    assert rate("2.4M") == rate("2400000") == rate("2.4e6") == 2_400_000
    assert rate("100000000/3") == fractions.Fraction(10**8, 3)


@pytest.mark.parametrize(
    ("kind", "text"),
    [
        *((size, "4x"), (size, "-1"), (size, "99999999999999999999"), (positive, "0")),
        *((rate, "1/0"), (rate, "1e400"), (rate, "1e-400"), (rate, "1e999999999")),
        *((positive_rate, "0"), (seconds, "-1"), (seconds, "nan")),
    ],
)
def test_an_invalid_number_is_quoted_in_the_error(kind, text):
    with pytest.raises(argparse.ArgumentTypeError, match=f"'{text}'"):
        kind(text)


def options_of(program):
    """The options that --help lists."""
    command = [sys.executable, program, "--help"]
    text = subprocess.run(command, check=True, capture_output=True, text=True).stdout
    return set(re.findall(r"^ +(?:-\w, )?(--[\w-]+)", text, re.M))


@pytest.mark.parametrize("program", sorted(EXAMPLES.glob("*.py")), ids=lambda p: p.stem)
def test_programs_have_the_options_that_their_errors_name(program):
    """Errors of the blocks ask to set the interface."""
    options = options_of(program)
    named = re.findall(r"(?<![\w-])--[a-z][\w-]+", program.read_text())
    assert set(named) <= options
    if program.stem != "instrument_captures":  # which writes files
        assert options & {"--interface", "--option"}


class Terminal(io.StringIO):
    def isatty(self):
        return True


@pytest.mark.parametrize(
    ("columns", "line"),
    [
        ("80", "3.2 %, 2.00 MB/s, heaps 56,789, dropped 123, errors 0, ring 50 %"),
        ("11", "3.2 %, 2.0"),  # truncated to the width of the terminal
    ],
)
def test_the_progress_line_is_rewritten_in_place(monkeypatch, columns, line):
    monkeypatch.setenv("COLUMNS", columns)
    screen = Terminal()
    times = iter([10, 12, 14])
    progress = Progress(1_000_000, screen, lambda: next(times))
    stats = {"send_errors": {}, "icmp_errors": 0, "ring_fill": 0.5}
    counters = dict.fromkeys(
        ("bytes_sent", "heaps_sent", "heaps_dropped", "samples_sent"), 0
    )
    progress.show(stats | counters)
    values = 4_000_000, 56_789, 123, 32_000
    progress.show(stats | dict(zip(counters, values, strict=True)))
    assert screen.getvalue().split("\r")[-1].startswith(line)
    progress.clear()
    assert screen.getvalue().endswith("\r\x1b[K")


def test_a_second_ctrl_c_kills_the_program():
    program = """
import os, signal
from common.interrupts import at_interrupt

with at_interrupt(lambda: os.write(1, b"ending\\n")):  # print() is not reentrant
    print("running", flush=True)
    while True:
        signal.pause()
"""
    command = [sys.executable, "-c", program]
    with subprocess.Popen(
        command, cwd=EXAMPLES, stdout=subprocess.PIPE, text=True
    ) as process:
        try:
            assert process.stdout.readline() == "running\n"
            process.send_signal(signal.SIGINT)
            assert process.stdout.readline() == "ending\n"
            process.send_signal(signal.SIGINT)
            assert process.wait(BOUND) == -signal.SIGINT
        finally:
            process.kill()


PROGRAMS = sorted(path.name for path in EXAMPLES.glob("*.py"))
MODULES = [
    *((name, "gnuradio.spead") for name in PROGRAMS if name != "spead2_receiver.py"),
    ("spead2_receiver.py", "spead2"),
    ("record_sigmf.py", "sigmf"),
    ("metrics.py", "prometheus_client"),
]


@pytest.mark.parametrize(("program", "missing"), MODULES)
def test_a_missing_module_is_reported_with_the_remedy(tmp_path, program, missing):
    """sitecustomize stands for a Python that lacks the module."""
    (tmp_path / "sitecustomize.py").write_text(
        f"""
import sys

class Missing:
    def find_spec(self, name, path=None, target=None):
        if name.startswith({missing!r}):
            raise ModuleNotFoundError(f"No module named {{name!r}}", name=name)

sys.meta_path.insert(0, Missing())
"""
    )
    path = os.pathsep.join([str(tmp_path), os.environ["PYTHONPATH"]])
    done = subprocess.run(
        [sys.executable, EXAMPLES / program, "--help"],
        env=os.environ | {"PYTHONPATH": path},
        timeout=BOUND,
        capture_output=True,
        text=True,
    )
    assert done.returncode == 1
    assert re.match(
        rf"(No module named '{missing}|cannot import name 'spead' ).*: .*install",
        done.stderr,
    )
    assert len(done.stderr.splitlines()) == 1
