# Copyright 2026 The gr-spead authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""If samples do not come out, the log and the status say why."""

from itertools import count
from pathlib import Path

import numpy as np
import pytest
from crafted_packets import (
    addressed,
    descriptor,
    descriptor_heap,
    immediate,
    packet,
)
from gnuradio import spead
from places import eventually
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


def plain(**options):
    """Five heaps that spead2 sends."""
    return joined(packets_by_heap(noise(5 * HEAP), **options)[:-1])


def heaps(*items, **options):
    """Five heaps with these items and zeros."""
    pointers = [*items, addressed(0x3300, 0)]
    return [packet(i, pointers, bytes(HEAP), **options) for i in range(2, 7)]


def array(kind="i", bits=8, shape=(None,), name="adc_samples", id=0x3300):
    return descriptor(name, id, format=[(kind, bits)], shape=shape)


def described(*arrays):
    """Five heaps with descriptors of the timestamp and of these arrays."""
    time = descriptor("timestamp", 0x1600, format=[("u", 40)])
    return [descriptor_heap([time, *arrays], 1), *heaps(immediate(0x1600, 0))]


def without_packet_of_descriptors(lost):
    """Five heaps whose descriptors span several packets, one of which is lost."""
    extra = [(0x4000 + i, f"item {i}" * 8, i) for i in range(60)]
    packets = plain(extra=extra)
    assert b"item" in packets[2]
    del packets[lost]
    return packets


def heaps_of_several_packets():
    """Only the first packet of a heap has its items."""
    return joined(packets_by_heap(noise(5 * 10000), 10000, descriptors="none")[:-1])


def heaps_without_first_packets():
    heaps = packets_by_heap(noise(5 * 10000), 10000, descriptors="none")
    return joined(heap[1:] for heap in heaps[:-1])


def items(timestamp=0x1600, samples=0x3300, pol=None):
    chosen = [] if pol is None else [spead.immediate(0x3101, "pol", pol)]
    return {"items": [spead.timestamp(timestamp), *chosen, spead.samples(samples)]}


def pol_5():
    return plain(extra=[(0x3101, "pol", 5)])


@pytest.mark.parametrize(
    ("packets", "options", "parts"),
    [
        # descriptors
        (plain(descriptors="none"), {}, ["descriptor_interval", "items"]),
        (without_packet_of_descriptors(0), {}, ["no descriptors", "items"]),
        (without_packet_of_descriptors(1), {}, ["was lost", "items"]),
        (described(array("f", 32)), {}, ['"adc_samples"', "float"]),
        (described(array("i", 16)), {}, ["16-bit", "output_type"]),
        (described(array("i", 32)), {"output_type": "int16"}, ["32-bit", '"int32"']),
        (described(array(shape=(HEAP, 2))), {}, ["pairs", "sc8"]),
        (described(array()), {"output_type": "sc8"}, ["real", "int8"]),
        (
            described(array(name="one", id=0x3400), array(name="two", id=0x3401)),
            {},
            ['"one"', '"two"', "items"],
        ),
        (described(), {}, ["array", "items"]),
        (
            [descriptor_heap([array()], 1), *heaps(heap_length=0)],
            {},
            ["timestamp", "items"],
        ),
        # items
        (plain(), items(samples=0x4300), ["0x4300", "0x3300", "0x1600", "items"]),
        (plain(), items(timestamp=0x1700), ["0x1700", "0x1600", "0x3300", "items"]),
        (heaps(), items(), ["timestamp", "0x1600", "0x3300"]),
        (heaps_of_several_packets(), items(samples=0x4300), ["0x4300", "0x1600"]),
        (described()[:1], items(), ["descriptors have arrived, but no samples"]),
        (pol_5(), items(pol=7), ["pol", "0x5", "items"]),
        (plain(), items(pol=7), ["pol", "none", "items"]),
        (heaps_without_first_packets(), items(), ["first packet"]),
        # other datagrams
        ([b"GET / HTTP/1.1\r\n"] * 5, {}, ["not SPEAD", "474554"]),
        ([b"\x53\x03" + bytes(100)] * 5, items(), ["not SPEAD", "5303"]),
    ],
)
def test_the_status_says_why_no_samples_come_out(packets, options, parts):
    with Receiving(**options) as receiving:
        receiving.send_packets(packets)
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


def heap_of_other_items(i):
    return packet(i, [immediate(0x1700, i), addressed(0x4300, 0)], b"x" * HEAP)


def heap_without_samples(i):
    pointers = [immediate(0x1600, i * HEAP), addressed(0x3300, 0), addressed(0, 0)]
    return packet(i, pointers, b"\0")


@pytest.mark.parametrize(
    ("other", "parts"),
    [
        (heap_of_other_items, ["0x3300", "0x4300"]),
        (lambda _: b"other", ["not SPEAD"]),
        (heap_without_samples, ["hold no samples"]),
    ],
)
def test_the_log_and_status_say_why_a_stream_falls_silent(other, parts, logged):
    samples = noise(5 * HEAP)
    counters = count(6)
    with Receiving() as receiving:
        receiving.send_packets(joined(packets_by_heap(samples)[:-1]))
        receiving.wait_for_samples(len(samples))

        def has_status():
            receiving.send_packets([other(next(counters))])
            return receiving.stats["status"]

        eventually(lambda: has_status() and logged())
    np.testing.assert_array_equal(receiving.samples(), samples)
    (line,) = logged()
    for part in [*parts, receiving.stats["status"]]:
        assert part in line


# Hints


def test_the_log_says_how_many_samples_are_missing(logged):
    heaps = packets_by_heap(noise(20 * HEAP), HEAP)
    del heaps[10:13]
    received(joined(heaps))
    (line,) = logged("missing")
    assert "3000 of 20000 samples are missing: their packets have not arrived" in line


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


def test_the_log_names_an_item_that_distinguishes_two_senders(logged):
    streams = [
        packets_by_heap(
            noise(50 * HEAP, pol), counter=500 * pol, extra=[(0x3101, "pol", pol)]
        )
        for pol in (1, 2)
    ]
    pairs = zip(*(stream[:-1] for stream in streams), strict=True)
    with Receiving() as receiving:
        receiving.send_packets(joined(joined(pairs)))
        receiving.wait_for_samples(HEAP)
    (line,) = logged("another sender")
    assert "0x3101" in line
    assert "pol" in line
