# Copyright 2026 The gr-spead authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""receivers.py and receive_latency.py run, and see losses."""

import math

import pytest
import receivers
from benchmarks import BUILT, lines_of, run_script
from measure import Failure
from places import NEEDS_NAMESPACES


@pytest.mark.parametrize(
    "where", [pytest.param([], marks=NEEDS_NAMESPACES), ["--loopback"]]
)
def test_a_table_of_all_programs(where):
    done = run_script(
        "receivers.py",
        *("--cells", "8k/1472,64k/8972", "--rate", 5, "--rounds", 1),
        *("--seconds", 0.2, "--build", BUILT),
        *where,
    )
    assert done.returncode == 0, done.stderr
    assert "without spead2_recv" in done.stderr
    for name in ("gr-spead", "spead2", "network.udp_source", "limit"):
        (fields,) = lines_of(done, name)
        cpu = [float(field) for field in fields if field[0].isdigit()]
        assert len(cpu) == 2
        assert all(seconds > 0 for seconds in cpu)


class Limited:
    """Stands for a bench: what is lost above a rate, and what the sender reaches."""

    def __init__(self, lossless, reached=math.inf):
        self.lossless = lossless
        self.reached = reached

    def run(self, _program, _cell, rate, _seconds):
        return 0, int(rate > self.lossless), min(rate, self.reached)


@pytest.mark.parametrize("rate", [3, 30, 100, 700, 3000])
def test_the_highest_rate_without_loss(rate):
    found = float(receivers.highest_rate(Limited(rate), None, None, 1))
    assert rate / 1.06 <= found <= rate


def test_the_highest_rate_of_the_sender():
    found = receivers.highest_rate(Limited(5000, 1000), None, None, 1)
    assert found[0] == ">"
    assert float(found[1:]) == 1000


def test_a_program_that_opens_no_socket_is_an_error(monkeypatch):
    monkeypatch.setattr(receivers, "START", 0.1)
    network = receivers.loopback()
    bench = receivers.Bench(network, None)
    with pytest.raises(Failure, match="opens no socket"):
        bench.run(receivers.Program("none", ("true",)), (8192, 1472), 1, 1)


def test_latencies_of_all_packets():
    done = run_script(
        "receive_latency.py", "--heap", "8k", "--rates", 1, "--seconds", 0.2
    )
    (fields,) = lines_of(done, "8192")
    heap, packet, rate, packets, missing, *latencies = map(float, fields)
    assert (heap, packet, rate, missing) == (8192, 1080, 1, 0)
    assert packets == 200
    assert all(latency > 0 for latency in latencies)
