# Copyright 2026 The gr-spead authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Network faults: the stream continues, and the sink counts every loss."""

import contextlib
import errno
import os
import re

import pytest
from gnuradio import spead
from icmp_scenarios import IPV4, NARROW, REJECTS
from places import (
    NEEDS_BUFFER,
    NEEDS_LIBMNL,
    NEEDS_NAMESPACES,
    eventually,
    run_scenario,
)
from receiving import bound_socket, datagrams, destination
from streams import Running, balanced, noise, run, send, source


def closed_endpoints(address, n=1):
    with contextlib.ExitStack() as stack:
        socks = [stack.enter_context(bound_socket(address)) for _ in range(n)]
        return ",".join(destination(sock) for sock in socks)


def counter_of(datagram):
    return int.from_bytes(datagram[11:16], "big")


@pytest.mark.parametrize("address", ["127.0.0.1", "::1"])
def test_receivers_come_and_go(address):
    endpoint = closed_endpoints(address)
    with Running(endpoint, heap_samples=1000, rate=2e6) as sink:  # one packet a heap
        eventually(lambda: sink.icmp_errors() > 0)

        listener = bound_socket(address, port=int(endpoint.rpartition(":")[2]))
        counters = [counter_of(listener.recv(2000)) for _ in range(1000)]
        assert counters == list(range(counters[0], counters[0] + 1000))
        listener.close()

        errors, sent = sink.icmp_errors(), sink.heaps_sent()
        eventually(lambda: sink.icmp_errors() > errors)
        eventually(lambda: sink.heaps_sent() > sent + 1000)
    stats = sink.stats()
    assert balanced(stats)
    assert stats["heaps_dropped"] == stats["samples_pending"] == 0
    assert stats["send_errors"]["ECONNREFUSED"] > 0


@pytest.mark.parametrize(
    ("address", "ports", "heap_samples", "heaps", "options"),
    [
        ("127.0.0.1", 1, 1000, 1, {}),  # one packet
        ("127.0.0.1", 1, 1000, 1, {"send_stop": False}),
        ("127.0.0.1", 1, 8192, 1, {}),  # one segmented message
        ("127.0.0.1", 1, 8192, 5, {"send_stop": False}),
        ("127.0.0.1", 3, 1000, 1, {}),
        ("127.0.0.1", 3, 8192, 5, {"send_stop": False}),
        ("::1", 1, 1000, 1, {}),
        ("::1", 3, 8192, 1, {"send_stop": False}),
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


def test_a_loop_whose_source_stops_first_logs_nothing(capfd):
    with bound_socket("127.0.0.1") as receiver:
        running = Running(destination(receiver), heap_samples=1000, rate=2e6)
        with running as sink:
            eventually(lambda: sink.samples_sent() > 5_000_000)  # in 2.5 s
            capfd.readouterr()
            receiver.close()
            eventually(lambda: sink.icmp_errors() > 0)
    assert capfd.readouterr().out == ""


@pytest.mark.parametrize("when_full", ["block", "drop"])
def test_stop_does_not_wait_for_a_blocked_network(when_full):
    """A rate of 1 byte/s stands for a blocked network."""
    pace = {"rate": 1, "burst_size": 1}
    with Running("127.0.0.1:9", when_full=when_full, **pace) as sink:
        eventually(lambda: sink.samples_pending() > 0)
    stats = sink.stats()
    assert stats["samples_pending"] == 0
    assert balanced(stats)
    assert stats["samples_dropped"] > 0


@NEEDS_NAMESPACES
@pytest.mark.parametrize(
    "scenario",
    [
        "failures_in_a_message",
        "paced_below_the_link",
        "packet_larger_than_mtu",
        "mtu_of_the_path",
        "multicast",
        "multicast_ipv6",
        "software_segmentation",
    ],
)
def test_network(scenario):
    run_scenario("network_scenarios.py", scenario)


@NEEDS_NAMESPACES
@pytest.mark.parametrize(
    ("scenario", "family"), [("full_queue", "ipv4"), ("blocked_network", "ipv6")]
)
def test_congested_network(scenario, family):
    run_scenario("network_scenarios.py", scenario, family)


@NEEDS_NAMESPACES
@pytest.mark.parametrize(
    "scenario",
    [
        "zero_copy_through_a_card",
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


def logged_failures(log):
    """The logged send errors by list of destinations."""
    failures_by_destinations = {}
    for line in log.splitlines():
        if "sending failed" in line:
            to, failures = re.fullmatch(
                r".*:warning: (.+?): (sending .*)", line
            ).groups()
            failures_by_destinations.setdefault(to, []).extend(
                re.findall(r"sending failed: ([^;(]*[^;( ])", failures)
            )
    return failures_by_destinations


@NEEDS_NAMESPACES
def test_an_icmp_error_of_a_router_is_logged_once():
    expected = {host: os.strerror(error) for host, (_, error) in REJECTS.items()}
    expected[NARROW] = os.strerror(errno.EMSGSIZE)
    failures = logged_failures(run_scenario("icmp_scenarios.py", "one_cause"))
    by_host = {to.rpartition(":")[0].strip("[]"): each for to, each in failures.items()}
    assert by_host == {host: [failure] for host, failure in expected.items()}


@NEEDS_NAMESPACES
def test_icmp_errors_of_several_destinations_are_logged_once():
    (failures,) = logged_failures(
        run_scenario("icmp_scenarios.py", "several_causes")
    ).values()
    assert sorted(failures) == sorted({os.strerror(REJECTS[host][1]) for host in IPV4})


@NEEDS_BUFFER
def test_a_receiver_on_the_same_host_disables_zero_copy(sock):
    """The kernel reports that loopback copies the packets."""
    heap_samples, heaps = 1416, 5000
    samples = noise(heap_samples * heaps)
    options = {"descriptors": "none", "rate": 100e6}
    sink = send(sock, samples, heap_samples=heap_samples, **options)
    assert not sink.zero_copy()
    received = datagrams(sock, heaps + 1)
    assert [counter_of(d) for d in received] == list(range(1, heaps + 2))
    assert b"".join(d[-heap_samples:] for d in received[:-1]) == samples.tobytes()
