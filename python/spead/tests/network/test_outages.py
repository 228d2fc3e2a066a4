# Copyright 2026 The gr-spead authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""A way that is cut in mid-stream: what is lost is counted, and the stream goes on."""

import re

import pytest
from places import NEEDS_LIBMNL, NEEDS_NAMESPACES, run_scenario

pytestmark = [NEEDS_LIBMNL, NEEDS_NAMESPACES]
both_families = pytest.mark.parametrize("family", ["ipv4", "ipv6"])
SCRIPT = "outage_scenarios.py"


OF_THE_INTERFACE = [
    ("no_carrier", "carrier"),
    ("interface_down", "interface_up"),
    ("firewall", "no_firewall"),
    ("rejecting_firewall", "no_firewall"),
    ("small_mtu", "usual_mtu"),
]
OF_AN_ADDRESS = [
    ("no_interface", "new_interface"),
    ("no_address", "same_address"),
    ("no_address", "other_address"),
    ("no_route", "route"),
    ("no_answer", "answer"),
]


@both_families
@pytest.mark.parametrize(("cut", "mend"), OF_THE_INTERFACE + OF_AN_ADDRESS)
def test_what_is_lost_in_an_outage_is_counted_and_said_once(family, cut, mend):
    said = run_scenario(SCRIPT, "outage", cut, mend, family)
    causes = re.findall("sending failed: ([^;\n]*)", said)
    assert len(causes) == len(set(causes)) > 0
    assert "packets were dropped" in said


@both_families
@pytest.mark.parametrize(("cut", "mend"), OF_THE_INTERFACE + OF_AN_ADDRESS)
def test_a_source_gets_everything_but_what_the_sink_dropped(family, cut, mend):
    run_scenario(SCRIPT, "outage", cut, mend, family, "", "", 1, "source")


@both_families
@pytest.mark.parametrize(("cut", "mend"), OF_THE_INTERFACE)
def test_a_source_of_a_group_gets_everything_but_what_the_sink_dropped(
    family, cut, mend
):
    run_scenario(SCRIPT, "outage", cut, mend, family, "v0", "group", 1, "source")


@both_families
def test_a_next_hop_that_ceases_to_answer_is_noticed(family):
    run_scenario(SCRIPT, "silent_neighbour", family)


def test_what_is_lost_behind_a_bridge_of_this_host_is_lost_unseen():
    run_scenario(SCRIPT, "carrier_behind_a_bridge")


def test_what_a_queue_holds_when_the_carrier_is_lost_is_lost_unseen():
    run_scenario(SCRIPT, "queue_without_a_carrier")


@both_families
@pytest.mark.parametrize("interface", ["v0", "address"])
@pytest.mark.parametrize("group", ["", "group"])
def test_an_interface_is_used_again_when_it_is_made_again(family, interface, group):
    fault = ("no_interface", "new_interface")
    run_scenario(SCRIPT, "outage", *fault, family, interface, group)


@both_families
@pytest.mark.parametrize("interface", ["v0", "address"])
def test_an_interface_is_used_again_in_the_next_run(family, interface):
    run_scenario(SCRIPT, "made_again_while_stopped", family, interface)


@pytest.mark.parametrize(
    ("family", "cut", "mend"),
    [
        ("ipv4", "no_carrier", "carrier"),
        ("ipv6", "no_carrier", "carrier"),
        ("ipv4", "no_address", "same_address"),
    ],
)
def test_a_group_is_sent_to_again(family, cut, mend):
    run_scenario(SCRIPT, "outage", cut, mend, family, "v0", "group")


def test_an_ipv6_group_is_sent_to_from_an_address_that_was_removed():
    run_scenario(SCRIPT, "ipv6_group_without_an_address")


@both_families
@pytest.mark.parametrize(
    ("cut", "mend"),
    [
        ("no_carrier", "carrier"),
        ("no_interface", "new_interface"),
        ("no_address", "same_address"),
        ("no_answer", "answer"),
    ],
)
def test_several_destinations_are_sent_to_again(family, cut, mend):
    run_scenario(SCRIPT, "outage", cut, mend, family, "v0", "", 2)
