# Copyright 2026 The gr-spead authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Neighbour resolution: the stream waits until the next hop answers."""

import pytest
from places import NEEDS_LIBMNL, NEEDS_NAMESPACES, run_scenario

pytestmark = [NEEDS_LIBMNL, NEEDS_NAMESPACES]
SCRIPT = "neighbour_scenarios.py"


@pytest.mark.parametrize(
    ("retry_milliseconds", "rate"),
    [(20, 0), (1000, 1e6)],  # by default, Linux repeats a request after a second
)
def test_no_heap_is_lost_before_the_next_hop_answers(retry_milliseconds, rate):
    run_scenario(SCRIPT, "late_answer", retry_milliseconds, rate)


@pytest.mark.parametrize(
    "scenario",
    [
        "late_answers_of_ipv6_hosts",
        "late_answer_of_a_gateway",
        "only_the_stream_may_pass",
        "forgotten_neighbour",
        "stop_without_an_answer",
        "nothing_to_ask_for",
    ],
)
def test_resolution(scenario):
    run_scenario(SCRIPT, scenario)


def test_heaps_for_a_silent_next_hop_are_dropped_and_logged_once():
    log = run_scenario(SCRIPT, "no_answer")
    lines = [line for line in log.splitlines() if "warning" in line]
    assert len(lines) <= 2  # both messages may share a line
    warnings = "; ".join(lines)
    assert warnings.count("sending failed: No route to host") == 1
    assert warnings.count("500 packets were dropped") == 1
