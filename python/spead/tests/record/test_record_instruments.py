# Copyright 2026 The gr-spead authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Streams of instruments, also with lost packets, are recorded as numpy has them."""

import struct

import instrument_captures
import numpy as np
import pytest
import spead_packet
from places import NEEDS_LIBPCAP
from recorded_files import read_h5, record

pytestmark = NEEDS_LIBPCAP
TIMESTAMP, POLARISATION, FREQUENCY = 0x1600, 0x3101, 0x4103
HEADER = 14 + 20 + 8  # of a frame: Ethernet, IPv4, UDP
OPTIONS = {  # of streams without descriptors
    "effelsberg_packetiser": "num_outputs=2, items=[spead.timestamp(),"
    " spead.immediate(0x3101, 'polarisation', [0, 1]), spead.samples()]",
    "ska_low_station_beam": "output_type='sc8', axes='time=2048, pol=2',"
    " timestamp_step=1, items=[spead.timestamp(1), spead.samples()]",
}
AXES = {  # of a heap, and their sizes
    "meerkat_f_engine": (("frequency", "time", "pol"), (64, 256, 2)),
    "meerkat_beam": (("frequency", "time"), (64, 256)),
    "ska_low_station_beam": (("time", "pol"), (2048, 2)),
}


@pytest.fixture(scope="module", params=instrument_captures.CAPTURES)
def instrument(request, tmp_path_factory):
    path = tmp_path_factory.mktemp("captures") / f"{request.param}.pcap"
    instrument_captures.write_capture(path, request.param, seconds=2)
    return request.param, path


def with_losses(path, fraction):
    """Leave out packets of samples; returns those that remain."""
    content, position = path.read_bytes(), 24
    kept, packets = [content[:position]], []
    random = np.random.default_rng(1)
    while position < len(content):
        size = 16 + struct.unpack_from("=I", content, position + 8)[0]
        record = content[position : position + size]
        position += size
        packet = spead_packet.parse(record[16 + HEADER :])
        has_samples = not (packet.has_descriptors() or packet.is_end_of_stream())
        if has_samples and random.random() < fraction:
            continue
        kept.append(record)
        if has_samples:
            packets.append(packet)
    path = path.with_name(f"{path.stem}-{fraction}.pcap")
    path.write_bytes(b"".join(kept))
    return path, packets


def values(packet):
    return {item.id: item.value for item in packet.items}


def voltages(packets):
    """(ticks, outputs) samples of a digitiser, which arrived, and the first tick."""
    heaps = [(values(packet), packet.payload) for packet in packets]
    first = min(items[TIMESTAMP] for items, _ in heaps)
    end = max(items[TIMESTAMP] for items, _ in heaps) + 4096
    samples = np.zeros((end - first, 2), np.int8)
    arrived = np.zeros((end - first, 2), bool)
    for items, payload in heaps:
        begin = items[TIMESTAMP] - first
        rows = slice(begin, begin + len(payload))
        samples[rows, items[POLARISATION]] = np.frombuffer(payload, np.int8)
        arrived[rows, items[POLARISATION]] = True
    return samples, arrived, first


def vectors(packets, axes, sizes, step):
    """(rows, outputs, numbers) of heaps, which arrived, and the first tick."""
    all_items = [values(packet) for packet in packets]
    time_item = TIMESTAMP if TIMESTAMP in all_items[0] else 1
    first = min(items[time_item] for items in all_items)
    heaps = 1 + (max(items[time_item] for items in all_items) - first) // step
    parts = 1 + max(items.get(FREQUENCY, 0) for items in all_items) // 64
    size = 2 * np.prod(sizes)
    content = np.zeros((heaps, parts, size), np.int8)
    arrived = np.zeros((heaps, parts, size), bool)
    for items, packet in zip(all_items, packets, strict=True):
        heap = (items[time_item] - first) // step, items.get(FREQUENCY, 0) // 64
        begin = items.get(3, 0)
        place = (*heap, slice(begin, begin + len(packet.payload)))
        content[place] = np.frombuffer(packet.payload, np.int8)
        arrived[place] = True

    def by_row(array):
        array = array.reshape(heaps, parts, *sizes, 2)
        array = np.moveaxis(array, 2 + axes.index("time"), 1)  # heap, time, part, axes
        if "pol" in axes:
            array = np.moveaxis(array, -2, 2)
        rows = heaps * sizes[axes.index("time")]
        return array.reshape(rows, 2 if "pol" in axes else 1, -1)

    return by_row(content), by_row(arrived), first


@pytest.mark.parametrize("losses", [0, 0.01])
def test_the_recording_holds_what_arrived(instrument, tmp_path, losses):
    name, path = instrument
    path, packets = with_losses(path, losses)
    options = ["--options", OPTIONS[name]] if name in OPTIONS else []
    assert record(path, tmp_path / "night.h5", *options) == 0
    if name in AXES:
        axes, sizes = AXES[name]
        rows_per_heap = sizes[axes.index("time")]
        step = 1 if name.startswith("ska") else 2 * 256 * 256
        samples, arrived, first = vectors(packets, axes, sizes, step)
        heap = np.arange(len(samples)) // rows_per_heap
        whole = np.array([arrived[heap == i].all() for i in range(heap[-1] + 1)])[heap]
        ticks = first + np.arange(len(samples)) * step // rows_per_heap
        is_whole = np.stack([whole, whole], axis=1)
    else:
        samples, arrived, first = voltages(packets)
        is_whole, ticks = arrived, first + np.arange(len(samples))
    assert is_whole.all() == (losses == 0)
    for output in range(samples.shape[1]):
        recorded, recorded_ticks, is_missing = read_h5(tmp_path / "night.h5", output)
        np.testing.assert_array_equal(recorded_ticks, ticks)
        numbers = recorded.view(np.int8).reshape(len(recorded), -1)
        expected = samples[:, output].reshape(len(samples), -1)
        np.testing.assert_array_equal(numbers, expected)
        np.testing.assert_array_equal(is_missing, ~is_whole[:, output])
