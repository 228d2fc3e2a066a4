# Copyright 2026 The gr-spead authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Multicast groups, IPv6, and an interface that goes down."""

import pytest
from places import NEEDS_NAMESPACES, run_scenario

pytestmark = NEEDS_NAMESPACES
ENDPOINTS = ["10.77.0.2:7148", "239.77.0.1:7148"]


@pytest.mark.parametrize(
    "scenario",
    [
        "polarisations_in_groups",
        "receivers_that_start_together",
        "ipv6_group",
        "groups_of_others",
    ],
)
def test_streams_to_groups_are_received(scenario):
    run_scenario("source_scenarios.py", scenario)


@pytest.mark.parametrize("endpoint", ENDPOINTS)
def test_source_resumes_after_link_down(endpoint):
    run_scenario("source_scenarios.py", "interface_down", endpoint)


@pytest.mark.parametrize("endpoint", ENDPOINTS)
def test_recreated_interface_is_used_in_the_next_run(endpoint):
    run_scenario("source_scenarios.py", "interface_made_again", endpoint)
