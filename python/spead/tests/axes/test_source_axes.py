# Copyright 2026 The gr-spead authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Heaps with several axes become vectors, exactly as numpy transposes them."""

import re

import numpy as np
import pytest
import spead2
import spead2.send
from crafted_packets import addressed, data_heap, end_of_stream, immediate, packet
from gnuradio import spead
from received_streams import joined, received, spead2_packets
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
    """A heap as the EDD's gated spectrometer sends it, with another array."""
    channels, heaps = 513, 48
    spectra = np.random.default_rng(1).normal(size=(heaps, 4, channels))
    spectra = spectra.astype("<f4")
    group = spead2.send.ItemGroup(flavour=spead2.Flavour(4, 64, 48))
    for id in (5632, 5633, 5634, 5636):
        group.add_item(id, f"item {id}", "", (), format=[("u", 48)], value=0)
    group.add_item(5650, "before", "", (300,), np.int16, value=np.ones(300, np.int16))
    group.add_item(5640, "data", "", (channels,), "<f4")
    group.add_item(5651, "after", "", (900,), np.int16, value=np.ones(900, np.int16))
    sent = []
    for i in range(heaps):
        for j in range(4):
            group["item 5632"].value = FIRST + i * STEP
            group["item 5633"].value = j // 2
            group["item 5634"].value = j % 2
            group["item 5636"].value = i // 10
            group["data"].value = spectra[i, j]
            sent.append(group.get_heap(descriptors="none", data="all"))
            sent[-1].repeat_pointers = True
    packets = joined(spead2_packets([*sent, group.get_end()]))
    receiving = received(
        packets,
        output_type="float",
        wire_type="<f4",
        axes=f"channel={channels}",
        timestamp_step=STEP,
        items=[
            spead.timestamp(5632),
            spead.immediate(5633, "polarization", 1),
            spead.immediate(5634, "noise_diode_status", 0),
            spead.immediate(5636, "number_of_input_samples"),
            spead.samples(5640, "data"),
        ],
    )
    np.testing.assert_array_equal(receiving.samples(), spectra[:, 2])
    tags = receiving.tags("number_of_input_samples")
    assert tags == [(i, i // 10) for i in range(0, heaps, 10)]
    stats = receiving.stats
    assert stats["samples_missing"] == 0
    # the other streams, and the other arrays
    assert stats["packets_ignored"] > 3 / 4 * len(packets)


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
