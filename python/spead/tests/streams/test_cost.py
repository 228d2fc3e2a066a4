# Copyright 2026 The gr-spead authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""The cost of a stream in instructions and system calls; no test measures time.

Each figure is the difference between a long and a short run, which excludes start and
end.
"""

import re
import shutil
import subprocess
from collections import Counter

import pytest
from places import BOUND, BUILD, NEEDS_NAMESPACES

DRIVERS = BUILD / "lib" / "core" / "tests"
SHORT, LONG = 4, 20  # MiB

# Packer instructions per packet, without the copy itself. Measured with -O3: 171 to 182
# with gcc 12, 247 with clang 14.
PACKER_BUDGET = 300

# System calls per MiB. A MiB is two full batches, and may be published in three parts
# (a quarter of the ring, twice, and the end of a write). Each part may cost a partial
# batch, a wake-up of the sender and one of the writer. Measured: 2.1, 2.6 and 1.1.
SENDS_BUDGET = 2 + 3
SENDER_BUDGET = 15
WRITER_BUDGET = 12
# A paced sender sends a burst of 64 KiB and sleeps. When strace slows it down, it sends
# at least a quarter of a burst at a time. Measured: 18 to 41 and 36 to 82.
PACED_SENDS_BUDGET = 64 + 3
PACED_SENDER_BUDGET = 2 * PACED_SENDS_BUDGET + SENDER_BUDGET
# Zero-copy reports are read once per eight messages. Measured: 2.2 and 2.8.
REPORTS_BUDGET = SENDS_BUDGET
PACED_REPORTS_BUDGET = PACED_SENDS_BUDGET / 4


def output(*command):
    return subprocess.run(
        command, check=True, timeout=BOUND, stdout=subprocess.PIPE, text=True
    ).stdout


def driver(name):
    path = (DRIVERS / name).resolve()  # as valgrind names it
    if not path.exists():
        pytest.skip(f"no {name}: built without Boost.Test")
    return path


@pytest.fixture(scope="module")
def callgrind():
    if not shutil.which("valgrind"):
        pytest.skip("no valgrind: it counts the instructions")
    cache = (BUILD / "CMakeCache.txt").read_text()
    built = re.search("^CMAKE_BUILD_TYPE:.*=(.*)$", cache, re.MULTILINE)[1]
    if built not in ("Release", "RelWithDebInfo"):
        pytest.skip(f"instructions of a build of type {built} say nothing")


@pytest.fixture(scope="module")
def strace():
    if not shutil.which("strace"):
        pytest.skip("no strace: it counts the system calls")
    if subprocess.run(["strace", "true"], capture_output=True).returncode:
        pytest.skip("strace is not permitted")


def packer_counts(directory, heap_samples, packet_bytes, mib):
    """Packets, the packer's instructions, and how often it calls a library."""
    program = driver("packer-cost")
    profile = directory / f"{mib}.callgrind"
    packets = output(
        "valgrind",
        "--quiet",
        "--tool=callgrind",
        f"--callgrind-out-file={profile}",
        "--compress-strings=no",
        "--toggle-collect=gr::spead::input_packer::write*",
        *map(str, (program, heap_samples, packet_bytes, mib)),
    )
    counts = Counter(packets=int(packets))
    ours = called_elsewhere = False
    lines = iter(profile.read_text().splitlines())
    for line in lines:
        key, _, value = line.partition("=")
        if key == "ob":
            ours = value == str(program)
        elif key == "cob":
            called_elsewhere = True
        elif key == "calls":
            counts["calls"] += int(value.split()[0]) * (ours and called_elsewhere)
            called_elsewhere = False
            next(lines)  # the cost of the called function
        elif ours and re.match(r"[\d+*-]", line):
            counts["instructions"] += int(line.split()[1])
    return counts


@pytest.mark.parametrize("shape", [(8192, 1472), (1 << 20, 9000)])
def test_packer_needs_few_instructions(callgrind, tmp_path, shape):
    counts = packer_counts(tmp_path, *shape, LONG)
    counts.subtract(packer_counts(tmp_path, *shape, SHORT))
    assert counts["packets"] > 1000
    assert 0 < counts["instructions"] / counts["packets"] <= PACKER_BUDGET
    # each sample is copied once; a packet that two writes fill takes two copies
    assert 1 <= counts["calls"] / counts["packets"] <= 1.05


# A device that drops packets without reading them; like a network card, it never copies
CARD = """
ip link set lo up
ip link add card type ifb
ip addr add 10.78.0.1/24 dev card
ip link set card mtu 65535 up
export SPEAD_COST_DESTINATION=10.78.0.2:7148
exec "$@"
"""
ON_A_CARD = ("unshare", "--net", "sh", "-e", "-c", CARD, "-")


def stream_counts(directory, shape, mib, card):
    """System calls of the writer thread and of the sender thread."""
    log = directory / f"{mib}.strace"
    command = ["strace", "-f", "-o", log, driver("stream-cost"), *map(str, shape), mib]
    if card:
        command = [*ON_A_CARD, *command]
    packets, zero_copy = map(int, output(*map(str, command)).split())
    assert zero_copy == card
    calls = {}  # by thread
    for line in log.read_text().splitlines():
        thread, call = line.split(maxsplit=1)
        if match := re.match(r"(\w+)\(", call):  # else a resumed call, or a signal
            calls.setdefault(thread, Counter())[match[1]] += 1
        if "PR_SET_NAME" in call and '"spead-send"' in call:
            sender = thread
    writer = next(iter(calls))
    return Counter(
        packets=packets,
        sends=calls[sender]["sendmmsg"],
        reports=calls[sender]["recvmsg"],
        sender=calls[sender].total(),
        writer=calls[writer].total(),
    )


# each rate with and without a copy, each heap and packet size with both rates
@pytest.mark.parametrize(
    ("heap_samples", "packet_bytes", "rate", "card"),
    [
        (8192, 1472, 0, False),
        (1 << 20, 8972, 2e8, False),
        pytest.param(1 << 20, 8972, 0, True, marks=NEEDS_NAMESPACES),
        pytest.param(8192, 1472, 2e8, True, marks=NEEDS_NAMESPACES),
    ],
)
def test_stream_needs_few_system_calls(
    strace, tmp_path, heap_samples, packet_bytes, rate, card
):
    shape = heap_samples, packet_bytes, rate
    short, long = 16, 80
    counts = stream_counts(tmp_path, shape, long, card)
    counts.subtract(stream_counts(tmp_path, shape, short, card))
    assert counts["packets"] > 7000
    mib = long - short
    assert 1 <= counts["sends"] / mib <= (PACED_SENDS_BUDGET if rate else SENDS_BUDGET)
    others = (counts["sender"] - counts["reports"]) / mib
    assert others <= (PACED_SENDER_BUDGET if rate else SENDER_BUDGET)
    assert counts["writer"] / mib <= WRITER_BUDGET
    if card:
        budget = PACED_REPORTS_BUDGET if rate else REPORTS_BUDGET
        assert 0 < counts["reports"] / mib <= budget


@NEEDS_NAMESPACES
def test_zero_copy_allocates_nothing():
    output(*ON_A_CARD, str(driver("cost-tests")))
