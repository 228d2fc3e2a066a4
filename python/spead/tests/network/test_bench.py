# Copyright 2026 The gr-spead authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""spead-bench finds the highest rate without loss, and tells which counters grew."""

import contextlib
import json
import random
import re
import shutil
import signal
import socket
import subprocess
from dataclasses import dataclass

import pytest
from gnuradio.spead.bench_trial import MAX_DELAY_GROWTH, delay_growth, longest_stall
from gnuradio.spead.rate_search import ACCURACY, Search
from places import BOUND, BUILD, NEEDS_NAMESPACES, run_scenario

PROGRAM = BUILD / "spead-bench"
QUICK = ["--max", "2", "--seconds", "0.1", "--heap-size", "1024"]


@dataclass
class SimulatedTrial:
    rate: float
    lossy: bool
    lost: int = 0


def searched(capacity, sender_limit, order=None):
    """The search on a path with a capacity. With `order`, a trial per rate may lose."""
    accidents = {}

    def trial(target):
        rate = min(target, sender_limit)
        accidents.setdefault(target, [False, False, bool(order)])
        if len(accidents[target]) == 3 and order:
            order.shuffle(accidents[target])
        return SimulatedTrial(rate, rate > capacity or accidents[target].pop())

    search = Search(trial, 100)
    search.run()
    return search


@pytest.mark.parametrize("seed", range(50))
def test_search_finds_the_capacity(seed):
    order = random.Random(seed)
    capacity = 10 ** order.uniform(0.1, 4.5)
    search = searched(capacity, sender_limit=order.choice([1.5, 20]) * capacity)
    assert search.clean.achieved <= capacity < search.lossy.achieved
    assert search.lossy.achieved <= ACCURACY * search.clean.achieved
    assert (search.clean.losses, len(search.clean.trials)) == (0, 3)
    assert search.lossy.losses >= 2


@pytest.mark.parametrize("seed", range(50))
def test_accidental_losses_only_widen_the_interval(seed):
    order = random.Random(seed)
    capacity = 10 ** order.uniform(1, 4)
    search = searched(capacity, 20 * capacity, order)
    assert capacity < search.lossy.achieved <= capacity * ACCURACY
    assert all(rate.losses for rate in search.decisive())
    assert search.clean is None


def test_a_lower_rate_is_searched_if_each_has_lost():
    def trial(target):
        lossy = target > 90 if trials.count(target) == 2 else target > 500
        trials.append(target)
        return SimulatedTrial(target, lossy)

    trials = []
    search = Search(trial, 100)
    search.run()
    assert 0.9 * 90 <= search.clean.achieved <= 90
    assert 500 < search.lossy.achieved <= 500 * ACCURACY


@pytest.mark.parametrize("seed", range(20))
def test_search_ends_at_the_limit_of_the_sender(seed):
    order = random.Random(seed)
    limit = 10 ** order.uniform(1, 4)
    search = searched(2 * limit, sender_limit=limit)
    assert search.lossy is None
    assert search.clean.achieved == limit
    assert search.clean.is_sender_limit


def curves(order, excess, seconds=1.0, rate=1e8):
    """The curves of a path whose capacity is exceeded by a fraction.

    Each program waits for a CPU four times, up to 40 ms, and sees its progress late.
    """
    times = [seconds * n / 500 for n in range(1, 501)]
    sent = [(time, round(rate * time)) for time in times]
    received = [(5000 + (1 + excess) * time, count) for time, count in sent]
    for curve in (sent, received):
        for begin in order.sample(range(480), 4):
            until = order.randrange(begin, begin + 20)
            curve[begin:until] = [(curve[until][0], n) for _, n in curve[begin:until]]
    return sent, received


@pytest.mark.parametrize("seed", range(20))
def test_a_queue_that_fills_is_noticed_despite_stalls(seed):
    order = random.Random(seed)
    assert delay_growth(*curves(order, excess=0)) < MAX_DELAY_GROWTH
    assert delay_growth(*curves(order, excess=0.02)) > MAX_DELAY_GROWTH


def test_the_longest_stall_is_that_of_the_sender():
    sent = [(n / 100, n) for n in range(1, 101)]
    assert longest_stall(sent, rate=100) < 1e-9
    late = [(t + 0.03 if 0.5 <= t < 0.8 else t, n) for t, n in sent]
    assert longest_stall(late, rate=100) == pytest.approx(0.03)


def free_port():
    with socket.create_server(("127.0.0.1", 0)) as sock:
        return sock.getsockname()[1]


@contextlib.contextmanager
def receiver(address="127.0.0.1"):
    """Yields the process, and the endpoint of the sender."""
    port = free_port()
    endpoint = f"[{address}]:{port}" if ":" in address else f"{address}:{port}"
    process = subprocess.Popen(
        [PROGRAM, "receive", f":{port}"],
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    )
    try:
        assert "waiting" in process.stdout.readline()
        yield process, endpoint
    finally:
        process.kill()
        process.communicate()


def run(*arguments):
    return subprocess.run(
        [PROGRAM, *arguments],
        capture_output=True,
        text=True,
        timeout=2 * BOUND,
        check=False,
    )


def sent(endpoint):
    """The result of a quick measurement."""
    done = run("send", endpoint, *QUICK)
    assert not done.stderr
    assert "MB/s of samples without loss" in done.stdout
    return done.stdout


