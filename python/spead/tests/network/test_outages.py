# Copyright 2026 The gr-spead authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Outages during a stream: losses are counted, and the stream resumes."""

import re

import pytest
from places import NEEDS_LIBMNL, NEEDS_NAMESPACES, run_scenario

pytestmark = [NEEDS_LIBMNL, NEEDS_NAMESPACES]
SCRIPT = "outage_scenarios.py"


# Each fault runs once, with a receiver that checks every heap or a source that checks
# every sample. Where IPv4 and IPv6 are handled differently, both are tested.
@pytest.mark.parametrize(
    ("family", "fault", "recovery", "receiver"),
    [
        ("ipv4", "no_carrier", "carrier", ""),
        ("ipv6", "no_carrier", "carrier", "source"),
        ("ipv4", "interface_down", "interface_up", "source"),
        ("ipv6", "interface_down", "interface_up", ""),
        ("ipv4", "no_address", "same_address", ""),
        ("ipv4", "no_address", "other_address", "source"),
        ("ipv6", "no_address", "other_address", ""),
        ("ipv4", "no_route", "route", ""),
        ("ipv4", "firewall", "no_firewall", "source"),
        ("ipv6", "rejecting_firewall", "no_firewall", ""),
        ("ipv4", "small_mtu", "usual_mtu", ""),
        ("ipv6", "small_mtu", "usual_mtu", ""),
    ],
)
def test_losses_are_counted_and_logged_once(family, fault, recovery, receiver):
    log = run_scenario(SCRIPT, "outage", fault, recovery, family, "", "", 1, receiver)
    causes = re.findall("sending failed: ([^;\n]*)", log)
    if receiver:  # the source may close its port before the last end-of-stream heap
        causes = [each for each in causes if "Connection refused" not in each]
    assert len(causes) == len(set(causes)) > 0
    assert "packets were dropped" in log


def test_next_hop_disappears():
    run_scenario(SCRIPT, "silent_neighbour", "ipv4")


@pytest.mark.parametrize(
    "scenario", ["carrier_behind_a_bridge", "queue_without_a_carrier"]
)
def test_undetectable_losses_count_as_sent(scenario):
    run_scenario(SCRIPT, scenario)


@pytest.mark.parametrize(
    ("family", "interface", "group"),
    [("ipv4", "address", ""), ("ipv4", "v0", "group"), ("ipv6", "v0", "group")],
)
def test_recreated_interface_is_used(family, interface, group):
    fault = ("no_interface", "new_interface")
    run_scenario(SCRIPT, "outage", *fault, family, interface, group)


def test_interface_recreated_between_runs_is_used():
    run_scenario(SCRIPT, "made_again_while_stopped", "ipv6", "address")


def test_ipv6_multicast_survives_removed_address():
    run_scenario(SCRIPT, "ipv6_group_without_an_address")


def test_several_destinations_resume():
    fault = ("no_address", "same_address")
    run_scenario(SCRIPT, "outage", *fault, "ipv4", "v0", "", 2)
