# Copyright 2026 The gr-spead authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Network faults: the stream continues, and the sink counts every loss."""

import contextlib
import errno
import os
import re

import pmt
import pytest
from gnuradio import spead
from places import NEEDS_LIBMNL, NEEDS_NAMESPACES, eventually, run_scenario
from receiving import bound_socket, destination
from streams import Reporting, balanced, noise, run, source
from two_hosts import counter_of


def closed_endpoints(address, n=1):
    with contextlib.ExitStack() as stack:
        socks = [stack.enter_context(bound_socket(address)) for _ in range(n)]
        return ",".join(destination(sock) for sock in socks)


@pytest.mark.parametrize("address", ["127.0.0.1", "::1"])
def test_receivers_come_and_go(address):
    endpoint = closed_endpoints(address)
    options = {"heap_samples": 1000, "rate": 2e6}  # one packet a heap
    running = Reporting(endpoint, stats_interval=0.1, **options)
    with running as sink:
        eventually(lambda: sink.icmp_errors() > 0)

        listener = bound_socket(address, port=int(endpoint.rpartition(":")[2]))
        counters = [counter_of(listener.recv(2000)) for _ in range(1000)]
        assert counters == list(range(counters[0], counters[0] + 1000))
        listener.close()

        errors, sent = sink.icmp_errors(), sink.heaps_sent()
        eventually(lambda: sink.icmp_errors() > errors)
        eventually(lambda: sink.heaps_sent() > sent + 1000)
        running.messages.clear()
        eventually(lambda: running.messages)
    stats = sink.stats()
    assert balanced(stats)
    assert stats["heaps_dropped"] == stats["samples_pending"] == 0
    message = pmt.to_python(pmt.car(running.messages[0]))
    assert 0 < message["send_errors"]["ECONNREFUSED"] <= stats["icmp_errors"]


@pytest.mark.parametrize(
    ("address", "ports", "heap_samples", "heaps", "options"),
    [
        ("127.0.0.1", 1, 1000, 1, {"send_stop": False}),  # one packet
        ("127.0.0.1", 3, 8192, 5, {}),
        ("::1", 1, 8192, 1, {}),  # one segmented message
    ],
)
def test_every_short_run_to_closed_ports_logs_one_refusal(
    capfd, address, ports, heap_samples, heaps, options
):
    sink = spead.sink(closed_endpoints(address, ports), heap_samples, **options)
    capfd.readouterr()
    errors = 0
    for _ in range(3):
        run(sink, source(noise(heaps * heap_samples)))
        stats = sink.stats()
        assert stats["icmp_errors"] > errors
        errors = stats["icmp_errors"]
        assert stats["heaps_dropped"] == 0
        assert capfd.readouterr().out.count("Connection refused") == 1


@NEEDS_NAMESPACES
@pytest.mark.parametrize(
    "scenario", ["blocked_network", "full_queue", "mtu_of_the_path", "multicast"]
)
def test_network(scenario):
    run_scenario("network_scenarios.py", scenario)


@NEEDS_NAMESPACES
@pytest.mark.parametrize(
    "scenario",
    [
        "queued_packets_of_two_inputs_are_not_overwritten",
        "a_failure_is_reported_late",
        pytest.param("a_card_that_is_made_again", marks=NEEDS_LIBMNL),
        "without_locked_memory",
        "full_socket",
        "full_queue",
    ],
)
def test_zero_copy(scenario):
    run_scenario("zero_copy_scenarios.py", scenario)


@NEEDS_NAMESPACES
@pytest.mark.parametrize(
    ("hosts", "errors"),
    [
        (["10.78.0.1"], [errno.EHOSTUNREACH]),
        (["fd78::1"], [errno.ENETUNREACH]),
        (["10.79.0.1"], [errno.EMSGSIZE]),
        (
            ["10.78.0.1", "10.78.0.2", "10.78.0.3"],
            [errno.EHOSTUNREACH, errno.ENOPROTOOPT],
        ),
    ],
)
def test_icmp_errors_of_a_router_are_logged_once(hosts, errors):
    log = run_scenario("icmp_scenarios.py", "send_until_icmp_errors", *hosts)
    logged = re.findall("sending failed: ([^;(\n]*[^;(\n ])", log)
    assert sorted(logged) == sorted(os.strerror(error) for error in errors)
