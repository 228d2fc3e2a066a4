# Copyright 2026 The gr-spead authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""If samples do not come out, the log and the status say why."""

from itertools import count, repeat
from pathlib import Path

import numpy as np
import pytest
from crafted_packets import (
    addressed,
    descriptor,
    descriptor_heap,
    end_of_stream,
    immediate,
    packet,
)
from gnuradio import spead
from places import eventually
from received_streams import (
    Receiving,
    check_whole,
    described_heaps,
    joined,
    packets_by_heap,
    received,
    spead2_heaps,
    spead2_packets,
)
from streams import noise

HEAP = 1000
TIME = (0x1600, {"format": [("u", 40)]})


def plain(**options):
    """Five heaps that spead2 sends."""
    return joined(packets_by_heap(noise(5 * HEAP), **options)[:-1])


def described(**items):
    """Five heaps of a timestamp and zeros; items: (ID, dtype, shape) of each array."""
    arrays = {
        name: (id, {"dtype": np.dtype(dtype), "shape": shape})
        for name, (id, dtype, shape) in items.items()
    }
    zeros = [[np.zeros(how["shape"], how["dtype"])] * 5 for _, how in arrays.values()]
    ticks = range(0, 5 * HEAP, HEAP)
    heaps = described_heaps({"timestamp": TIME} | arrays, ticks, *zeros)
    return joined(spead2_packets(heaps)[:-1])


def samples_of(dtype, shape=(HEAP,)):
    return described(adc_samples=(0x3300, dtype, shape))


def without_packet_of_descriptors(lost):
    """Five heaps whose descriptors span several packets, one of which is lost."""
    extra = [(0x4000 + i, f"item {i}" * 8, i) for i in range(60)]
    packets = plain(extra=extra)
    assert b"item" in packets[2]
    del packets[lost]
    return packets


def no_timestamp_and_no_length():
    about = descriptor("adc_samples", 0x3300, format=[("i", 8)], shape=(None,))
    heaps = [
        packet(i, [addressed(0x3300, 0)], bytes(HEAP), heap_length=0)
        for i in range(2, 7)
    ]
    return [descriptor_heap([about], 1), *heaps]


def no_timestamp():
    return [packet(i, [addressed(0x3300, 0)], bytes(HEAP)) for i in range(1, 6)]


def heaps_of_several_packets():
    """Only the first packet of a heap has its items."""
    return joined(packets_by_heap(noise(5 * 10000), 10000, descriptors="none")[:-1])


def heaps_without_first_packets():
    heaps = packets_by_heap(noise(5 * 10000), 10000, descriptors="none")
    return joined(each[1:] for each in heaps[:-1])


def descriptors_only():
    about = descriptor("adc_samples", 0x3300, format=[("i", 8)], shape=(None,))
    return [descriptor_heap([about], i) for i in range(1, 6)]


def items(timestamp=0x1600, samples=0x3300, pol=None):
    chosen = [] if pol is None else [spead.immediate(0x3101, "pol", pol)]
    return {"items": [spead.timestamp(timestamp), *chosen, spead.samples(samples)]}


def pol_5():
    return plain(extra=[(0x3101, "pol", 5)])


@pytest.mark.parametrize(
    ("make", "options", "parts"),
    [
        # descriptors
        (lambda: plain(descriptors="none"), {}, ["descriptor_interval", "items"]),
        (lambda: without_packet_of_descriptors(0), {}, ["no descriptors", "items"]),
        (lambda: without_packet_of_descriptors(1), {}, ["was lost", "items"]),
        (lambda: samples_of("f4"), {}, ['"adc_samples"', "float"]),
        (lambda: samples_of("i2"), {}, ['"adc_samples"', "16-bit", "output_type"]),
        (lambda: samples_of("i4"), {"output_type": "int16"}, ["32-bit", '"int32"']),
        (lambda: samples_of("i1", (HEAP, 2)), {}, ["pairs", "sc8"]),
        (lambda: samples_of("i1"), {"output_type": "sc8"}, ["real", "int8"]),
        (
            lambda: described(one=(0x3400, "i1", (4,)), two=(0x3401, "i1", (4,))),
            {},
            ['"one"', '"two"', "items"],
        ),
        (described, {}, ["array", "items"]),
        (no_timestamp_and_no_length, {}, ["timestamp", "items"]),
        # items
        (plain, items(samples=0x4300), ["0x4300", "0x3300", "0x1600", "items"]),
        (plain, items(timestamp=0x1700), ["0x1700", "0x1600", "0x3300", "items"]),
        (no_timestamp, items(), ["timestamp", "0x1600", "0x3300"]),
        (heaps_of_several_packets, items(0x1700), ["0x1700", "0x1600", "0x3300"]),
        (heaps_of_several_packets, items(samples=0x4300), ["0x4300", "0x1600"]),
        (descriptors_only, items(), ["descriptors have arrived, but no samples"]),
        (pol_5, items(pol=7), ["pol", "0x5", "items"]),
        (pol_5, items(pol=[7, 8]) | {"num_outputs": 2}, ["pol", "0x5", "items"]),
        (plain, items(pol=7), ["pol", "none", "items"]),
        (heaps_without_first_packets, items(), ["first packet"]),
        # other datagrams
        (lambda: [b"GET / HTTP/1.1\r\n"] * 5, {}, ["not SPEAD", "474554"]),
        (lambda: [b"\x53\x03" + bytes(100)] * 5, items(), ["not SPEAD", "5303"]),
        (lambda: [b""] * 5, {}, ["not SPEAD"]),
    ],
)
def test_the_status_says_why_no_samples_come_out(make, options, parts):
    with Receiving(**options) as receiving:
        receiving.send_packets(make())
    assert receiving.stats["samples_out"] == 0
    for part in parts:
        assert part in receiving.stats["status"]


