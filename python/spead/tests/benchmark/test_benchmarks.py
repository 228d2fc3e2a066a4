# Copyright 2026 The gr-spead authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""The benchmarks run and print figures. No test depends on the speed."""

import re
import shlex
import subprocess
import sys

import numpy as np
import pytest
from places import BOUND, BUILD, NEEDS_NAMESPACES, ROOT
from receiving import datagrams

BINARIES = BUILD / "benchmark"
PROGRAMS = "gr-spead,spead2 Python,network.udp_sink,null sink,limit"
FAKE = "echo 1.5 MB/s, then 800.25 MB/s"


def run(*command, status=0):
    """Run a subprocess: a private network would change the namespace of this one."""
    done = subprocess.run(
        [str(word) for word in command],
        timeout=4 * BOUND,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == status, done.stderr
    return done.stdout


def script(name, *options, status=0):
    return run(sys.executable, ROOT / "benchmark" / name, *options, status=status)


def fields(printed, name):
    """The fields of the line that begins with a name."""
    lines = (line.split() for line in printed.splitlines())
    return next(words for words in lines if words[:1] == [name])


def check_speed(printed):
    assert re.fullmatch(r"[\d.]+ MB/s", printed.splitlines()[-1])


def test_send_perf_sends_heaps_of_noise(sock):
    address = sock.getsockname()
    check_speed(run(BINARIES / "send_perf", "-n", 3, "-H", 4096, "-p", 9000, *address))
    for packet in datagrams(sock, 3):
        assert len(np.unique(np.frombuffer(packet[-4096:], np.int8))) == 256


def test_send_perf_sends_floats_of_two_inputs(sock):
    options = "-n", 4, "-H", 1024, "-i", 2, "-r", 100, "-t", "float"
    check_speed(run(BINARIES / "send_perf", *options, *sock.getsockname()))
    assert len(datagrams(sock, 4)) == 4


def test_the_limit_programs_print_a_speed(sock):
    address = sock.getsockname()
    check_speed(run(BINARIES / "send_limit", "-p", 1000, "-s", 0.01, *address))
    assert len(sock.recv(65536)) == 1000
    check_speed(run(BINARIES / "volk_limit", 0.01))


def compare_senders(folder, *options, status=0):
    short = "--output", folder, "--build", BINARIES, "--rounds", 1, "--seconds", 0.01
    script("senders.py", *short, "--heaps", "8k", *options, status=status)
    return (folder / "report.md").read_text()


def test_senders_compares_all_programs(tmp_path):
    options = "--packets", 1472, "--rates", 40, "--rate-heap", "8k"
    peer = "--peer", f"fake={FAKE} {{heaps}} {{rate}}"
    report = compare_senders(
        tmp_path, "--loopback", *options, "--programs", PROGRAMS, *peer
    )
    columns = f"{PROGRAMS},fake,gr-spead / limit".replace(",", " | ")
    assert f"| heap | {columns} |" in report
    assert re.search(r"\| 8 KiB \|( [\d,]+ \|){5} 800 \| [\d.]+ \|", report)
    # CPU load during the shorter run can make the difference negative.
    assert re.search(r"\| 40 MB/s \| -?[\d.]+ ", report)
    for plot in ("throughput.svg", "cpu.svg"):
        assert "fake" in (tmp_path / plot).read_text()


@NEEDS_NAMESPACES
@pytest.mark.parametrize("kind", ["drop", "veth", "cut"])
def test_senders_runs_in_a_private_network(tmp_path, kind):
    options = "--packets", 9000, "--rates", "", "--programs", "limit"
    report = compare_senders(tmp_path, "--network", kind, *options)
    assert re.search(r"\| 8 KiB \| [\d,]+ \|", report)


def test_senders_continues_after_a_program_fails(tmp_path):
    crash = shlex.quote("raise SystemExit('no such thing')")
    report = compare_senders(
        tmp_path,
        *("--loopback", "--packets", 1000, "--rates", "", "--programs", ""),
        *("--peer", f"fake={FAKE} {{seconds}}"),
        *("--peer", f"crash={sys.executable} -c {crash} {{heaps}}"),
        status=1,
    )
    assert "- crash, packets of 1000 bytes: no such thing" in report
    assert "| 8 KiB | 800 |" in report


def test_receivers_compares_all_programs():
    short = "--rate", 5, "--rounds", 1, "--seconds", 0.2, "--build", BINARIES
    printed = script("receivers.py", "--loopback", "--cells", "8k/1472", *short)
    for name in ("gr-spead", "spead2", "network.udp_source", "limit"):
        assert float(fields(printed, name)[-1].strip("()")) > 0


def test_send_latency_prints_a_table():
    printed = script("send_latency.py", "--heap-sizes", 1024, "--heaps", 30)
    assert fields(printed, "1024")[1:4] == ["none", "30", "0"]


def test_receive_latency_prints_a_table():
    options = "--heap", "8k", "--rates", 1, "--seconds", 0.2
    assert fields(script("receive_latency.py", *options), "8192")[3:5] == ["200", "0"]


def test_pacing_prints_a_table():
    options = "--loopback", "--rates", 0.1, "--seconds", 0.5, "--burst", 4000
    row = fields(script("pacing.py", *options, "--stall", 0.1), "0.1")
    assert len(row) == 9
    assert float(row[1]) > 0


def test_packet_cost_prints_a_table():
    *_, last = run(BINARIES / "packet_cost").splitlines()
    assert re.search(r" [\d.]+$", last)


def test_sample_cost_prints_a_table():
    *_, last = run(BINARIES / "sample_cost").splitlines()
    assert re.search(r"to vectors [\d.]+, to heaps [\d.]+$", last)
