# Copyright 2026 The gr-spead authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Heaps of one packet without heap length and payload offset, as SKA-Low sends them."""

import numpy as np
import pytest
from gnuradio import spead
from inputs import run_all
from received_streams import Receiving
from receiving import datagrams, destination
from station_beams import BEAM, CHANNEL, TIMES, station_beam_packet


def samples(heaps):
    generator = np.random.default_rng(heaps)
    return generator.integers(-128, 128, (heaps, TIMES, 2, 2), np.int8)


def items(channel=CHANNEL):
    return [
        spead.immediate(0x3010, "scan_id", 7),
        spead.immediate(0x3000, "channel", channel),
        spead.immediate(0x3001, "beam", BEAM),
        spead.samples(0x3300, "voltages"),
    ]


def test_the_sink_sends_station_beams(sock):
    sent = samples(50)
    sink = spead.sink(
        destination(sock),
        input_type="sc8",
        items=items(),
        axes=f"time={TIMES}, pol=2",
        single_packet_heaps=True,
        max_packet_size=9000,
        heap_address_bits=48,
        heap_id_start=100,
        descriptors="none",
        send_stop=False,
        tail="drop",
        rate=100e6,
    )
    pols = [np.ascontiguousarray(sent[:, :, pol]).view(np.int16) for pol in range(2)]
    run_all(sink, *(pol.reshape(-1) for pol in pols))
    expected = [station_beam_packet(100 + i, heap) for i, heap in enumerate(sent)]
    assert datagrams(sock, len(expected)) == expected


def test_the_source_receives_station_beams():
    sent = samples(50)
    packets = [station_beam_packet(100 + i, heap) for i, heap in enumerate(sent)]
    del packets[20:23]
    sent[20:23] = 0
    with Receiving(
        output_type="sc8",
        items=items(),
        axes=f"time={TIMES}, pol=2",
        timeout=0.5,
        max_delay=0,
    ) as receiving:
        receiving.send_packets(packets)
        receiving.wait()
    for pol in range(2):
        expected = sent[:, :, pol].reshape(-1, 2)
        np.testing.assert_array_equal(receiving.samples(pol), expected)
        assert receiving.tags("missing", pol) == [
            ((20 + i) * TIMES, 2 * TIMES) for i in range(3)
        ]


@pytest.mark.parametrize("is_immediate", [False, True])
def test_channels_with_equal_heap_counters_are_joined(is_immediate):
    """Each has packets of its own; the heap counter is the time."""
    sent = samples(4 * 10).reshape(10, 4, TIMES, 2, 2)
    channels = [CHANNEL + i for i in range(6)]  # two are not wanted
    packets = []
    for i, heaps in enumerate(sent):
        for channel, heap in zip(channels, [*heaps, *heaps[:2]], strict=True):
            packet = station_beam_packet(100 + i, heap, channel, is_immediate)
            packets.append(packet)
    del packets[6 * 5 + 2]
    sent[5, 2] = 0
    with Receiving(
        output_type="sc8",
        items=[
            spead.timestamp(1),
            spead.immediate(0x3000, "channel", channels[:4]),
            spead.samples(0x3300),
        ],
        axes=f"channel=1/4, time={TIMES}, pol=2",
        timestamp_step=1,
        timeout=0.5,
        max_delay=1,
    ) as receiving:
        receiving.send_packets(packets)
        receiving.wait()
    for pol in range(2):
        expected = sent[:, :, :, pol].transpose(0, 2, 1, 3)
        got = receiving.samples(pol).reshape(expected.shape)
        np.testing.assert_array_equal(got, expected)
        assert receiving.tags("timestamp", pol) == [(0, 100)]
    assert receiving.stats["samples_duplicate"] == 0
    assert receiving.stats["packets_ignored"] == 2 * 10
