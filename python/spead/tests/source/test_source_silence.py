# Copyright 2026 The gr-spead authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""If packets arrive and no samples come out, the log and the status say why."""

import ctypes
import os
import time
from itertools import count, repeat

import numpy as np
import pytest
import spead2
import spead2.send
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
from received_streams import Receiving, joined, spead2_heaps, spead2_packets
from streams import noise

HEAP = 1000
ITEMS = [spead.timestamp(), spead.samples()]


class Log:
    """What the blocks log from start() on; a capture loses lines while it is read."""

    def __init__(self, path):
        self.path = path
        self.saved = []

    def start(self):
        self.saved = [os.dup(1), os.dup(2)]
        with self.path.open("ab") as file:
            os.dup2(file.fileno(), 1)
            os.dup2(file.fileno(), 2)

    def stop(self):
        for i, each in enumerate(self.saved, 1):
            os.dup2(each, i)
            os.close(each)

    def lines(self, part="no samples come out: "):
        """Those that have a part, so far."""
        ctypes.CDLL(None).fflush(None)  # they wait in the buffers of C
        return [line for line in self.path.read_text().splitlines() if part in line]


@pytest.fixture
def log(tmp_path):
    log = Log(tmp_path / "log")
    yield log
    log.stop()


def heaps_of(samples, heap=HEAP, **options):
    """The packets of spead2, without the end of the stream."""
    return spead2_packets(spead2_heaps(samples, heap, **options))[:-1]


def stream_of(dtype, shape=(HEAP,), add=lambda group: None):
    """Packets of a spead2 stream of samples of a type."""
    group = spead2.send.ItemGroup()
    group.add_item(0x1600, "timestamp", "", shape=(), format=[("u", 40)])
    group.add_item(0x3300, "adc_samples", "", shape=shape, dtype=np.dtype(dtype))
    add(group)
    heaps = []
    for i in range(5):
        group["timestamp"].value = i * HEAP
        group["adc_samples"].value = np.zeros(shape, dtype)
        heaps.append(group.get_heap())
    return joined(spead2_packets(heaps))


def no_descriptors():
    return joined(heaps_of(noise(5 * HEAP), descriptors="none"))


def wide_descriptors():
    """Heaps of which the first has descriptors in several packets."""
    group = spead2.send.ItemGroup()
    group.add_item(0x1600, "timestamp", "t" * 2500, shape=(), format=[("u", 40)])
    group.add_item(0x3300, "adc_samples", "s" * 2500, shape=(HEAP,), dtype=np.int8)
    heaps = []
    for i in range(5):
        group["timestamp"].value = i * HEAP
        group["adc_samples"].value = np.zeros(HEAP, np.int8)
        heaps.append(group.get_heap())
    return spead2_packets(heaps)


def part_of_the_descriptors(lost):
    first, *others = wide_descriptors()
    assert len(first) > 3
    return [*first[:lost], *first[lost + 1 :], *joined(others)]


def two_arrays():
    def add(group):
        value = np.zeros(4, np.int8)
        group.add_item(0x3301, "adc_samples_2", "", (4,), np.int8, value=value)

    packets = stream_of(np.int8, add=add)
    # so that neither has the usual ID
    return [each.replace(b"\0\x33\0", b"\0\x34\0") for each in packets]


def scalars_only():
    group = spead2.send.ItemGroup()
    group.add_item(0x1600, "timestamp", "", shape=(), format=[("u", 40)])
    heaps = []
    for i in range(5):
        group["timestamp"].value = i * HEAP
        heaps.append(group.get_heap())
    return joined(spead2_packets(heaps))


def no_timestamp_and_no_length():
    about = descriptor("adc_samples", 0x3300, format=[("i", 8)], shape=(None,))
    samples = noise(HEAP).tobytes()
    packets = [descriptor_heap([about], 1)]
    for i in range(5):
        pointers = [addressed(0x3300, 0)]
        packets.append(packet(2 + i, pointers, samples, heap_length=0))
    return packets


def rests_of_heaps():
    heaps = heaps_of(noise(5 * 10000), 10000, descriptors="none")
    return joined(each[1:] for each in heaps)


def items_with(name, *values):
    chosen = spead.immediate(0x3101, name, values[0] if len(values) == 1 else [*values])
    return [spead.timestamp(), chosen, spead.samples()]


def with_pol(value):
    extra = [(0x3101, "pol", value)]
    return joined(heaps_of(noise(5 * HEAP), extra=extra))


def plain():
    return joined(heaps_of(noise(5 * HEAP)))


