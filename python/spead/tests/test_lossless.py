# Copyright 2026 The gr-spead authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""lossless.py: how it searches, what it counts, and what it says.

What the receivers of this machine take is not looked at.
"""

import contextlib
import re
import socket
import sys
from concurrent.futures import ThreadPoolExecutor

import lossless
import numpy as np
import pytest
import udp_losses
from benchmarks import BUILT, lines_of, run_program
from conftest import BOUND, NEEDS_NAMESPACES, bound_socket, datagrams
from measure import Failure
from private_network import new_namespace, unread_socket
from receiver_process import Receiver, parse_receiver
from search import Search

UDP_SEGMENT = 103  # Linux; not in Python's socket module


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
    assert udp_losses.loopback_counters(devices) == (5000 - 40 * 28, 6)
    sockets = (
        "sl local remote st queues\n 1: 0100007F:1BEC 0:0 07 00000000:00000A00 00\n"
    )
    assert udp_losses.queued_bytes(sockets, 7148) == 0xA00
    assert udp_losses.queued_bytes(sockets, 7149) is None


def in_own_namespace(question):
    """The answer of a thread in a network of its own, where nobody else sends."""

    def answer():
        new_namespace().close()
        return question()

    with ThreadPoolExecutor(1) as thread:
        return thread.submit(answer).result(BOUND)


@NEEDS_NAMESPACES
def test_losses_are_what_has_no_room_and_what_nobody_waits_for():
    def lost():
        with socket.socket(type=socket.SOCK_DGRAM) as sock:
            with unread_socket("127.0.0.1") as unread:
                to = unread.getsockname()
                for _ in range(20):
                    sock.sendto(bytes(10000), to)
                no_room = udp_losses.losses()
                unread.setblocking(False)
                arrived = 0
                with contextlib.suppress(BlockingIOError):
                    while unread.recv(10000):
                        arrived += 1
            sock.sendto(bytes(100), to)
        return arrived, no_room, udp_losses.losses()

    arrived, no_room, in_all = in_own_namespace(lost)
    assert no_room == 20 - arrived > 0
    assert in_all == no_room + 1


@NEEDS_NAMESPACES
@pytest.mark.parametrize("messages", [[20500], [1000] * 20 + [500]])
def test_payload_counts_alike_with_and_without_segmentation(messages):
    def passed():
        """Of packets of 1000 bytes."""
        with bound_socket() as to, socket.socket(type=socket.SOCK_DGRAM) as sock:
            sock.connect(to.getsockname())
            sock.setsockopt(socket.IPPROTO_UDP, UDP_SEGMENT, 1000)
            for size in messages:
                sock.send(bytes(size))
            datagrams(to, 21)
        return udp_losses.loopback_counters((udp_losses.NET / "dev").read_text())

    assert in_own_namespace(passed) == (20500, 0)


def test_middle_rate_leaves_out_beginning_and_end():
    times = np.arange(22.0)
    counts = [0, *range(0, 2000, 100), 1900]
    assert udp_losses.middle_rate(times, counts) == 100
    assert udp_losses.middle_rate([0, 1], [0, 100]) is None
    assert udp_losses.middle_rate([0, 1, 2], [5, 5, 5]) is None


def test_receivers_are_commands_with_a_port():
    assert parse_receiver("receive {port} {json}") == ("receive", "{port}", "{json}")
    for template, complaint in (("receive", "lacks"), ("r {port} {rate}", "there are")):
        with pytest.raises(ValueError, match=complaint):
            parse_receiver(template)


def test_a_port_that_another_one_has_is_refused(sock):
    port = sock.getsockname()[1]
    taken = pytest.raises(Failure, match=f"port {port} is taken; --port")
    with taken, Receiver(("true",), port=port):
        pass


def test_a_receiver_is_to_live_when_its_port_is_there(monkeypatch):
    """Between the first look and its own try, another one has taken the port."""
    receiver = Receiver(("false", "{port}"), port=7148)

    def unread_bytes(port):
        if not hasattr(receiver, "process"):
            return None
        receiver.process.wait(BOUND)
        return 0

    monkeypatch.setattr("receiver_process.unread_bytes", unread_bytes)
    with pytest.raises(Failure, match=r"ended before .* false 7148"), receiver:
        pass


@pytest.mark.parametrize(
    ("text", "complaint"),
    [
        (None, "wrote no summary"),
        ('{"heaps": 3}', "wrote no summary"),
        ('{"complete": false, "heaps": 0}', "knew none of the heaps; without {json}"),
    ],
)
def test_a_receiver_that_cannot_tell_is_named(tmp_path, text, complaint):
    summary = tmp_path / "summary"
    if text:
        summary.write_text(text)
    receiver = Receiver(("receive", "{json}"), port=7148, json=summary)
    with pytest.raises(Failure, match=complaint):
        receiver.complete()


# Its pace is what is looked for: it takes half a second, however many heaps there are.
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
sock.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 1 << 20)  # for all, if it is late
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


@NEEDS_NAMESPACES  # what others lose on the loopback device would count as well
def test_lossless_finds_what_a_receiver_takes(tmp_path):
    """One that can do with 25 heaps in half a second, it says, which is 0.5 MB/s."""
    (tmp_path / "sender.py").write_text(SENDER)
    (tmp_path / "receiver.py").write_text(RECEIVER)
    receiver = f"{sys.executable} {tmp_path}/receiver.py {{port}} {{heaps}} {{json}}"
    sender = (
        f"{sys.executable} {tmp_path}/sender.py {{host}} {{port}} {{rate}} {{heaps}}"
    )
    done = run_program(
        *("lossless.py", "--programs", "", "--sender", f"fake={sender}"),
        *("--receiver", receiver, "--port", free_port(), "--heap", 10000),
        *("--rounds", 1, "--seconds", 0.5, "--guess", 0.6, "--resolution", 0.5),
    )
    assert done.returncode == 0, done.stderr
    attempts = re.findall(r"fake +([\d.]+) MB/s, .*: (.*)", done.stdout)
    assert attempts == [("0.6", "lost some"), ("0.3", "passed"), ("0.4", "passed")]
    assert float(lines_of(done, "fake")[-1][1]) > 0


@pytest.mark.parametrize("trouble", [Failure("it broke"), KeyboardInterrupt()])
def test_rounds_that_are_done_are_not_lost(monkeypatch, capsys, trouble):
    results = iter([True, False])  # at 400 MB/s and above; the second round has none

    def attempt(args, sender, rate, summary):
        for passed in results:
            return passed, rate
        raise trouble

    monkeypatch.setattr(lossless, "attempt", attempt)
    monkeypatch.setattr(lossless, "possible", lambda: False)
    sender = ("--programs", "", "--sender", "fake=sh {rate} {heaps}")
    with pytest.raises((SystemExit, KeyboardInterrupt)):
        lossless.main([*sender, "--guess", "400", "--resolution", "1000"])
    assert "round 2 of 3" in (out := capsys.readouterr().out)
    assert out.splitlines()[-1].split()[:3] == ["fake", "400.0", "400.0"]


def test_lossless_runs_the_sink_against_the_example():
    """In the background of a script, too, where Ctrl-C is ignored."""
    done = run_program(
        *("lossless.py", "--rounds", 1, "--seconds", 0.5, "--guess", 100),
        *("--resolution", 100, "--port", free_port(), "--heap", 8192),
        *("--build", BUILT),
        before=("sh", "-c", 'trap "" INT; exec "$@"', "sh"),
    )
    assert done.returncode == 0, done.stderr
    assert float(lines_of(done, "gr-spead")[-1][1]) > 0


def test_lossless_says_what_is_wrong():
    for options, complaint in (
        (["--programs", "nothing"], "no program"),
        (["--sender", "a=b {heaps}"], "has no {rate}"),
        (["--programs", ""], "no sender to run"),
        (["--receiver", "true"], "lacks {port}"),
        (["--receiver", "false {port}"], "the receiver does not listen: false"),
        (["--receiver", "/no/such/program {port}"], "'/no/such/program'"),
    ):
        port = ("--port", free_port())
        done = run_program("lossless.py", "--build", BUILT, *port, *options)
        assert complaint in done.stderr
        assert "Traceback" not in done.stderr
        assert done.returncode != 0
