# Copyright 2026 The gr-spead authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Heaps with several axes become vectors, exactly as numpy transposes them."""

import re

import numpy as np
import pytest
from crafted_packets import (
    addressed,
    data_heap,
    end_of_stream,
    immediate,
    packet,
    split_heap,
)
from gnuradio import spead
from received_streams import received
from telescope_streams import FIRST, STEP, STREAMS, Stream, expected_samples


@pytest.mark.parametrize("name", STREAMS)
def test_heaps_become_vectors(name):
    stream, output_type, scale = STREAMS[name]
    options = {"axes": stream.option, "output_type": output_type, "scale": scale}
    options["max_delay"] = stream.parts > 1  # they arrive one after the other
    packets = stream.all_packets(stream.packets())
    receiving = received(packets, timestamp_step=STEP, **options)
    assert receiving.outputs == stream.axes.get("pol", 1)
    for port in range(receiving.outputs):
        expected = expected_samples(stream.vectors(port), output_type, scale)
        got = receiving.samples(port).reshape(len(expected), -1)
        np.testing.assert_allclose(got, expected, rtol=1e-6 if scale else 0)
        assert receiving.tags("timestamp", port) == [(0, FIRST)]
        assert receiving.tags("missing", port) == []
    assert receiving.stats["samples_missing"] == 0


@pytest.mark.parametrize("factor", [2, 2.5])
@pytest.mark.parametrize("parts", [1, 4])
def test_log_shows_the_right_step(capfd, factor, parts):
    first = "frequency" if parts > 1 else "channel"
    stream = Stream({first: 64 // parts, "time": 16}, np.int8, True, parts=parts)
    receiving = received(
        stream.all_packets(stream.packets()),
        axes=stream.option,
        output_type="sc8",
        timestamp_step=round(factor * STEP),
        max_delay=1,
    )
    assert receiving.stats["packets_ignored"] > 0
    log = capfd.readouterr().out
    assert f"are {STEP} ticks apart" in log
    assert f"timestamp_step={STEP}" in log


def test_log_shows_axes_that_can_be_set(capfd):
    stream = Stream({"beam": 3, "channel": 4, "time": 8, "pol": 2}, np.int8, True)
    packets = stream.all_packets(stream.packets())
    flat = received(packets, output_type="sc8", heap_samples=192, timestamp_step=STEP)
    np.testing.assert_array_equal(flat.samples().ravel(), stream.samples.ravel())
    log = capfd.readouterr().out
    assert "the shape (3, 4, 8, 2, 2)" in log
    axes = re.search('set axes, such as axes="([^"]*)"', log)[1]
    assert axes == stream.option
    receiving = received(packets, output_type="sc8", axes=axes, timestamp_step=STEP)
    for port in range(2):
        expected = expected_samples(stream.vectors(port), "sc8")
        np.testing.assert_array_equal(receiving.samples(port), expected)


def test_status_shows_a_shape_that_does_not_match(capfd):
    stream = Stream({"channel": 16, "time": 32, "pol": 2}, np.int8, True)
    packets = stream.all_packets(stream.packets())
    receiving = received(packets, output_type="sc8", axes="time=32, channel=16, pol=2")
    assert "shape (16, 32, 2, 2) does not match axes" in receiving.stats["status"]


def test_one_of_several_arrays_in_a_heap():
    """Of a polarisation, as from the EDD's gated spectrometer"""
    spectra = np.random.default_rng(1).normal(size=(48, 2, 513)).astype("<f4")
    packets = []
    for i, pol in np.ndindex(48, 2):
        payload = b"\x01" * 600 + spectra[i, pol].tobytes() + b"\x01" * 1800
        pointers = [
            immediate(0x1600, FIRST + i * STEP),
            immediate(5633, pol),
            addressed(5650, 0),
            addressed(5640, 600),
            addressed(5651, 600 + spectra[i, pol].nbytes),
        ]
        packets += split_heap(1 + 2 * i + pol, pointers, payload, 1400)
    receiving = received(
        [*packets, end_of_stream(999)],
        output_type="float",
        wire_type="<f4",
        axes="channel=513",
        timestamp_step=STEP,
        items=[
            spead.timestamp(),
            spead.immediate(5633, "polarization", 1),
            spead.samples(5640, "data"),
        ],
    )
    np.testing.assert_array_equal(receiving.samples(), spectra[:, 1])
    assert receiving.stats["samples_missing"] == 0
    # the other polarisation, and the other arrays
    assert receiving.stats["packets_ignored"] > len(packets) / 2


def test_log_shows_that_axes_join_parts(capfd):
    stream = Stream({"frequency": 16, "time": 8}, np.int8, True, parts=4)
    received(stream.all_packets(stream.packets()), output_type="sc8")
    assert 'such as "frequency=64/1024"' in capfd.readouterr().out


def test_heaps_without_length_are_ignored_with_the_reason():
    """Where their vectors end is unknown."""
    items = [spead.timestamp(), spead.samples()]
    options = {"items": items, "axes": "channel=32, time=16", "timestamp_step": STEP}

    def heaps(**lengths):
        ones = np.ones(512, np.int8)
        return [data_heap(1 + i, i * STEP, ones, **lengths) for i in range(10)]

    end = end_of_stream(99)
    receiving = received([*heaps(heap_length=0), end], **options)
    assert len(receiving.samples()) == 0
    assert (
        'no heap length (item 0x2), which axes need; set axes=""'
        in (receiving.stats["status"])
    )
    assert len(received([*heaps(), end], **options).samples()) == 160


@pytest.mark.parametrize("difference", [1, STEP // 3, STEP - 48])
def test_parts_of_other_times_are_not_joined(difference):
    """Vectors hold samples of one tick; parts between two steps are ignored."""
    items = [
        spead.timestamp(),
        spead.immediate(0x4103, "frequency"),
        spead.samples(0x4300),
    ]
    packets = [
        packet(
            1 + 2 * i + part,
            [
                immediate(0x1600, FIRST + i * STEP + part * difference, 48),
                immediate(0x4103, 4 * part, 48),
                addressed(0x4300, 0, 48),
            ],
            bytes([1 + part] * 4),
            bits=48,
        )
        for i in range(20)
        for part in range(2)
    ]
    receiving = received(
        [*packets, end_of_stream(99, 48)],
        items=items,
        axes="frequency=4/8",
        timestamp_step=STEP,
    )
    vectors = receiving.samples().reshape(-1, 8)
    assert len(vectors) == 20
    assert (vectors[:, :4] == 1).all()
    assert not vectors[:, 4:].any()
    assert receiving.stats["samples_missing"] == vectors.size // 2
