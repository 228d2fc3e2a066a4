# Copyright 2026 The gr-spead authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Multicast groups, IPv6, and an interface that goes down."""

import pytest
from places import NEEDS_NAMESPACES, run_scenario

pytestmark = NEEDS_NAMESPACES
SCRIPT = "source_scenarios.py"


@pytest.mark.parametrize("interface", ["v1", "10.77.0.2"])
def test_two_polarisations_in_sixteen_groups(interface):
    run_scenario(SCRIPT, "polarisations_in_groups", interface)


def test_ipv6():
    run_scenario(SCRIPT, "ipv6_group")


def test_a_group_that_only_another_socket_has_joined():
    run_scenario(SCRIPT, "groups_of_others")


one_or_many = pytest.mark.parametrize("endpoint", ["10.77.0.2:7148", "239.77.0.1:7148"])


@one_or_many
def test_interface_down_and_up(endpoint):
    run_scenario(SCRIPT, "interface_down", endpoint)


@one_or_many
def test_an_interface_is_used_again_in_the_next_run(endpoint):
    run_scenario(SCRIPT, "interface_made_again", endpoint)
