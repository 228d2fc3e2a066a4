# Copyright 2026 The gr-spead authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""What spead2 and the sink send comes out of the source, sample by sample."""

import numpy as np
import pytest
import spead2
import spead2.send
from gnuradio import spead
from places import NEEDS_BUFFER
from received_streams import Receiving, spead2_heaps
from streams import noise, run, source


def of_type(sample_type, n):
    """Noise as it is in a packet."""
    if sample_type in ("int8", "float"):
        return noise(n)
    if sample_type in ("sc8", "complex"):
        return noise(2 * n).reshape(-1, 2)
    words = noise(4 * n).view(">i2")
    return words[:n] if sample_type == "int16" else words.reshape(-1, 2)


def received(samples, sample_type):
    """The same as the flow graph gets it."""
    if sample_type == "float":
        return samples / np.float32(127)
    if sample_type == "complex":
        return (samples / np.float32(127)).view(np.complex64)[:, 0]
    return samples


@pytest.mark.parametrize("bits", [40, 48])
@pytest.mark.parametrize(
    ("heap", "packet"),
    [(1, 1472), (7, 65507), (8192, 1472), (8192, 8972), (1000000, 65507)],
)
@pytest.mark.parametrize(
    "sample_type", ["int8", "sc8", "int16", "sc16", "float", "complex"]
)
def test_spead2_sends(sample_type, heap, packet, bits):
    samples = of_type(sample_type, min(20 * heap, 2100000))
    with Receiving(output_type=sample_type) as receiving:
        receiving.send_heaps(
            spead2_heaps(samples, heap, bits=bits), max_packet_size=packet
        )
        receiving.wait()
    np.testing.assert_allclose(
        receiving.samples(), received(samples, sample_type), rtol=1e-6, atol=0
    )
    assert receiving.tags("timestamp") == [(0, 0)]
    assert receiving.tags("missing") == []
    assert receiving.stats["samples_received"] == len(samples)
    assert receiving.stats["heaps_received"] == -(-len(samples) // heap)
    assert receiving.balanced()


@NEEDS_BUFFER
def test_spead2_sends_as_fast_as_it_can():
    samples = noise(4 * 10**6)
    with Receiving() as receiving:
        stream = spead2.send.UdpStream(
            spead2.ThreadPool(), [("127.0.0.1", receiving.port)]
        )
        for heap in spead2_heaps(samples, 8192):
            stream.send_heap(heap)
        receiving.wait()
    np.testing.assert_array_equal(receiving.samples(), samples)


@NEEDS_BUFFER
@pytest.mark.parametrize("sample_type", ["int8", "sc16"])
@pytest.mark.parametrize("heap", [1, 1000, 500000])
@pytest.mark.parametrize(
    "options",
    [
        {},
        {"descriptors": "separate", "descriptor_interval": 0.001},
        {"heap_address_bits": 48, "pad_packets": False, "max_packet_size": 65507},
        {"tail": "pad"},
        {"timestamp_start": 2**40 - 10000, "heap_id_start": 2**40 - 5},
    ],
    ids=lambda options: next(iter(options), "defaults"),
)
def test_sink_sends(sample_type, heap, options):
    n = min(30 * heap, 3 * heap + 700000) + heap // 2
    samples = np.ascontiguousarray(of_type(sample_type, n)).astype(
        np.int8 if sample_type.endswith("8") else np.int16
    )
    with Receiving(output_type=sample_type) as receiving:
        run(
            spead.sink(
                f"127.0.0.1:{receiving.port}",
                heap,
                input_type=sample_type,
                rate=100e6,
                **options,
            ),
            source(samples),
        )
        receiving.wait()
    got = receiving.samples()
    np.testing.assert_array_equal(got[:n], samples)
    assert not got[n:].any()  # padding
    assert receiving.tags("timestamp") == [(0, options.get("timestamp_start", 0))]
    assert receiving.stats["samples_missing"] == 0


def test_byte_order_of_descriptors():
    samples = np.arange(-5000, 5000, dtype=np.int16)
    with Receiving(output_type="int16") as receiving:
        run(
            spead.sink(
                f"127.0.0.1:{receiving.port}",
                1000,
                input_type="int16",
                wire_type="<i2",
                tail="pad",
            ),
            source(samples),
        )
        receiving.wait()
    np.testing.assert_array_equal(receiving.samples(), samples)


def test_numbers_of_16_bits_become_floats():
    words = of_type("int16", 10000)
    with Receiving(output_type="float", scale=1000) as receiving:
        receiving.send_heaps(spead2_heaps(words, 4096))
        receiving.wait()
    np.testing.assert_allclose(receiving.samples(), words / np.float32(1000), rtol=1e-6)