@pytest.fixture
def logged():
    """A function that returns the log lines so far that contain a text."""

    def lines(part="no output: "):
        # capfd would lose lines that are written while it reads
        text = Path("/proc/self/fd/1").read_text()
        return [line for line in text.splitlines() if part in line]

    return lines


def test_the_reason_is_logged_once_and_is_the_status_until_samples_come_out(logged):
    samples = noise(10 * HEAP)
    heaps = packets_by_heap(samples)
    with Receiving() as receiving:
        receiving.send_packets([b"other"] * 5)
        eventually(logged)
        receiving.send_packets([b"other"] * 5)
        status = receiving.stats["status"]
        receiving.send_packets(joined(heaps[:-1]))
        receiving.wait_for_samples(len(samples))
        eventually(lambda: not receiving.stats["status"])
        receiving.send_packets(heaps[-1])
        receiving.wait()
    check_whole(receiving, samples)
    (line,) = logged()
    assert status in line


def test_the_status_names_a_port_that_receives_nothing():
    with Receiving() as receiving:
        eventually(lambda: receiving.stats["status"])
        assert str(receiving.port) in receiving.stats["status"]


@pytest.mark.parametrize(
    ("others", "parts"),
    [
        (
            (
                packet(i, [immediate(0x1700, i), addressed(0x4300, 0)], b"x" * HEAP)
                for i in count(100)
            ),
            ["0x3300", "0x4300"],
        ),
        (repeat(b"other"), ["not SPEAD"]),
        (
            (
                packet(
                    i,
                    [
                        immediate(0x1600, i * HEAP),
                        addressed(0x3300, 0),
                        addressed(0, 0),
                    ],
                    b"\0",
                )
                for i in count(6)
            ),
            ["hold no samples"],
        ),
    ],
    ids=["other heaps", "other datagrams", "heaps without samples"],
)
def test_the_log_and_status_say_why_a_stream_falls_silent(others, parts, logged):
    samples = noise(5 * HEAP)
    with Receiving() as receiving:
        receiving.send_packets(joined(packets_by_heap(samples)[:-1]))
        receiving.wait_for_samples(len(samples))

        def has_status():
            receiving.send_packets([next(others)])
            return receiving.stats["status"]

        eventually(lambda: has_status() and logged())
    np.testing.assert_array_equal(receiving.samples(), samples)
    (line,) = logged()
    for part in [*parts, receiving.stats["status"]]:
        assert part in line


# Hints


@pytest.mark.parametrize("lost", [0, 3])
def test_the_log_says_how_many_samples_are_missing(logged, lost):
    heaps = packets_by_heap(noise(20 * HEAP), HEAP)
    del heaps[10 : 10 + lost]
    received(joined(heaps))
    expected = f"{lost * HEAP} of {20 * HEAP} samples are missing: their packets have n"
    assert [expected in line for line in logged("missing")] == [True] * bool(lost)


def test_the_log_suggests_the_right_timestamp_step(logged):
    """Heaps of 4096 samples in steps of 2048 ticks."""
    samples = noise(20 * 4096)
    packets = joined(spead2_packets(spead2_heaps(samples, 4096, step=2048)))
    received(packets)
    (line,) = logged("timestamp_step")
    hint = {"heap_samples": 4096, "timestamp_step": 2048}
    for name, value in hint.items():
        assert f"{name}={value}" in line
    check_whole(received(packets, **hint), samples)
    assert len(logged("timestamp_step")) == 1  # the second run logs no hint


def test_lost_heaps_suggest_no_timestamp_step(logged):
    """Heap counters advance by 2, and some of the heaps are lost."""
    heaps = [
        packet(2 * i, [immediate(0x1600, i * HEAP), addressed(0x3300, 0)], bytes(HEAP))
        for i in [*range(3), *range(3, 19, 3), *range(20, 30)]
    ]
    receiving = received([*heaps, end_of_stream(60)], **items())
    assert receiving.stats["samples_missing"]
    assert not logged("timestamp_step")


def test_the_log_names_an_item_that_distinguishes_two_senders(logged):
    streams = [
        packets_by_heap(
            noise(50 * HEAP, pol), counter=500 * pol, extra=[(0x3101, "pol", pol)]
        )
        for pol in (1, 2)
    ]
    pairs = zip(*(each[:-1] for each in streams), strict=True)
    with Receiving() as receiving:
        receiving.send_packets(joined(joined(pairs)))
        receiving.wait_for_samples(HEAP)
    (line,) = logged("another sender")
    assert "0x3101" in line
    assert "pol" in line
