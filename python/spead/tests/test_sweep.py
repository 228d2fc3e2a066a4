# Copyright 2026 The gr-spead authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""The benchmark's driver: what it runs, what it reports, what it leaves behind.

How fast anything is, is not looked at.
"""

import contextlib
import csv
import os
import re
import signal
import subprocess
import sys
from pathlib import Path
from xml.etree import ElementTree

import pytest
from conftest import BOUND, NEEDS_NAMESPACES, eventually

ROOT = Path(__file__).resolve().parents[3]
BUILD = Path(os.environ.get("GR_SPEAD_BUILD", ROOT / "build"))
BENCHMARK = ROOT / "examples" / "benchmark"

sys.path.insert(0, str(BENCHMARK))
import options  # noqa: E402
import programs  # noqa: E402
import sweep  # noqa: E402
from measure import Cell, Failure, Meter, Run, execute  # noqa: E402
from private_network import Network  # noqa: E402
from summary import Summary, size_text  # noqa: E402

# As good as a sender, but that it sends two packets only. It keeps what it was told.
FAKE = """
import os, socket, subprocess, sys, time
report, host, port, *rest = sys.argv[1:]
sock = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
sock.connect((host, int(port)))
sock.send(bytes(9000))
time.sleep(0.02)
sock.send(bytes(9000))  # fails if the first was refused
with open(report, "a") as file:
    links = subprocess.check_output(["ip", "-o", "link"], text=True)
    print(os.readlink("/proc/self/ns/net"), links, *rest, file=file)