# what is sent, the options, and parts of what is said
CAUSES = {
    "no descriptors": (no_descriptors, {}, ["descriptor_interval", "items"]),
    "the first packet of the descriptors is lost": (
        lambda: part_of_the_descriptors(0),
        {},
        ["descriptor", "items"],
    ),
    "the second packet of the descriptors is lost": (
        lambda: part_of_the_descriptors(1),
        {},
        ["descriptors was lost", "items"],
    ),
    "the third packet of the descriptors is lost": (
        lambda: part_of_the_descriptors(2),
        {},
        ["descriptors was lost", "items"],
    ),
    "another ID of the samples": (
        plain,
        {"items": [spead.timestamp(), spead.samples(0x4300)]},
        ["0x4300", "0x3300", "0x1600", "items"],
    ),
    "another ID of the timestamp": (
        plain,
        {"items": [spead.timestamp(0x1700), spead.samples()]},
        ["0x1700", "0x1600", "0x3300", "items"],
    ),
    "other IDs": (
        plain,
        {"items": [spead.timestamp(0x1700), spead.samples(0x4300)]},
        ["0x1600", "0x3300", "items"],
    ),
    "no timestamp": (
        lambda: [
            packet(i, [addressed(0x3300, 0)], noise(HEAP).tobytes())
            for i in range(1, 6)
        ],
        {"items": ITEMS},
        ["timestamp", "0x1600", "0x3300"],
    ),
    "floats": (lambda: stream_of(np.float32), {}, ['"adc_samples"', "float"]),
    "words for bytes": (
        lambda: stream_of(np.int16),
        {},
        ['"adc_samples"', "16-bit", "output_type"],
    ),
    "bytes for words": (
        lambda: stream_of(np.int8),
        {"output_type": "int16"},
        ['"adc_samples"', "8-bit", "output_type"],
    ),
    "complex samples for a real output": (
        lambda: stream_of(np.int8, (HEAP, 2)),
        {},
        ['"adc_samples"', "complex", "sc8"],
    ),
    "real samples for a complex output": (
        lambda: stream_of(np.int8),
        {"output_type": "sc8"},
        ['"adc_samples"', "real", "int8"],
    ),
    "several arrays": (two_arrays, {}, ['"adc_samples"', '"adc_samples_2"', "items"]),
    "no array": (scalars_only, {}, ["array", "items"]),
    "neither timestamps nor heap lengths": (
        no_timestamp_and_no_length,
        {},
        ["timestamp", "items"],
    ),
    "no SPEAD": (lambda: [b"GET / HTTP/1.1\r\n"] * 5, {}, ["not SPEAD", "474554"]),
    "no SPEAD, with items": (
        lambda: [b"\x53\x03" + bytes(100)] * 5,
        {"items": ITEMS},
        ["not SPEAD", "5303"],
    ),
    "empty datagrams": (lambda: [b""] * 5, {}, ["not SPEAD"]),
    "another value": (
        lambda: with_pol(5),
        {"items": items_with("pol", 7)},
        ["pol", "0x5", "items"],
    ),
    "the value of no output": (
        lambda: with_pol(5),
        {"items": items_with("pol", 7, 8), "num_outputs": 2},
        ["pol", "0x5", "items"],
    ),
    "no item that selects": (
        plain,
        {"items": items_with("pol", 7)},
        ["pol", "none", "items"],
    ),
    "no first packets": (rests_of_heaps, {"items": ITEMS}, ["first packet"]),
}


@pytest.mark.parametrize("cause", CAUSES)
def test_the_cause_is_logged_once_and_is_the_status(cause, log):
    log.start()
    make, options, parts = CAUSES[cause]
    packets = make()
    with Receiving(**options) as receiving:
        receiving.send_packets(packets)
        eventually(lambda: log.lines())
        status = receiving.stats["status"]
        receiving.send_packets(packets)
        assert receiving.stats["status"] == status
    (line,) = log.lines()
    assert status
    assert status in line
    for part in parts:
        assert part in status
    assert receiving.stats["samples_out"] == 0


@pytest.mark.parametrize("cause", CAUSES)
def test_the_cause_is_the_status_of_a_stream_that_has_ended(cause):
    make, options, parts = CAUSES[cause]
    # whose end no SPEAD packet may tell
    is_spead = "SPEAD" not in cause and "datagrams" not in cause
    with Receiving(timeout=0 if is_spead else 0.5, **options) as receiving:
        receiving.send_packets(make())
        if is_spead:
            receiving.send_packets([end_of_stream(1000)])
        receiving.wait()
    status = receiving.stats["status"]
    for part in parts:
        assert part in status


def test_the_cause_is_known_within_two_seconds():
    """Twice of that here, for a busy machine."""
    with Receiving() as receiving:
        begin = time.monotonic()
        receiving.send_packets(no_descriptors())
        eventually(lambda: "descriptor" in receiving.stats["status"])
        assert time.monotonic() - begin < 4


def test_the_status_names_the_port_on_which_nothing_arrives():
    with Receiving() as receiving:
        eventually(lambda: receiving.stats["status"])
        assert str(receiving.port) in receiving.stats["status"]


