# Copyright 2026 The gr-spead authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""The measuring programs of the benchmark: what they make of known times, and that they
run. How good the times of this machine are, is not looked at.
"""

import contextlib
import os
import re
import socket
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from conftest import BOUND, NEEDS_NAMESPACES, bound_socket, datagrams, noise, send

ROOT = Path(__file__).resolve().parents[3]
BUILD = Path(os.environ.get("GR_SPEAD_BUILD", ROOT / "build"))
BENCHMARK = ROOT / "examples" / "benchmark"

sys.path.insert(0, str(BENCHMARK))
import latency  # noqa: E402
import lossless  # noqa: E402
import pacing  # noqa: E402
import receiver_process  # noqa: E402
import udp_losses  # noqa: E402
from arrivals import after_longest_gap, backlog, fastest, long_run_rate  # noqa: E402
from search import Search  # noqa: E402

RATE, BURST = 1e6, 10000


def bursts(count, rate=RATE, start=0.0):
    """Times and sizes of bursts at a steady pace."""
    return start + np.arange(count) * BURST / rate, np.full(count, BURST)


def stalled(seconds, factor=1.05):
    """A second of bursts, a gap, a full bucket at once, and catching up to the end."""
    before, _ = bursts(101)
    resumed = before[-1] + seconds
    owed = RATE * seconds - BURST
    catching_up = int(owed / (factor - 1) * factor / BURST)
    after, _ = bursts(catching_up + 1, factor * RATE, resumed)
    caught_up, _ = bursts(50, start=after[-1] + BURST / RATE)
    times = np.concatenate([before, after, caught_up])
    return times, np.full(len(times), BURST)


def test_long_run_rate_is_that_of_the_bursts():
    times, sizes = bursts(50)
    assert long_run_rate(times, sizes) == pytest.approx(RATE)
    late = times + np.resize([0, 1e-5, 3e-5], len(times))
    assert long_run_rate(late, sizes) == pytest.approx(RATE, rel=1e-4)
    with pytest.raises(ValueError, match="two arrivals"):
        long_run_rate(times[:1], sizes[:1])


def test_backlog_is_what_a_link_has_yet_to_pass_on():
    times = np.array([0, 0, 0.005, 0.1, 0.101])
    sizes = np.array([1000, 4000, 2000, 3000, 3000])
    found = backlog(times, sizes, RATE)
    assert found == pytest.approx([1000, 5000, 2000, 3000, 5000])


def test_backlog_of_a_steady_pace_is_a_burst():
    assert backlog(*bursts(50), RATE).max() == pytest.approx(BURST)
    # at the pace of catching up as well, if that is what is compared with
    assert backlog(*bursts(50, 1.05 * RATE), 1.05 * RATE).max() == pytest.approx(BURST)
    assert backlog(*bursts(50, 1.05 * RATE), RATE).max() > 2 * BURST


def test_a_burst_that_leaves_late_makes_a_longer_one():
    times, sizes = bursts(50)
    times[20] += 0.002
    assert backlog(times, sizes, RATE).max() == pytest.approx(BURST + 0.002 * RATE)


def test_fastest_does_not_count_one_burst():
    times, sizes = bursts(50)
    assert fastest(times, sizes, 0.02, BURST) == pytest.approx(RATE)
    times[21:] -= 0.005  # half a burst too early
    assert fastest(times, sizes, 0.014, BURST) == pytest.approx(RATE / 0.75)
    with pytest.raises(ValueError, match="too few"):
        fastest(times, sizes, 100, BURST)


@pytest.mark.parametrize("factor", [1.05, 1.2])
def test_a_stall_and_how_it_was_caught_up(factor):
    times, sizes = stalled(0.2, factor)
    stall = after_longest_gap(times, sizes, RATE, BURST, 0.02)
    assert stall.seconds == pytest.approx(0.2)
    assert stall.rate == pytest.approx(factor * RATE, rel=1e-3)
    assert stall.fastest == pytest.approx(factor * RATE, rel=1e-3)
    assert abs(stall.missing) < BURST


def test_what_is_never_caught_up_is_missing():
    before, _ = bursts(101)
    after, _ = bursts(100, start=before[-1] + 0.2)
    times = np.concatenate([before, after])
    stall = after_longest_gap(times, np.full(201, BURST), RATE, BURST, 0.02)
    assert stall.rate == pytest.approx(RATE)
    assert stall.missing == pytest.approx(0.2 * RATE - BURST)


def judge(times, sizes, lost=0, *options):
    args = pacing.parse(["--seconds", "1", "--burst", str(BURST), *options])
    return pacing.judge(times, sizes, lost, args, RATE)


def test_a_pace_is_judged():
    good = judge(*stalled(0.2))
    assert list(good.broken()) == []
    assert "1.0000" in pacing.line(good)
    faults = [
        (judge(*stalled(0.2, 1.06)), "caught up at 1.06"),
        (judge(*bursts(300, 1.002 * RATE), 0, "--stall", "0"), r"\+0.2"),
        (judge(*stalled(0.2), 3), "3 packets were lost"),
    ]
    for pace, complaint in faults:
        assert re.search(complaint, " ".join(pace.broken()))


def test_a_long_burst_is_complained_about_unless_it_may_be_late():
    times, sizes = bursts(300)
    times[20] += 0.001
    assert "10,550 bytes" in next(judge(times, sizes, 0, "--stall", "0").broken())
    tolerant = judge(times, sizes, 0, "--stall", "0", "--jitter", "1001")
    assert list(tolerant.broken()) == []


@pytest.mark.parametrize("bits", [40, 48])
def test_the_time_is_in_the_last_packet_of_a_heap(bits):
    samples = noise(3000)
    samples[-8:] = np.array([123456789012345]).view(np.int8)
    with bound_socket() as sock:
        options = {"descriptors": "none", "send_stop": False}
        send(sock, samples, heap_samples=3000, heap_address_bits=bits, **options)
        packets = datagrams(sock, 3)
    found = [latency.hand_over_time(packet, bits) for packet in packets]
    assert found == [None, None, 123456789012345]


def test_latencies_are_of_heaps_that_were():
    found = latency.Latencies(np.arange(1, 151), 0)
    assert found.median == 75.5
    assert found.p99 == 149


def limited(most):
    """A receiver that takes so much, and a sender that can do anything."""
    return lambda rate: (rate <= most, rate)


@pytest.mark.parametrize("guess", [10, 440, 460, 5000])
def test_the_highest_rate_is_found(guess):
    search, attempts = Search(guess, step=2, resolution=0.02), 0
    while search.rate:
        search.tell(*limited(450)(search.rate))
        attempts += 1
    assert 450 / 1.02 <= search.reached <= 450
    assert attempts < 15


def test_a_sender_comes_to_its_limit_before_the_receiver():
    search = Search(100, step=2, resolution=0.02)
    while search.rate:
        search.tell(True, min(search.rate, 550))
    assert search.reached == 550


def test_a_receiver_that_takes_nothing_ends_the_search():
    search = Search(100, step=2, resolution=0.02)
    while search.rate:
        search.tell(False, search.rate)
    assert search.reached is None


def test_ratios_are_medians_of_rounds():
    rounds = [{"a": 100, "b": 100}, {"a": 110, "b": 100}, {"a": 300, "b": 200}]
    head, a, b = lossless.table(rounds)
    assert head.endswith("a to it")
    assert a.split()[1:] == ["100.0", "110.0", "300.0", "110.0", "1.000"]
    assert b.split()[1:] == ["100.0", "100.0", "200.0", "100.0", "1.100"]
    assert list(lossless.table([{"a": 0, "b": 0}]))[2].split() == ["b", "0.0", "0.0"]


def test_counters_of_the_kernel():
    snmp = "Udp: InDatagrams NoPorts InErrors\nUdp: 7 2 3\nUdpLite: NoPorts\nUdpLite: 9"
    assert udp_losses.udp_counters(snmp)["InErrors"] == 3
    devices = "Inter-|\n face |\n  eth0: 1 1 1 1\n    lo: 5000 40 0 6 0\n"
    assert udp_losses.loopback_counters(devices) == (5000, 6)
    sockets = (
        "sl local remote st queues\n 1: 0100007F:1BEC 0:0 07 00000000:00000A00 00\n"
    )
    assert udp_losses.queued_bytes(sockets, 7148) == 0xA00
    assert udp_losses.queued_bytes(sockets, 7149) is None
    assert udp_losses.losses() >= 0


def test_middle_rate_leaves_out_beginning_and_end():
    times = np.arange(22.0)
    counts = [0, *range(0, 2000, 100), 1900]
    assert udp_losses.middle_rate(times, counts) == 100
    assert udp_losses.middle_rate([0, 1], [0, 100]) is None
    assert udp_losses.middle_rate([0, 1, 2], [5, 5, 5]) is None


def test_receivers_are_commands_with_a_port():
    assert receiver_process.check("receive {port} {json}") == "receive {port} {json}"
    for template, complaint in (("receive", "lacks"), ("r {port} {rate}", "there are")):
        with pytest.raises(ValueError, match=complaint):
            receiver_process.check(template)


def run(program, *options):
    return subprocess.run(
        [sys.executable, BENCHMARK / program, *map(str, options)],
        timeout=BOUND,
        capture_output=True,
        text=True,
        check=False,
    )


def rows(done, name):
    """The fields of the lines of a table that begin with a name."""
    assert "Traceback" not in done.stderr, done.stderr
    lines = (line.split() for line in done.stdout.splitlines())
    return [fields for fields in lines if fields and fields[0] == name]


def pacing_prints_a_table(*options):
    done = run("pacing.py", "--seconds", 0.3, *options)
    (row,) = rows(done, "20")
    assert float(row[1]) > 0
    return row


def test_pacing_on_loopback():
    row = pacing_prints_a_table("--rates", 20, "--stall", 0, "--loopback")
    assert row[-1] == "0"  # packets lost


@NEEDS_NAMESPACES
def test_pacing_with_a_stall_in_a_private_network():
    options = ("--rates", 20, "--burst", 20000, "--stall", 0.05, "--jitter", 1e6)
    assert float(pacing_prints_a_table(*options)[-3]) > 0  # ms of stall


def test_latency_prints_a_table():
    done = run("latency.py", "--heap-sizes", "1024,4096", "--heaps", 30)
    for size in ("1024", "4096"):
        found = rows(done, size)
        assert [row[1:4] for row in found] == [["none", "30", "0"], ["1.1", "30", "0"]]
        assert all(float(row[4]) > 0 for row in found)


SENDER = """
import socket, sys, time
host, port, rate, heaps = sys.argv[1:]
sock = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
begin = time.monotonic()
for k in range(int(heaps)):
    sock.sendto(bytes(10000), (host, int(port)))
    time.sleep(max(begin + k * 1e4 / float(rate) / 1e6 - time.monotonic(), 0))
