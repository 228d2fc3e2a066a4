# Copyright 2026 The gr-spead authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""meerkat_digitiser.grc and packed_10bit.grc send, meerkat_receiver.grc receives."""

import json
import re
from pathlib import Path

import pytest
import reference_packets
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
from places import eventually
from receiving import destination
from reference_packets import HEAP_SAMPLES

GROUPS = 8  # multicast groups per polarisation
HEAPS = 100  # per polarisation


def expected_packets(samples):
    """The reference packets of each endpoint, polarisation 0 first."""
    endpoints = [[] for _ in range(2 * GROUPS)]
    for heap in reference_packets.meerkat(samples, ids=(0x4322, 0x4323)):
        endpoints[GROUPS * heap.polarisation + heap.endpoint].append(heap.packet)
    return endpoints


def sender(name, folder, groups, *options):
    """Run the flow graph of a digitiser, to destinations for each polarisation."""
    return running(
        compiled(name, folder),
        *("--destination-0", groups[0], "--destination-1", groups[1]),
        *("--duration", 1, "--sample-rate", HEAPS * HEAP_SAMPLES),
        *options,
    )


def printed_stats(program):
    """The counters of the blocks of a flow graph that has ended."""
    lines = re.findall("^SPEAD_STATS (.+)", program.printed, re.M)
    return [json.loads(line) for line in lines]


BITS = [("meerkat_digitiser", 8), ("packed_10bit", 10)]


@pytest.mark.parametrize(("name", "bits"), BITS)
def test_the_packets_match_the_reference(tmp_path, name, bits):
    with bound_sockets(2 * GROUPS) as sockets:
        groups = destinations(sockets[:GROUPS]), destinations(sockets[GROUPS:])
        with sender(name, tmp_path, groups, "--digitiser-id", 0x4322) as ended:
            received = packets_of_heaps(sockets, 2 * HEAPS)
        nothing_more(sockets)
    payloads = reference_packets.heaps(
        lambda seed, n: packed(digitised(seed, n * 8 // bits, bits), bits),
        HEAPS,
        HEAP_SAMPLES * bits // 8,
    )
    assert [endpoint.data for endpoint in received] == expected_packets(payloads)
    assert [len(endpoint.descriptors) for endpoint in received] == [1] * 2 * GROUPS
    assert not any(endpoint.ends for endpoint in received)
    (stats,) = printed_stats(ended)
    assert stats["heaps_sent"] == 2 * HEAPS
    assert stats["samples_in"] == stats["samples_sent"] == 2 * HEAPS * HEAP_SAMPLES


@pytest.mark.parametrize(("name", "bits"), BITS)
def test_the_receiver_writes_the_samples_of_the_digitiser(tmp_path, name, bits):
    receiver = compiled("meerkat_receiver", tmp_path)
    with bound_sockets(2) as sockets:  # on ports that are free afterwards
        endpoints = [destination(sock) for sock in sockets]
        ports = [f":{sock.getsockname()[1]:04X} " for sock in sockets]
    with running(
        receiver,
        *("--endpoint-0", endpoints[0], "--endpoint-1", endpoints[1]),
        *("--sample-bits", bits, "--prefix", tmp_path / "received"),
    ) as ended:
        sockets_file = Path("/proc/net/udp")
        eventually(lambda: all(port in sockets_file.read_text() for port in ports))
        with sender(name, tmp_path, endpoints, "--send-stop", 1):
            pass
    for polarisation in range(2):
        received = (tmp_path / f"received.{polarisation}").read_bytes()
        sent = digitised(1 + polarisation, HEAPS * HEAP_SAMPLES, bits)
        assert received == sent.tobytes()
    stats = printed_stats(ended)
    assert [source["heaps_received"] for source in stats] == [HEAPS, HEAPS]
    assert [source["samples_missing"] for source in stats] == [0, 0]
