# Copyright 2026 The gr-spead authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Which programs the benchmark runs, in which order, and with how much to do."""

import re

import options
import programs
import pytest
import sweep
from measure import Cell, Failure, Meter, execute
from private_network import Network


def test_placeholders():
    peer = programs.parse_peer(
        "x=send -n {heaps} {heap}/{packet} {rate} '{host} {port}'"
    )
    to = Network("loopback", "127.0.0.1", 7148)
    told = {"heaps": 3, "heap": 8192, "packet": 1472, "seconds": 1, "network": to}
    assert peer.name == "x"
    assert peer.fill(**told, rate=100) == [
        *("send", "-n", "3", "8192/1472", "100", "127.0.0.1 7148")
    ]
    assert peer.fill(**told)[4] == "0"  # as fast as it goes
    assert peer.paces
    assert peer.counts
    gigabits = programs.parse_peer("x=send {bytes} {rate_gbps}")
    assert gigabits.fill(**told, rate=100) == ["send", "24576", "0.8"]
    seconds = programs.parse_peer("x=send {seconds}")
    assert not seconds.paces
    assert not seconds.counts


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("send {heaps}", "is not NAME=COMMAND"),
        ("=send {heaps}", "is not NAME=COMMAND"),
        ("x=", "is not NAME=COMMAND"),
        ("x=send {heaps} {to}", "'to'; there are {heaps}"),
        ("x=send {heaps", "expected '}'"),
        ("x=send {host} {port}", "none of {heaps}, {bytes} and {seconds}"),
    ],
)
def test_mistakes_in_templates_are_named(text, message):
    with pytest.raises(ValueError, match=re.escape(message)):
        programs.parse_peer(text)


def test_what_is_not_there_is_named(capsys, tmp_path):
    with pytest.raises(SystemExit):
        options.parse(
            None, ["--loopback", "--programs", "limit", "--build", str(tmp_path)]
        )
    assert f"limit needs {tmp_path}/limit" in capsys.readouterr().err
    args = options.parse(None, ["--loopback", "--build", str(tmp_path)])
    assert "limit" not in {program.name for program in args.programs}
    assert f"left out, {tmp_path}/limit is not there: limit" in capsys.readouterr().err
    assert programs.parse_peer("x=sh {heaps}").lacks() is None
    for command in ("no-such-program", tmp_path):  # a folder cannot be run
        assert programs.parse_peer(f"x={command} {{heaps}}").lacks() == str(command)


def test_nothing_to_measure_is_refused(monkeypatch, tmp_path):
    monkeypatch.chdir(tmp_path)
    nothing = ["--heaps", "", "--rates", "", "--programs", "", "--peer", "a=sh {heaps}"]
    with pytest.raises(SystemExit, match="nothing to measure"):
        sweep.main(["--loopback", *nothing])
    assert list(tmp_path.iterdir()) == []


def test_programs_take_turns_in_each_cell():
    args = options.parse(
        None,
        [
            *("--loopback", "--heaps", "8k,1M", "--packets", "1472,9000"),
            *("--rates", "", "--rounds", "2", "--programs", "", "--seconds", "3"),
            *("--peer", "a=true {heaps}", "--peer", "b=true {heaps}"),
        ],
    )
    steps = sweep.plan(args)
    assert [program.name for _, program, _ in steps] == ["a", "b"] * 8
    cells = [Cell(p, h, 0, 3) for p in (1472, 9000) for h in (8192, 1 << 20)]
    assert [cell for _, _, cell in steps[::2]] == cells * 2
    assert [number for number, _, _ in steps] == [1] * 8 + [2] * 8


def test_the_amount_is_found_from_short_runs(monkeypatch):
    """A program of 1000 MB/s that is to run for 2 s in heaps of 1 MB."""
    peer = programs.parse_peer("x={heaps}")
    counts = []

    def fake_execute(command, patience):
        counts.append(int(command[0]))
        usage = type("usage", (), {"ru_utime": 1, "ru_stime": 2, "ru_maxrss": 2048})
        return 1000.0, 0.5, usage

    monkeypatch.setattr("measure.execute", fake_execute)
    meter = Meter(Network("loopback", "127.0.0.1", 7148))
    result = meter.measure(1, peer, Cell(1472, 1_000_000, seconds=2))
    assert counts == [100, 2000]
    assert (result.heaps, result.mb_per_s, result.cpu_s) == (2000, 1000, 3)
    assert result.max_rss_mib == 2
    meter.measure(2, peer, Cell(1472, 1_000_000, seconds=2))
    meter.measure(2, peer, Cell(1472, 2_000_000, seconds=2))
    meter.measure(2, peer, Cell(1472, 1 << 40, seconds=2))
    assert counts == [100, 2000, 2000, 1000, 2]


def test_a_program_that_hangs_is_ended():
    with pytest.raises(Failure, match="ended after"):
        execute(["sleep", "1000"], patience=0.01)


def test_special_cases_are_to_be_asked_for():
    special = {"gr-spead 2 inputs", "gr-spead 8 destinations", "gr-spead float", "Volk"}
    plain = options.parse(None, ["--loopback"])
    assert not special & {program.name for program in plain.programs}
    names = ",".join(special)
    asked = options.parse(None, ["--loopback", "--programs", names])
    assert {program.name for program in asked.programs} == special
