# Copyright 2026 The gr-spead authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""timestamp_start as a time, and with axes; core-tests show the rest."""

import numpy as np
import pytest
from gnuradio import spead
from received_streams import Receiving, check_whole, joined, packets_by_heap, received
from streams import noise, run, source

HEAP = 1000


@pytest.mark.parametrize(
    ("time", "rate", "tick"),
    [
        ("1600000000", 1000, 0),
        ("1600000001.5", 1000, 1500),
        ("1600000001.500000000000000001", 1000, 1501),
        ("1600000001", (10000, 7), 1429),
    ],
)
def test_a_time_is_the_first_tick_from_then_on(time, rate, tick):
    samples = noise(10 * HEAP)
    receiving = received(
        joined(packets_by_heap(samples, HEAP)),
        timestamp_start=time,
        sample_rate=rate,
        sync_time="1600000000",
    )
    check_whole(receiving, samples[tick:], tick)
    assert receiving.stats["samples_early"] == tick
    ((offset, rx_time),) = receiving.tags("rx_time")
    numerator, denominator = rate if isinstance(rate, tuple) else (rate, 1)
    seconds = rx_time[0] - 1600000000 + rx_time[1]
    assert offset == 0
    assert seconds * numerator / denominator == pytest.approx(tick)


@pytest.mark.parametrize(("tick", "first"), [(200, 200), (201, 300), (299, 300)])
def test_vectors_begin_with_the_first_heap_from_then_on(tick, first):
    """A heap of ten vectors lasts 100 ticks."""
    vectors = noise(6 * 100).reshape(-1, 6)
    options = {"axes": "channel=6, time=10", "timestamp_step": 100}
    with Receiving(timestamp_start=tick, **options) as receiving:
        sink = spead.sink(f"127.0.0.1:{receiving.port}", **options)
        run(sink, source(vectors))
        receiving.wait()
    check_whole(receiving, vectors[first // 10 :], first)
    assert receiving.stats["samples_early"] == first // 10 * 6


def test_each_run_begins_at_the_tick():
    samples = noise(10 * HEAP)
    with Receiving(timestamp_start=2 * HEAP) as receiving:
        receiving.send_packets(joined(packets_by_heap(samples, HEAP)))
        receiving.wait()
        receiving.graph.start()
        receiving.send_packets(joined(packets_by_heap(samples, HEAP, counter=100)))
        receiving.wait()
    np.testing.assert_array_equal(receiving.samples(), np.tile(samples[2 * HEAP :], 2))
    assert [value for _, value in receiving.tags("timestamp")] == [2 * HEAP] * 2
    assert receiving.stats["samples_early"] == 4 * HEAP


def test_the_status_names_the_tick(capfd):
    samples = noise(10 * HEAP)
    receiving = received(joined(packets_by_heap(samples, HEAP)), timestamp_start=2**38)
    assert len(receiving.samples()) == 0
    assert f"the source waits for tick {2**38}" in receiving.stats["status"]
    assert "the source waits for tick" in capfd.readouterr().out