def test_the_status_of_a_short_run_does_not_deny_what_arrived():
    with Receiving() as receiving:
        receiving.send_packets([b"no SPEAD"] * 5)
    assert "no packets have arrived" not in receiving.stats["status"]


def test_nothing_is_said_while_samples_come_out(log):
    log.start()
    samples = noise(20 * HEAP)
    with Receiving() as receiving:
        receiving.send_heaps(spead2_heaps(samples, HEAP))
        receiving.wait()
    assert receiving.stats["status"] == ""
    assert not log.lines()


def test_the_status_ends_when_samples_come_out(log):
    log.start()
    samples = noise(10 * HEAP)
    heaps = heaps_of(samples)
    with Receiving() as receiving:
        receiving.send_packets([b"no SPEAD"] * 5)
        eventually(lambda: "not SPEAD" in receiving.stats["status"])
        receiving.send_packets(joined(heaps))
        eventually(lambda: len(receiving.samples()) == len(samples))
        eventually(lambda: receiving.stats["status"] == "")
    assert len(log.lines()) == 1


def test_a_source_that_starts_second_says_what_it_waits_for_and_then_receives(log):
    log.start()
    samples = noise(30 * HEAP)
    early, late = samples[: 10 * HEAP], samples[10 * HEAP :]
    with Receiving() as receiving:
        receiving.send_packets(joined(heaps_of(early, descriptors="none")))
        eventually(lambda: "descriptor_interval" in receiving.stats["status"])
        packets = spead2_packets(spead2_heaps(late, HEAP, first=len(early)), counter=11)
        receiving.send_packets(joined(packets))
        receiving.wait()
    np.testing.assert_array_equal(receiving.samples()[-len(late) :], late)
    assert receiving.stats["status"] == ""


# Streams that fall silent


def check_falls_silent(log, packets, *parts):
    """A good stream, and then packets that give no samples."""
    samples = noise(5 * HEAP)
    with Receiving() as receiving:
        receiving.send_packets(joined(heaps_of(samples)))
        eventually(lambda: len(receiving.samples()) == len(samples))

        def is_told():
            receiving.send_packets([next(packets)])
            return log.lines()

        eventually(is_told)
        status = receiving.stats["status"]
    (line,) = log.lines()
    assert status
    assert status in line
    for part in parts:
        assert part in status
    np.testing.assert_array_equal(receiving.samples(), samples)


def test_other_heaps_in_place_of_a_stream_are_told_of(log):
    log.start()
    others = (
        packet(i, [immediate(0x1700, i), addressed(0x4300, 0)], b"x" * HEAP)
        for i in count(100)
    )
    check_falls_silent(log, others, "0x3300", "0x4300")


def test_other_datagrams_in_place_of_a_stream_are_told_of(log):
    log.start()
    check_falls_silent(log, repeat(b"other"), "not SPEAD")


def test_heaps_without_samples_are_told_of(log):
    """The item has no bytes."""
    log.start()
    empty = (
        packet(
            i,
            [immediate(0x1600, i * HEAP), addressed(0x3300, 0), addressed(0, 0)],
            b"\0",
        )
        for i in count(6)
    )
    check_falls_silent(log, empty)


# Hints


def test_ticks_that_are_not_samples_give_a_hint(log):
    """Heaps of 4096 samples in steps of 2048 ticks."""
    log.start()
    samples = noise(20 * 4096)
    with Receiving() as receiving:
        receiving.send_heaps(spead2_heaps(samples, 4096, step=2048))
        receiving.wait()
    del receiving
    (line,) = log.lines("timestamp_step")
    assert "heap_samples=4096" in line
    assert "timestamp_step=2048" in line


def test_the_hint_about_ticks_is_right(log):
    log.start()
    samples = noise(20 * 4096)
    with Receiving(heap_samples=4096, timestamp_step=2048) as receiving:
        receiving.send_heaps(spead2_heaps(samples, 4096, step=2048))
        receiving.wait()
    np.testing.assert_array_equal(receiving.samples(), samples)
    assert receiving.stats["samples_missing"] == 0
    assert not log.lines("timestamp_step")


def test_two_senders_are_told_of_with_the_item_that_tells_them_apart(log):
    log.start()
    streams = [
        heaps_of(noise(50 * HEAP, seed), extra=[(0x3101, "pol", seed)])
        for seed in (1, 2)
    ]
    with Receiving() as receiving:
        for pair in zip(*streams, strict=True):
            receiving.send_packets(pair[0])
            receiving.send_packets([with_counter(each, 500) for each in pair[1]])
    del receiving
    (line,) = log.lines("another sender")
    assert "0x3101" in line
    assert "pol" in line


def with_counter(packet, added):
    """The packet of a heap of another counter."""
    counter = int.from_bytes(packet[8:16], "big") + added
    return packet[:8] + counter.to_bytes(8, "big") + packet[16:]
