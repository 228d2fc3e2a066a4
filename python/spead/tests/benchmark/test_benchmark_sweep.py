# Copyright 2026 The gr-spead authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""sweep.py runs the programs in turns and writes its results. Speed is not judged."""

import shlex
import sys
from itertools import groupby
from xml.etree import ElementTree

import measure
import pandas as pd
import programs
import pytest
import sweep
from benchmarks import BUILT, WITHOUT_RIGHTS, run_script
from measure import Cell, Failure
from places import NEEDS_NAMESPACES
from private_network import Network

FAKE = "echo 1.5 MB/s, then 800.25 MB/s"  # the command of a peer
LOOPBACK = Network("loopback", "127.0.0.1", 7148)
RESULT = {"mb_per_s": 1000.0, "cpu_s": 1, "wall_s": 1, "max_rss_mib": 1}


def run_sweep(tmp_path, *options, **how):
    output = ("--output", tmp_path / "out", "--build", BUILT)
    short = ("--rounds", 1, "--seconds", 0.01)
    return run_script("sweep.py", *output, *short, *options, **how)


def results(tmp_path):
    return pd.read_csv(tmp_path / "out" / "results.csv")


def test_a_sweep_writes_results_report_and_plots(tmp_path):
    done = run_sweep(
        tmp_path,
        *("--loopback", "--heaps", "8k,64k", "--packets", 1472, "--programs"),
        *("gr-spead,limit", "--rates", 40, "--rate-heap", "8k"),
        *("--peer", f"fake={FAKE} {{heaps}} {{rate}}"),
    )
    assert done.returncode == 0, done.stderr
    table = results(tmp_path)
    assert len(table) == 2 * 3 + 2 * 2
    assert (table[["mb_per_s", "wall_s", "max_rss_mib"]] > 0).all(axis=None)
    assert set(table[table.rate == 40].program) == {"gr-spead", "fake"}
    assert set(table[table.program == "fake"].mb_per_s) == {800.25}

    report = (tmp_path / "out" / "report.md").read_text()
    assert "| heap | gr-spead | limit | fake | gr-spead / limit |" in report
    assert "| 64 KiB |" in report
    assert "| rate | gr-spead | fake |" in report
    assert "the loopback device" in report
    for name, program in (("throughput.svg", "limit"), ("cpu.svg", "fake")):
        ElementTree.parse(tmp_path / "out" / name)
        assert program in (tmp_path / "out" / name).read_text()


def test_the_peers_of_the_folder_run(tmp_path):
    names = "spead2 Python,network.udp_sink,null sink"
    options = ("--heaps", "8k", "--packets", 1472, "--rates", "")
    done = run_sweep(tmp_path, "--loopback", *options, "--programs", names)
    assert done.returncode == 0, done.stderr
    assert set(results(tmp_path).program) == set(names.split(","))


def test_a_program_that_fails_is_reported_and_the_others_go_on(tmp_path):
    crash = shlex.quote("raise SystemExit('no such thing')")
    done = run_sweep(
        tmp_path,
        *("--loopback", "--heaps", "8k,16k,32k", "--packets", 1000, "--rates", ""),
        *("--programs", "", "--peer", f"fake={FAKE} {{seconds}}"),
        *("--peer", f"crash={sys.executable} -c {crash} {{heaps}}"),
    )
    assert done.returncode == 1
    table = results(tmp_path)
    assert len(table[table.program == "fake"]) == 3
    assert len(table[table.program == "crash"]) == 2  # then it is not tried again
    assert table[table.program == "crash"].mb_per_s.isna().all()
    report = (tmp_path / "out" / "report.md").read_text()
    assert "- crash, packets of 1000 bytes: no such thing" in report
    assert "| 8 KiB | 800 |" in report


@NEEDS_NAMESPACES
@pytest.mark.parametrize("kind", ["drop", "veth", "cut"])
def test_a_private_network(tmp_path, kind):
    done = run_sweep(
        tmp_path,
        *("--network", kind, "--heaps", "8k", "--packets", 9000, "--rates", ""),
        *("--programs", "limit", "--peer", f"links={FAKE} {{heaps}}"),
    )
    assert done.returncode == 0, done.stderr
    assert set(results(tmp_path).network) == {kind}


def test_loopback_is_the_default_without_rights(tmp_path):
    options = ("--heaps", "8k", "--packets", 1472, "--rates", "", "--programs", "limit")
    done = run_sweep(tmp_path, *options, before=WITHOUT_RIGHTS)
    assert done.returncode == 0, done.stderr
    assert "using loopback: no private network, which needs root" in done.stderr
    assert set(results(tmp_path).network) == {"loopback"}


def test_programs_run_in_random_order_in_each_cell():
    names = set("abcde")
    peers = [programs.peer(f"{name}=echo {{heaps}} {{rate}}") for name in sorted(names)]
    no_rate = programs.peer("f=echo {seconds}")
    options = ["--packets", "1472,9000", "--heaps", "8k,1M", "--rates", "10"]
    args = sweep.parse(
        ["--loopback", "--programs", "limit", "--build", str(BUILT), *options]
    )
    steps = list(sweep.plan([*peers, no_rate], args))
    orders = []
    for (_, cell), group in groupby(steps, lambda step: (step[0], step[2])):
        orders.append("".join(program.name for _, program, _ in group))
        assert set(orders[-1]) == (names if cell.rate else names | {"f"})
    assert len(orders) == 3 * (4 + 4)
    assert len(set(orders)) > 1
    assert list(sweep.plan([*peers, no_rate], args)) == steps


def test_the_number_of_heaps_follows_from_the_speed(monkeypatch):
    counts = []

    def execute(command, timeout):
        counts.append(int(command[0]))
        return RESULT

    monkeypatch.setattr(measure, "execute", execute)
    meter = measure.Meter(LOOPBACK)
    peer = programs.peer("x={heaps}")
    result = meter.measure(peer, Cell(1472, 1_000_000, 0, 2))
    assert counts == [100, 2000]  # the first run takes 0.1 s
    assert result == {"heaps": 2000, **RESULT}
    meter.measure(peer, Cell(1472, 2_000_000, 0, 2))
    meter.measure(peer, Cell(1472, 1_000_000, 50, 2))
    assert counts[2:] == [1000, 100]


def test_a_program_that_hangs_is_killed():
    with pytest.raises(Failure, match="killed"):
        measure.execute(["sleep", "1000"], timeout=0.01)


def test_placeholders_of_a_peer(monkeypatch):
    commands = []
    monkeypatch.setattr(
        measure, "execute", lambda command, timeout: commands.append(command) or RESULT
    )
    peer = programs.peer(
        "x=send -n {bytes} {heap}/{packet} {rate_gbps} '{host} {port}'"
    )
    measure.Meter(LOOPBACK).measure(peer, Cell(1472, 1_000_000, 100, 0.1))
    assert commands == [
        ["send", "-n", "10000000", "1000000/1472", "0.8", "127.0.0.1 7148"]
    ]


@pytest.mark.parametrize("text", ["send {heaps}", "x=", "x=send {to}", "x=send {port}"])
def test_a_wrong_peer_is_rejected(capsys, text):
    with pytest.raises(SystemExit):
        sweep.parse(["--peer", text])
    assert f"argument --peer: invalid peer value: '{text}'" in capsys.readouterr().err
