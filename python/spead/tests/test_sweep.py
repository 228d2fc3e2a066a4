# Copyright 2026 The gr-spead authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""sweep.py from end to end: what it runs, what it reports, what it leaves behind.

How fast anything is, is not looked at.
"""

import contextlib
import csv
import os
import signal
import subprocess
import sys
from pathlib import Path
from xml.etree import ElementTree

import pytest
from benchmarks import BUILT, PROGRAMS, WITHOUT_RIGHTS, run_program
from conftest import BOUND, NEEDS_NAMESPACES, eventually

# As good as a sender, but that it sends one packet only. It keeps what it was told.
FAKE = """
import os, select, socket, subprocess, sys
report, host, port, *rest = sys.argv[1:]
sock = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
sock.connect((host, int(port)))
sock.send(bytes(9000))
errors = select.poll()
errors.register(sock, 0)  # whatever is asked for, POLLERR is told
if errors.poll(50):
    sys.exit("an ICMP error came back")
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


def run(tmp_path, *options, **how):
    return run_program("sweep.py", "--output", tmp_path / "out", *options, **how)


def rows(tmp_path):
    with open(tmp_path / "out" / "results.csv", newline="") as table:
        return list(csv.DictReader(table))


def test_a_sweep_writes_table_report_and_plots(tmp_path, fake):
    command, told = fake
    done = run(
        tmp_path,
        *("--loopback", "--heaps", "8k,64k", "--packets", 1472, "--rounds", 1),
        *("--seconds", 0.02, "--rates", 40, "--rate-heap", "8k"),
        *("--programs", "gr-spead,limit", "--build", BUILT),
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
            *(sys.executable, PROGRAMS / "sweep.py", "--output", tmp_path / "out"),
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
    # whoever is its parent now takes note of its end
    eventually(lambda: not Path("/proc", pid.read_text().strip()).exists())


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


def test_matplotlib_is_missed_before_anything_is_measured(tmp_path, fake):
    package = tmp_path / "matplotlib"
    package.mkdir()
    (package / "__init__.py").write_text('raise ImportError("made for another numpy")')
    paths = [str(tmp_path), os.environ.get("PYTHONPATH", "")]
    done = run(
        tmp_path,
        *("--loopback", "--programs", "", "--peer", f"fake={fake[0]} {{heaps}}"),
        before=["env", "PYTHONPATH=" + os.pathsep.join(paths)],
    )
    assert done.returncode == 1
    assert "it draws with matplotlib: ImportError: made for another" in done.stderr
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize("kind", ["drop", "veth", "cut"])
def test_no_private_network_without_rights(tmp_path, fake, kind):
    done = run(
        tmp_path,
        *("--network", kind, "--programs", "", "--peer", f"fake={fake[0]} {{heaps}}"),
        before=WITHOUT_RIGHTS,
    )
    assert done.returncode == 1
    assert f"--network {kind}: no private network" in done.stderr
    assert "sudo" in done.stderr
    assert "Traceback" not in done.stderr
    assert not (tmp_path / "out").exists()