print("1.5 MB/s, to begin with")
print("800.25 MB/s")
"""


@pytest.fixture
def fake(tmp_path):
    """The command of a peer, and the file that it writes."""
    script, report = tmp_path / "fake.py", tmp_path / "told"
    script.write_text(FAKE)
    return f"{sys.executable} {script} {report} {{host}} {{port}}", report


def run(tmp_path, *options):
    """A sweep in a process of its own, as private networks change the process."""
    command = [sys.executable, BENCHMARK / "sweep.py", "--output", tmp_path / "out"]
    return subprocess.run(
        [*command, *map(str, options)],
        timeout=2 * BOUND,
        capture_output=True,
        text=True,
        check=False,
    )


def rows(tmp_path):
    with open(tmp_path / "out" / "results.csv", newline="") as table:
        return list(csv.DictReader(table))


def test_a_sweep_writes_table_report_and_plots(tmp_path, fake):
    command, told = fake
    done = run(
        tmp_path,
        *("--loopback", "--heaps", "8k,64k", "--packets", 1472, "--rounds", 1),
        *("--seconds", 0.02, "--rates", 40, "--rate-heap", "8k"),
        *("--programs", "gr-spead,limit", "--build", BUILD / "examples" / "benchmark"),
        *("--peer", f"fake={command} {{heaps}} {{heap}} {{rate}}"),
    )
    assert done.returncode == 0, done.stderr
    measured = rows(tmp_path)
    free = [(row["heap"], row["program"]) for row in measured if row["rate"] == "0"]
    names = ["gr-spead", "limit", "fake"]
    assert free == [(heap, name) for heap in ("8192", "65536") for name in names]
    paced = [row for row in measured if row["rate"] == "40.0"]
    assert [row["program"] for row in paced] == ["gr-spead", "fake"] * 2
    assert [int(row["heaps"]) for row in paced] == [20, 20, 391, 391]
    for row in measured:
        assert float(row["mb_per_s"]) > 0
        assert float(row["cpu_s"]) > 0
        assert float(row["max_rss_mib"]) > 1
    assert {row["mb_per_s"] for row in measured if row["program"] == "fake"} == {
        "800.25"
    }
    assert told.read_text().splitlines()[-1].endswith(" 391 8192 40")

    report = (tmp_path / "out" / "report.md").read_text()
    assert "| heap | gr-spead | limit | fake | gr-spead / limit |" in report
    assert "| 64 KiB |" in report
    assert "| rate | gr-spead | fake |" in report
    assert "the loopback device" in report
    for name, line in (("throughput.svg", "limit"), ("cpu.svg", "fake")):
        picture = tmp_path / "out" / name
        ElementTree.parse(picture)
        assert line in picture.read_text()
        assert picture.stat().st_size < 100_000


def test_a_peer_that_fails_is_reported_and_the_others_go_on(tmp_path, fake):
    broken = "echo no speed at all {heaps}"
    crashes = f"{sys.executable} -c 'raise SystemExit(\"no such thing {{heaps}}\")'"
    done = run(
        tmp_path,
        *("--loopback", "--heaps", "8k,16k,32k", "--packets", 1000, "--rounds", 1),
        *("--seconds", 0.01, "--rates", "", "--programs", ""),
        *("--peer", f"broken={broken}", "--peer", f"crashes={crashes}"),
        *("--peer", f"fake={fake[0]} {{seconds}}"),
    )
    assert done.returncode == 1
    assert done.stderr.count("no such thing") == 1
    assert "said no speed" in done.stderr
    assert "Traceback" not in done.stderr
    speeds = [(row["program"], row["mb_per_s"]) for row in rows(tmp_path)]
    # what fails twice is not tried again
    failed = [("broken", ""), ("crashes", "")]
    assert speeds == [*failed, ("fake", "800.25")] * 2 + [("fake", "800.25")]
    report = (tmp_path / "out" / "report.md").read_text()
    assert "- broken, packets of 1000 bytes: said no speed" in report
    assert "| 8 KiB |  |  | 800 |" in report


def test_ctrl_c_ends_the_peer_and_keeps_what_was_measured(tmp_path, fake):
    pid = tmp_path / "pid"
    sleeper = f"sh -c 'echo $$ > {pid}; exec sleep 1000 # {{seconds}}'"
    options = ["--loopback", "--heaps", "8k", "--packets", "1000", "--programs", ""]
    with subprocess.Popen(
        [
            *(sys.executable, BENCHMARK / "sweep.py", "--output", tmp_path / "out"),
            *(*options, "--rates", ""),
            *("--peer", f"fake={fake[0]} {{seconds}}", "--peer", f"sleeper={sleeper}"),
        ],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        # a test run in the background of a shell would hand on that it ignores Ctrl-C
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),
    ) as process:
        assert b"fake" in process.stdout.readline()
        eventually(lambda: pid.exists() and pid.read_text().endswith("\n"))
        process.send_signal(signal.SIGINT)
        _, said = process.communicate(timeout=BOUND)
    assert process.returncode == 130
    assert b"interrupted" in said
    assert [row["program"] for row in rows(tmp_path)] == ["fake"]
    assert "800" in (tmp_path / "out" / "report.md").read_text()
    assert not Path("/proc", pid.read_text().strip()).exists()


@NEEDS_NAMESPACES
@pytest.mark.parametrize(
    ("kind", "device"),
    [("drop", "sink0: "), ("veth", "v0@"), ("cut", "v0@")],
)
def test_a_private_network_comes_up_and_nothing_remains(tmp_path, fake, kind, device):
    command, told = fake
    done = run(
        tmp_path,
        *("--network", kind, "--heaps", "8k", "--packets", 9000, "--rounds", 1),
        *("--seconds", 0.01, "--rates", "", "--programs", ""),
        *("--peer", f"fake={command} {{seconds}}"),
    )
    assert done.returncode == 0, done.stderr
    namespace, links = told.read_text().split(" ", 1)
    assert device in links
    assert ("mtu 65535" if kind == "drop" else "mtu 9200") in links
    left = set()
    for process in Path("/proc").glob("[0-9]*"):
        with contextlib.suppress(OSError):  # it just ended, or is not ours
            left.add(os.readlink(process / "ns" / "net"))
    assert namespace not in left


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


def test_programs_take_turns_in_each_cell():
    args = options.parse(
        None,
        [
            *("--loopback", "--heaps", "8k,1M", "--packets", "1472,9000"),
            *("--rates", "", "--rounds", "2", "--programs", "", "--seconds", "3"),
            *("--peer", "a=send {heaps}", "--peer", "b=send {heaps}"),
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


def test_medians_ratios_and_costs():
    own, peer, faster, limit = (
        programs.Program(name, (), role)
        for name, role in [
            *(("own", "own"), ("peer", "peer"), ("faster", "peer")),
            ("limit", "limit"),
        ]
    )
    speeds = {
        ("own", 8192): (100, 300, 200),
        ("own", 65536): (400, 400, 400),
        ("peer", 8192): (50, 50, 50),
        ("faster", 8192): (100, 100, None),
        ("limit", 8192): (200, 300, 800),
    }
    runs = [
        Run(number, "drop", name, 1472, heap, 0, 9, speed, 1, 1, number)
        for (name, heap), each in speeds.items()
        for number, speed in enumerate(each, 1)
    ]
    # 0.5 s to start, then 2 s for each GB
    runs += [
        Run(number, "drop", "own", 9000, 10**6, 50, heaps, 49, cpu, 1, 9)
        for number in (1, 2, 3)
        for heaps, cpu in ((100, 0.7), (1100, 2.7))
    ]
    summary = Summary(runs, [own, peer, faster, limit])
    assert summary.speed("own", 1472, 8192) == 200
    # of the ratios 0.5, 1 and 0.25 of the rounds
    assert summary.ratio("own", "limit", 1472, 8192) == 0.5
    assert summary.best_peer(1472, 8192) == "faster"
    assert summary.ratio("own", "faster", 1472, 8192) == 2  # of two rounds
    assert summary.best_peer(1472, 65536) is None
    assert summary.speed("peer", 1472, 65536) is None
    assert summary.ratio("own", "peer", 1472, 65536) is None
    assert summary.flatness("own", 1472) == 0.5
    assert summary.memory("own", 8192) == 3
    per_gigabyte, reached = summary.cost("own", 9000, 50)
    assert per_gigabyte == pytest.approx(2)
    assert reached == 49
    assert summary.cost("peer", 9000, 50) is None


@pytest.mark.parametrize(
    ("text", "value", "shown"),
    [
        ("1472", 1472, "1472 B"),
        ("8k", 8192, "8 KiB"),
        ("64K", 65536, "64 KiB"),
        ("16M", 1 << 24, "16 MiB"),
    ],
)
def test_sizes(text, value, shown):
    assert options.size(text) == value
    assert size_text(value) == shown


def test_the_same_figures_make_the_same_picture(tmp_path):
    from plots import draw_throughput

    runs = [Run(1, "drop", "a", 1472, 8192 << i, 0, 9, 1000 + i) for i in range(8)]
    summary = Summary(runs, [programs.Program("a", ())])
    pictures = [tmp_path / "1.svg", tmp_path / "2.svg"]
    for picture in pictures:
        draw_throughput(summary, picture)
    assert pictures[0].read_text() == pictures[1].read_text()
