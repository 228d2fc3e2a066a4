# Copyright 2026 The gr-spead authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""What the receivers of instruments listen to: lists of endpoints, multicast groups."""

import pytest
from common.endpoints import endpoints
from conftest import NEEDS_NAMESPACES
from instruments.place_heaps import Layout
from test_faults import run_scenario


def test_lists_of_endpoints_are_those_of_the_sink():
    assert endpoints("239.1.2.254+3:7148") == [
        ("239.1.2.254", 7148),
        ("239.1.2.255", 7148),
        ("239.1.3.0", 7148),
        ("239.1.3.1", 7148),
    ]
    assert endpoints("[ff15::77]:7148, localhost:0") == [
        ("ff15::77", 7148),
        ("localhost", 0),
    ]


@pytest.mark.parametrize(
    "text",
    [
        "",
        "7148",
        "host",
        "host:",
        "host:65536",
        "1.2.3.4+:1",
        "host+1:1",
        "1.2.3.4+-1:1",
        "a:1,",
    ],
)
def test_anything_else_is_refused(text):
    with pytest.raises(ValueError, match=r"^'"):
        endpoints(text)


def test_layouts_that_are_none():
    with pytest.raises(ValueError, match="heap_samples = 0"):
        Layout(heap_samples=0)
    with pytest.raises(ValueError, match="3 samples of 10 bits"):
        Layout(heap_samples=3, sample_bits=10)


@NEEDS_NAMESPACES
@pytest.mark.parametrize(
    "scenario",
    [
        "digitiser_receiver",
        "digitiser_receiver_of_some_groups",
        "receiver_by_position",
    ],
)
def test_multicast(scenario):
    run_scenario("instrument_scenarios.py", scenario)
