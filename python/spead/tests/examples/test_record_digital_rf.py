# Copyright 2026 The gr-spead authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""record_digital_rf.py records each sample at its time, as Digital RF reads it."""

import socket
from fractions import Fraction

import digital_rf
import numpy as np
import pytest
import record_digital_rf
from received_streams import joined, packets_by_heap
from streams import noise, wait

HEAP = 1000
SYNC = 1_600_000_000


@pytest.mark.parametrize("rate", ["1000000", "10000000/7", "2500000"])
@pytest.mark.parametrize("first", [0, 1, 333, 4099, 70_001, 999_999, 12_345_678])
def test_each_sample_is_at_its_time(tmp_path, rate, first):
    """A gap above max_gap, which gets a tag, is left out."""
    before, after = noise(5 * HEAP, 1), noise(5 * HEAP, 2)
    gap = 2**25 + first % 7919
    args = ["127.0.0.1:0", str(tmp_path / "channel"), "--type", "int8"]
    args += ["--sample-rate", rate, "--sync-time", str(SYNC)]
    graph = record_digital_rf.RecordDigitalRf(record_digital_rf.parse(args))
    graph.start()
    packets = [
        *joined(packets_by_heap(before, HEAP, first=first))[:-1],
        *joined(
            packets_by_heap(after, HEAP, counter=100, first=first + 5 * HEAP + gap)
        ),
    ]
    address = ("127.0.0.1", graph.source.ports()[0])
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as sender:
        for packet in packets:
            sender.sendto(packet, address)
    wait(graph)
    assert graph.source.stats()["samples_received"] == 10 * HEAP
    reader = digital_rf.DigitalRFReader(str(tmp_path))
    begin, end = reader.get_bounds("channel")
    blocks = reader.get_continuous_blocks(begin, end, "channel")
    zero = round(SYNC * Fraction(rate))
    expected = {zero + first: before, zero + first + 5 * HEAP + gap: after}
    assert list(blocks) == list(expected)
    for index, samples in expected.items():
        read = reader.read_vector_raw(index, len(samples), "channel")
        np.testing.assert_array_equal(np.ravel(read), samples)
