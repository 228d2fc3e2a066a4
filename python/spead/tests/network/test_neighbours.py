# Copyright 2026 The gr-spead authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Next hops that the own host does not know: the stream waits for them."""

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
        (1100, "ipv4", 1, "", 1e6),  # Linux has asked twice
    ],
)
def test_no_heap_is_lost_before_the_next_hop_answers(
    milliseconds, family, destinations, behind, rate
):
    run_scenario(
        SCRIPT, "late_answer", milliseconds, family, destinations, behind, rate
    )


def test_resolution_uses_the_route_of_the_stream():
    run_scenario(SCRIPT, "only_the_stream_may_pass")


@pytest.mark.parametrize("family", ["ipv4", "link_local"])
def test_no_heap_is_lost_when_the_next_hop_is_forgotten(family):
    run_scenario(SCRIPT, "forgotten_neighbour", family)


def test_without_an_answer_heaps_are_dropped_and_one_line_says_so():
    said = run_scenario(SCRIPT, "no_answer")
    lines = [line for line in said.splitlines() if "warning" in line]
    assert len(lines) <= 2  # one, if the log is slower than the stream
    news = "; ".join(lines)
    assert news.count("sending failed: No route to host") == 1
    assert news.count("500 packets were dropped") == 1


def test_stop_does_not_wait_for_an_answer():
    run_scenario(SCRIPT, "stop_without_an_answer")


def test_where_there_are_no_neighbours_none_is_asked_for():
    run_scenario(SCRIPT, "nothing_to_ask_for")
