# Copyright 2026 The gr-spead authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Next hops that the own host does not know: the stream waits for them."""

import pytest
from places import NEEDS_LIBMNL, NEEDS_NAMESPACES, run_scenario

pytestmark = [NEEDS_LIBMNL, NEEDS_NAMESPACES]
SCRIPT = "neighbour_scenarios.py"


@pytest.mark.parametrize("family", ["ipv4", "ipv6"])
@pytest.mark.parametrize("destinations", [1, 4])
@pytest.mark.parametrize("behind", ["", "gateway"])
def test_no_heap_is_lost_until_the_next_hop_answers(family, destinations, behind):
    run_scenario(SCRIPT, "late_answer", 100, family, destinations, behind)


def test_a_next_hop_is_waited_for_until_linux_has_asked_twice():
    run_scenario(SCRIPT, "late_answer", 1100, "ipv4", 1, "", 1e6)


@pytest.mark.parametrize("scenario", ["only_the_stream_may_pass"])
def test_a_next_hop_is_waited_for_on_the_way_of_the_stream(scenario):
    run_scenario(SCRIPT, scenario)


def test_a_next_hop_may_be_a_link_local_address():
    run_scenario(SCRIPT, "late_answer", 10, "link_local")
    run_scenario(SCRIPT, "forgotten_neighbour", "link_local")


@pytest.mark.parametrize("milliseconds", [0, 1, 10])
@pytest.mark.parametrize("rate", [0, 100e6])
def test_no_heap_is_lost_before_a_quick_answer(milliseconds, rate):
    run_scenario(SCRIPT, "late_answer", milliseconds, "ipv4", 1, "", rate)


@pytest.mark.parametrize("family", ["ipv4", "ipv6"])
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
