# Copyright 2026 The gr-spead authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""meerkat_digitiser.grc and packed_10bit.grc send, meerkat_receiver.grc receives."""

import json

import pytest
import reference_packets
import spead2
import spead2.recv
from flow_graphs import (
    bound_sockets,
    compiled,
    destinations,
    digitised,
    nothing_more,
    packed,
    packets_of_heaps,
    running,
)
from places import NEEDS_NAMESPACES, run_scenario
from reference_packets import HEAP_SAMPLES

GROUPS = 8  # multicast groups per polarisation
HEAPS = 100  # per polarisation


def expected_packets(samples):
    """The reference packets of each endpoint, polarisation 0 first."""
    endpoints = [[] for _ in range(2 * GROUPS)]
    for heap in reference_packets.meerkat(samples, ids=(0x4322, 0x4323)):
        endpoints[GROUPS * heap.polarisation + heap.endpoint].append(heap.packet)
    return endpoints


def check_descriptors(received):
    """Each endpoint receives one descriptor heap, with a unique heap counter."""
    counters = set()
    for endpoint in received:
        (packet,) = endpoint.descriptors
        counters.add(int.from_bytes(packet[10:16], "big"))
        items = spead2.ItemGroup()
        stream = spead2.recv.Stream(spead2.ThreadPool())
        stream.add_buffer_reader(packet)
        items.update(next(iter(stream)))
        ids = [item.id for item in items.values()]
        assert ids == [0x1600, 0x3101, 0x3102, 0x3300]
    assert len(counters) == 2 * GROUPS
    # data heaps have even counters up to 4 * HEAPS
    assert all(counter % 2 or counter > 4 * HEAPS for counter in counters)


@pytest.mark.parametrize(
    ("name", "samples", "heap_bytes"),
    [("meerkat_digitiser", digitised, 4096), ("packed_10bit", packed, 5120)],
)
def test_the_packets_match_the_reference(tmp_path, name, samples, heap_bytes):
    with bound_sockets(2 * GROUPS) as sockets:
        with running(
            compiled(name, tmp_path),
            *("--destination-0", destinations(sockets[:GROUPS])),
            *("--destination-1", destinations(sockets[GROUPS:])),
            *("--duration", 1, "--sample-rate", HEAPS * HEAP_SAMPLES),
            *("--digitiser-id", 0x4322),
        ) as ended:
            received = packets_of_heaps(sockets, 2 * HEAPS)
        nothing_more(sockets)
    payloads = reference_packets.heaps(samples, HEAPS, heap_bytes)
    assert [endpoint.data for endpoint in received] == expected_packets(payloads)
    assert not any(endpoint.ends for endpoint in received)
    check_descriptors(received)
    (line,) = (row for row in ended.printed.splitlines() if "SPEAD_STATS " in row)
    stats = json.loads(line.removeprefix("SPEAD_STATS "))
    assert stats["heaps_sent"] == 2 * HEAPS
    assert stats["samples_in"] == stats["samples_sent"] == payloads.size


@NEEDS_NAMESPACES
@pytest.mark.parametrize("bits", [8, 10])
def test_the_receiver_writes_the_samples_of_the_digitiser(bits):
    run_scenario("instrument_scenarios.py", f"receiver_example_with_{bits}_bits")
