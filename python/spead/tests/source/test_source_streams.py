# Copyright 2026 The gr-spead authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Whole streams of spead2, several streams, late descriptors, and tags."""

import numpy as np
import pytest
import spead2
import spead2.send
from gnuradio import spead
from places import NEEDS_BUFFER, eventually
from received_streams import (
    Receiving,
    check_whole,
    joined,
    packets_by_heap,
    received,
    spead2_heaps,
    spead2_packets,
)
from streams import noise

HEAP = 1000
TWO_PORTS = ["127.0.0.1:0", "127.0.0.1:0"]


def two_streams(extra=((), ()), **options):
    """The samples of two streams, and the packets of each of their heaps."""
    samples = [noise(20 * HEAP, seed) for seed in (1, 2)]
    heaps = [
        packets_by_heap(own, counter=1 + i, step=2, extra=items, **options)
        for i, (own, items) in enumerate(zip(samples, extra, strict=True))
    ]
    return samples, heaps


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
        endpoints = [("127.0.0.1", receiving.port)]
        stream = spead2.send.UdpStream(spead2.ThreadPool(), endpoints)
        for heap in spead2_heaps(samples, 8192):
            stream.send_heap(heap)
        receiving.wait()
    check_whole(receiving, samples)


def test_an_item_value_selects_the_output():
    extra = [[(0x3101, "pol", pol)] for pol in (7, 9)]
    samples, heaps = two_streams(extra, repeat_pointers=True)
    pol = spead.immediate(0x3101, "pol", [7, 9])
    receiving = received(
        joined(joined(zip(*heaps, strict=True))),
        items=[spead.timestamp(), pol, spead.samples()],
        num_outputs=2,
        max_delay=0.1,  # with 0, an output that lags behind would be zero-filled
    )
    for i in range(2):
        check_whole(receiving, samples[i], output=i)
        assert receiving.tags("pol", i) == [(0, 7 + 2 * i)]
        assert receiving.source.stats(i)["samples_received"] == len(samples[i])


def test_an_output_whose_stream_ends_early_is_zero_filled():
    samples, heaps = two_streams()
    # packets are given up after ten times max_delay: not while in flight for < 1 s
    with Receiving(
        TWO_PORTS, num_outputs=2, end_on_stop=False, max_delay=0.1
    ) as receiving:
        for own, port, n in zip(heaps, receiving.source.ports(), (5, 20), strict=True):
            packets = joined(own[:n])
            receiving.send_packets(packets, [port] * len(packets))
        receiving.wait_for_samples(20 * HEAP)
    samples[0][5 * HEAP :] = 0
    for i in range(2):
        np.testing.assert_array_equal(receiving.samples(i), samples[i])
    assert receiving.source.stats(0)["samples_missing"] == 15 * HEAP
    assert receiving.balanced()


def test_one_stream_may_arrive_at_several_endpoints():
    samples = noise(32 * HEAP)
    with Receiving(",".join(["127.0.0.1:0"] * 8)) as receiving:
        ports = receiving.source.ports()
        for i, packets in enumerate(packets_by_heap(samples)):
            receiving.send_packets(packets, [ports[i % 8]] * len(packets))
        receiving.wait()
    check_whole(receiving, samples)


# Descriptors


@pytest.mark.parametrize(
    ("heaps", "heap", "options"),
    [(400, 2000, {"max_gap": 1000}), (13, 65536, {"buffer_size": 262144})],
)
def test_packets_before_the_descriptors_are_placed_in_order(heaps, heap, options):
    """The source keeps this many: nothing is lost and every heap is complete."""
    samples = noise((heaps + 1) * heap)
    packets = packets_by_heap(samples, heap, descriptors="none")
    *_, described, _ = spead2_heaps(samples[-heap:], heap, first=heaps * heap)
    packets[heaps : heaps + 1] = spead2_packets([described], counter=heaps + 1)
    receiving = received(joined(packets), **options)
    check_whole(receiving, samples)
    assert receiving.stats["heaps_received"] == heaps + 1


def test_descriptors_may_arrive_in_many_packets_in_any_order():
    samples = noise(4 * HEAP)
    extra = [(0x4000 + i, f"item_with_a_long_name_{i}", i) for i in range(20)]
    heaps = packets_by_heap(samples, packet_size=512, extra=extra)
    assert len(heaps[0]) > 5
    heaps[0].reverse()
    with Receiving(max_delay=2) as receiving:
        receiving.send_packets(joined(heaps[:-1]))
        receiving.wait_for_samples(len(samples))
    check_whole(receiving, samples)
    for _, name, value in extra:
        assert receiving.tags(name) == [(0, value)]


# Tags


def test_items_with_unsuitable_names_are_not_tagged():
    names = "rx_time", "missing", "skipped", "stat\nus", "\x1b[2J"
    extra = [(0x3102 + i, name, 5) for i, name in enumerate(names)]
    receiving = received(joined(packets_by_heap(noise(HEAP), extra=extra)))
    assert [key for _, key, _ in receiving.recorder.tags[0]] == ["timestamp"]


def test_number_of_tag_names_is_limited():
    """GNU Radio never frees a name, and anybody may send descriptors."""
    at_once = 30
    sets = [[f"set {k}, {i}" for i in range(at_once)] for k in range(9)]
    sent = 0
    with Receiving(end_on_stop=False) as receiving:

        def is_tagged(names):
            """Send a heap with new values; whether they are tagged yet."""
            nonlocal sent
            extra = [(0x3101 + i, name, sent) for i, name in enumerate(names)]
            heap = next(spead2_heaps(noise(8), 8, first=8 * sent, extra=extra))
            receiving.send_packets(spead2_packets([heap], counter=sent + 1)[0])
            sent += 1
            return receiving.tags(names[0])

        for names in sets:
            eventually(lambda names=names: is_tagged(names))
    tagged = [name for name in joined(sets) if receiving.tags(name)]
    assert tagged == joined(sets)[:256]


@pytest.mark.parametrize("change", [b"\x52", b"\x53\x04\x03\x06"])
def test_malformed_datagrams_are_counted(change):
    samples = noise(4 * HEAP)
    heaps = packets_by_heap(samples)
    wrong = change + heaps[1][0][len(change) :]
    heaps[2:2] = [[b"", wrong[:5], wrong]]
    receiving = received([wrong, *joined(heaps)])
    check_whole(receiving, samples)
    assert sum(receiving.stats["packets_rejected"].values()) == 4
