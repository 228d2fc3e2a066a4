# Copyright 2026 The gr-spead authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Neighbour resolution: the stream waits until the next hop answers."""

import pytest
from places import NEEDS_LIBMNL, NEEDS_NAMESPACES, run_scenario

pytestmark = [NEEDS_LIBMNL, NEEDS_NAMESPACES]
SCRIPT = "neighbour_scenarios.py"


@pytest.mark.parametrize(
    ("milliseconds", "family", "destinations", "behind", "rate"),
    [
        (100, "ipv4", 1, "", 40e6),
        (100, "ipv4", 4, "gateway", 40e6),
        (100, "ipv6", 4, "", 40e6),
        (100, "ipv6", 1, "gateway", 40e6),
        (0, "ipv4", 1, "", 0),
        (10, "ipv4", 1, "", 0),
        (10, "link_local", 1, "", 40e6),
        (1100, "ipv4", 1, "", 1e6),  # Linux repeats the request after a second
    ],
)
def test_no_heap_is_lost_before_the_next_hop_answers(
    milliseconds, family, destinations, behind, rate
):
    run_scenario(
        SCRIPT, "late_answer", milliseconds, family, destinations, behind, rate
    )


def test_resolution_sends_only_to_the_port_of_the_stream():
    run_scenario(SCRIPT, "only_the_stream_may_pass")


@pytest.mark.parametrize("family", ["ipv4", "link_local"])
def test_no_heap_is_lost_when_the_neighbour_entry_is_flushed(family):
    run_scenario(SCRIPT, "forgotten_neighbour", family)


def test_heaps_for_a_silent_next_hop_are_dropped_and_logged_once():
    log = run_scenario(SCRIPT, "no_answer")
    lines = [line for line in log.splitlines() if "warning" in line]
    assert len(lines) <= 2  # both messages may share a line
    warnings = "; ".join(lines)
    assert warnings.count("sending failed: No route to host") == 1
    assert warnings.count("500 packets were dropped") == 1


def test_stop_does_not_wait_for_the_next_hop():
    run_scenario(SCRIPT, "stop_without_an_answer")


def test_devices_without_neighbours_skip_resolution():
    run_scenario(SCRIPT, "nothing_to_ask_for")
