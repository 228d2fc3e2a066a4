# Copyright 2026 The gr-spead authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Outages during a stream: losses are counted, and the stream resumes."""

import re

import pytest
from places import NEEDS_LIBMNL, NEEDS_NAMESPACES, run_scenario

pytestmark = [NEEDS_LIBMNL, NEEDS_NAMESPACES]
SCRIPT = "outage_scenarios.py"


# Where IPv4 and IPv6 are handled differently, both are tested.
@pytest.mark.parametrize(
    ("fault", "family"),
    [
        ("no_carrier", "ipv4"),
        ("interface_down", "ipv4"),
        ("interface_down", "ipv6"),
        ("same_address", "ipv4"),
        ("other_ipv4_address", "ipv4"),
        ("other_ipv6_address", "ipv6"),
        ("no_route", "ipv4"),
        ("firewall", "ipv4"),
        ("rejecting_firewall", "ipv6"),
        ("small_mtu", "ipv4"),
        ("small_mtu", "ipv6"),
    ],
)
def test_losses_are_counted_and_logged_once(fault, family):
    log = run_scenario(SCRIPT, "outage", fault, family)
    causes = re.findall("sending failed: ([^;\n]*)", log)
    assert len(causes) == len(set(causes)) > 0
    assert "packets were dropped" in log


def test_next_hop_disappears():
    run_scenario(SCRIPT, "silent_neighbour")


@pytest.mark.parametrize(
    ("family", "interface", "group"),
    [("ipv4", "address", ""), ("ipv4", "v0", "group"), ("ipv6", "v0", "group")],
)
def test_recreated_interface_is_used(family, interface, group):
    run_scenario(SCRIPT, "outage", "new_interface", family, interface, group)


def test_interface_recreated_between_runs_is_used():
    run_scenario(SCRIPT, "made_again_while_stopped")


def test_ipv6_multicast_survives_removed_address():
    run_scenario(SCRIPT, "ipv6_group_without_an_address")


def test_several_destinations_resume():
    run_scenario(SCRIPT, "outage", "same_address", "ipv4", "v0", "", 2)