def connected(endpoint):
    """A control connection, as a sender opens it, after the greeting."""
    host, _, port = endpoint.rpartition(":")
    sock = socket.create_connection((host, int(port)), BOUND)
    assert json.loads(sock.recv(1000)) == {"protocol": 1}
    return sock


@pytest.mark.parametrize("address", ["127.0.0.1", "::1"])
def test_one_sender_after_another_is_served(address):
    with receiver(address) as (process, endpoint):
        for _ in range(2):
            sent(endpoint)
        process.send_signal(signal.SIGINT)
        output, _ = process.communicate(timeout=BOUND)
    assert len(re.findall(": end$", output, re.M)) == 2
    assert "Traceback" not in output
    assert process.returncode == 128 + signal.SIGINT


def test_a_second_sender_is_refused_while_busy():
    with receiver() as (_, endpoint):
        with connected(endpoint):
            done = run("send", endpoint, *QUICK)
            assert done.returncode == 1
            assert "busy with 127.0.0.1:" in done.stderr
        sent(endpoint)


@pytest.mark.parametrize(
    ("messages", "reason"),
    [
        ([b"GET / HTTP/1.1\r\n"], "is not spead-bench"),
        ([b"[" * 3000 + b"\n"], "is not spead-bench"),
        ([b"x" * 100_000], "is not spead-bench"),
        ([b'{"heap_size": 1}\n'], r"heap_size: 1 is out of range \[1024, 16777216\]"),
        ([b'{"heap_size": 1024}\n', b'{"trial": 1, "seconds": 1e9}\n'], "seconds: 1"),
        ([b'{"heap_size": 1024}\n', b'{"trial": 1, "seconds": 9}\n'], "has closed"),
        ([], "has closed"),
    ],
)
def test_receiver_survives_other_programs_and_lost_senders(messages, reason):
    with receiver() as (process, endpoint):
        with connected(endpoint) as sock:
            for message in messages:
                sock.sendall(message)
        sent(endpoint)
        process.send_signal(signal.SIGINT)
        output, _ = process.communicate(timeout=BOUND)
    assert re.search(reason, output)
    assert "Traceback" not in output


@pytest.mark.parametrize(
    ("greeting", "reason"),
    [
        (b"SSH-2.0-OpenSSH_9.2p1\r\n", "is not spead-bench"),
        (b'{"protocol": 2}\n', "has protocol 2, not 1: install the same version"),
        (b'{"error": "\x1b[2J"}\n', "is not spead-bench"),
        (b'{"error": "\\u001b[2J"}\n', r": \?\[2J"),
        (b"", "has closed the connection"),
    ],
)
def test_sender_refuses_other_programs(greeting, reason):
    with socket.create_server(("127.0.0.1", 0)) as listener:
        endpoint = f"127.0.0.1:{listener.getsockname()[1]}"
        process = subprocess.Popen(
            [PROGRAM, "send", endpoint], stderr=subprocess.PIPE, text=True
        )
        sock, _ = listener.accept()
        with sock:
            sock.sendall(greeting)
            sock.shutdown(socket.SHUT_WR)
            _, log = process.communicate(timeout=BOUND)
    assert re.search(reason, log)
    assert process.returncode == 1


def test_sender_names_a_receiver_that_does_not_run():
    done = run("send", f"127.0.0.1:{free_port()}")
    assert re.search('Connection refused; is "spead-bench receive :', done.stderr)
    assert done.returncode == 1


@pytest.mark.parametrize("command", ["receive", "send"])
def test_names_that_no_host_can_have_are_refused(command):
    done = run(command, "a..b:7148")
    assert done.stderr.endswith("'a..b' is not a host name\n")
    assert done.returncode == 2


@pytest.mark.parametrize("kind", [socket.SOCK_STREAM, socket.SOCK_DGRAM])
def test_receiver_names_a_port_in_use(kind):
    with socket.socket(socket.AF_INET, kind) as sock:
        sock.bind(("127.0.0.1", 0))
        if kind == socket.SOCK_STREAM:
            sock.listen()
        port = sock.getsockname()[1]
        done = run("receive", f"127.0.0.1:{port}")
    assert done.stderr == f"spead-bench: 127.0.0.1:{port}: Address already in use\n"
    assert done.returncode == 1


def test_ctrl_c_ends_a_sender():
    with receiver() as (process, endpoint):
        sender = subprocess.Popen([PROGRAM, "send", endpoint], stderr=subprocess.PIPE)
        assert "trials" in process.stdout.readline()
        sender.send_signal(signal.SIGINT)
        _, log = sender.communicate(timeout=BOUND)
        assert not log
        assert sender.returncode == 128 + signal.SIGINT
        assert "has closed" in process.stdout.readline()


@NEEDS_NAMESPACES
def test_the_rate_of_a_shaped_link_is_found():
    run_scenario("bench_scenarios.py", "found_rate", 160)


@NEEDS_NAMESPACES
@pytest.mark.parametrize(
    "scenario",
    [
        pytest.param(
            "firewall",
            marks=pytest.mark.skipif(not shutil.which("nft"), reason="needs nft"),
        ),
        "small_mtu",
    ],
)
def test_packets_that_never_arrive_are_explained(scenario):
    run_scenario("bench_scenarios.py", scenario)
