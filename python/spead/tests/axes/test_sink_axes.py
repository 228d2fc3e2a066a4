# Copyright 2026 The gr-spead authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Vectors become heaps with several axes, equal to those of spead2."""

from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
from gnuradio import spead
from inputs import run_all
from received_streams import joined, spead2_packets
from receiving import datagrams, destination
from streams import balanced
from telescope_streams import FIRST, STEP, STREAMS, expected_samples

HEADER = 8 + 8 * 7  # with timestamp, frequency and samples


@pytest.mark.parametrize("name", STREAMS)
def test_packets_equal_those_of_spead2(sock, name):
    stream, input_type, scale = STREAMS[name]
    heap_bytes = stream.samples[0, 0].nbytes
    payload = -(-heap_bytes // 8) * 8 if heap_bytes % 512 else 512
    sink = spead.sink(
        destination(sock),
        axes=stream.option,
        input_type=input_type,
        wire_type=stream.samples.dtype.str.lstrip("|"),
        scale=scale,
        items=[
            spead.timestamp(),
            spead.immediate(0x4103, "frequency", [] if stream.parts > 1 else 0),
            spead.samples(stream.id, "data"),
        ],
        heap_address_bits=48,
        timestamp_start=FIRST,
        timestamp_step=STEP,
        max_packet_size=HEADER + payload,
        descriptors="none",
        heap_id_start=10,
        send_stop=False,
        rate=5e6,
    )
    vectors = [
        expected_samples(stream.vectors(port), input_type, scale)
        for port in range(stream.axes.get("pol", 1))
    ]
    # GNU Radio has no vectors of one sample
    vectors = [vector[:, 0] if vector.shape[1] == 1 else vector for vector in vectors]
    expected = joined(spead2_packets(stream.heaps, HEADER + payload, counter=10))
    with ThreadPoolExecutor() as pool:
        reading = pool.submit(datagrams, sock, len(expected))
        run_all(sink, *vectors)
        got = reading.result()
    assert sorted(got) == sorted(expected)
    assert balanced(sink.stats())
    assert sink.samples_pending() == 0


def test_items_may_be_set_as_in_the_constructor(sock):
    items = [
        spead.immediate(0x4103, "frequency", []),
        spead.immediate(0x4104, "gain", 1),
        spead.samples(),
    ]
    axes = "frequency=4/16, time=8"
    sink = spead.sink(destination(sock), items=items, axes=axes)
    sink.set_items(items)
    for value in (0, [0, 4, 8, 8]):
        items[0] = spead.immediate(0x4103, "frequency", value)
        with pytest.raises(
            ValueError, match="a different value for each of the 4 parts"
        ):
            spead.sink(destination(sock), items=items, axes=axes)


def test_a_slow_heap_is_sent_completely(sock, receiver):
    """The end waits as long as packets are sent, not only for two seconds."""
    axes = "channel=256, time=1024"
    sink = spead.sink(destination(sock), axes=axes, rate=1e5)
    samples = np.random.default_rng(1).integers(-128, 128, (1024, 256), np.int8)
    run_all(sink, samples)
    (heap,) = receiver.next_heaps(1)
    np.testing.assert_array_equal(heap.samples, samples.T)
    assert sink.stats()["samples_sent"] == samples.size


@pytest.mark.parametrize("tail", ["", "pad", "drop"])
def test_an_incomplete_heap_is_padded_or_dropped(sock, receiver, tail):
    axes = "channel=3, time=8, pol=2"
    sink = spead.sink(
        destination(sock), axes=axes, input_type="sc8", tail=tail, send_stop=False
    )
    generator = np.random.default_rng(1)
    pols = generator.integers(-128, 128, (2, 13, 6), np.int8)
    run_all(sink, *pols)
    is_padded = tail != "drop"
    times = 16 if is_padded else 8
    whole = np.zeros((2, times, 3, 2), np.int8)
    whole[:, :13] = pols[:, :times].reshape(2, -1, 3, 2)
    heaps = receiver.next_heaps(times // 8)
    for heap, part in zip(heaps, np.split(whole, times // 8, axis=1), strict=True):
        np.testing.assert_array_equal(heap.samples, part.transpose(2, 1, 0, 3))
    stats = sink.stats()
    assert balanced(stats)
    assert stats["samples_in"] == 13 * 6
    assert stats["samples_zero_filled"] == (3 * 6 if is_padded else 0)
    assert stats["samples_dropped"] == (0 if is_padded else 5 * 6)
