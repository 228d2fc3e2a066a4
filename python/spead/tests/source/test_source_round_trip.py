# Copyright 2026 The gr-spead authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Samples from spead2 and the sink arrive at the source unchanged."""

import numpy as np
import pytest
import spead2
import spead2.send
from gnuradio import spead
from places import NEEDS_BUFFER
from received_streams import (
    Receiving,
    check_whole,
    joined,
    packets_by_heap,
    received,
    spead2_heaps,
)
from streams import noise, run, source


def of_type(sample_type, n):
    """Noise in the byte order and shape that packets hold."""
    return noise(n) if sample_type == "int8" else noise(4 * n).view(">i2").reshape(n, 2)


@pytest.mark.parametrize(
    ("heap", "packet", "bits"),
    [(1, 1472, 48), (7, 65507, 40), (8192, 1472, 40), (300000, 65507, 48)],
)
@pytest.mark.parametrize("sample_type", ["int8", "sc16"])
def test_streams_of_spead2_arrive_unchanged(sample_type, heap, packet, bits):
    samples = of_type(sample_type, min(20 * heap, 700_000))
    packets = packets_by_heap(samples, heap, packet_size=packet, bits=bits)
    receiving = received(joined(packets), output_type=sample_type)
    check_whole(receiving, samples)
    assert receiving.tags("missing") == []
    assert receiving.stats["samples_received"] == len(samples)
    assert receiving.stats["heaps_received"] == -(-len(samples) // heap)
    assert receiving.balanced()


@NEEDS_BUFFER
def test_a_stream_of_spead2_at_full_speed_arrives_unchanged():
    samples = noise(4 * 10**6)
    with Receiving() as receiving:
        to = [("127.0.0.1", receiving.port)]
        stream = spead2.send.UdpStream(spead2.ThreadPool(), to)
        for heap in spead2_heaps(samples, 8192):
            stream.send_heap(heap)
        receiving.wait()
    check_whole(receiving, samples)


@NEEDS_BUFFER
@pytest.mark.parametrize(
    ("heap", "options"),
    [
        (1, {}),
        (500_000, {}),
        (1000, {"descriptors": "separate", "descriptor_interval": 0.001}),
        (500_000, {"heap_address_bits": 48, "pad_packets": False}),
        (1000, {"heap_address_bits": 48, "max_packet_size": 65507}),
        (1000, {"tail": "pad"}),
        (1000, {"timestamp_start": 2**40 - 10000, "heap_id_start": 2**40 - 5}),
    ],
)
@pytest.mark.parametrize("sample_type", ["int8", "sc16"])
def test_streams_of_the_sink_arrive_unchanged(sample_type, heap, options):
    n = min(30 * heap, 3 * heap + 700_000) + heap // 2
    samples = of_type(sample_type, n)
    samples = samples.astype(samples.dtype.newbyteorder("="))
    with Receiving(output_type=sample_type) as receiving:
        to = f"127.0.0.1:{receiving.port}"
        run(
            spead.sink(to, heap, input_type=sample_type, rate=100e6, **options),
            source(samples),
        )
        receiving.wait()
    got = receiving.samples()
    np.testing.assert_array_equal(got[:n], samples)
    assert not got[n:].any()  # padding
    assert receiving.tags("timestamp") == [(0, options.get("timestamp_start", 0))]
    assert receiving.stats["samples_missing"] == 0