"""
RECEIVER = """
import json, socket, sys
port, heaps, summary = sys.argv[1:]
sock = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
sock.bind(("127.0.0.1", int(port)))
for k in range(int(heaps)):
    sock.recv(65536)
with open(summary, "w") as file:
    json.dump({"complete": int(heaps) <= 25}, file)
"""


def free_port():
    with contextlib.closing(socket.socket(socket.AF_INET, socket.SOCK_DGRAM)) as sock:
        sock.bind(("127.0.0.1", 0))
        return sock.getsockname()[1]


def test_lossless_finds_what_a_receiver_takes(tmp_path):
    """One that can do with 25 heaps in half a second, it says, which is 0.5 MB/s."""
    (tmp_path / "sender.py").write_text(SENDER)
    (tmp_path / "receiver.py").write_text(RECEIVER)
    receiver = f"{sys.executable} {tmp_path}/receiver.py {{port}} {{heaps}} {{json}}"
    sender = (
        f"{sys.executable} {tmp_path}/sender.py {{host}} {{port}} {{rate}} {{heaps}}"
    )
    done = run(
        *("lossless.py", "--programs", "", "--sender", f"fake={sender}"),
        *("--receiver", receiver, "--port", free_port(), "--heap", 10000),
        *("--rounds", 1, "--seconds", 0.5, "--guess", 0.6, "--resolution", 0.5),
    )
    (passed,) = rows(done, "fake")[-1:]
    assert float(passed[1]) <= 0.6, done.stdout
    assert done.returncode == 0
    assert re.search(r"0\.6 MB/s, .*: lost some", done.stdout)


@pytest.mark.skipif(
    not (BUILD / "examples" / "benchmark" / "send_perf").exists(),
    reason="needs send_perf, which is built with the examples",
)
def test_lossless_runs_the_sink_against_the_example():
    done = run(
        *("lossless.py", "--rounds", 1, "--seconds", 0.3, "--guess", 5),
        *("--resolution", 100, "--port", free_port(), "--heap", 8192),
        *("--build", BUILD / "examples" / "benchmark"),
    )
    assert rows(done, "gr-spead"), done.stderr


def test_lossless_says_what_is_wrong():
    for options, complaint in (
        (["--programs", "nothing"], "no program"),
        (["--sender", "a=b {heaps}"], "has no {rate}"),
        (["--receiver", "true"], "lacks {port}"),
        (["--receiver", "false {port}"], "does not listen"),
    ):
        done = run("lossless.py", *options)
        assert complaint in done.stderr
        assert done.returncode != 0
