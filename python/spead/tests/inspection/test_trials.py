# Copyright 2026 The gr-spead authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""What spead-inspect suggests has been tried: the source receives as much."""

import itertools
import random
import struct

import numpy as np
import pytest
from crafted_packets import (
    addressed,
    data_heap,
    descriptor,
    descriptor_heap,
    immediate,
    packet,
)
from gnuradio import spead
from gnuradio.spead.spead_python import _inspector
from gnuradio.spead.stream_report import lines, tried_suggestion
from received_streams import Receiving, joined, packets_by_heap
from station_beams import station_beam_packet
from streams import noise
from telescope_streams import STREAMS, Stream

HEAP = 1000


def inspected(packets, sender="127.0.0.1:1"):
    inspector = _inspector("127.0.0.1:0")
    for each in packets:
        inspector.add(each, sender, 0)
    return inspector


def checked(packets, part=1):
    """The suggestion for these packets, after the source has received them, too.

    part: of the heaps, which the source must receive
    """
    suggestion = tried_suggestion(inspected(packets), "127.0.0.1:0")
    assert not suggestion.reason
    trial = suggestion.trial
    assert trial["heaps_received"] >= part * trial["heaps"] > 0
    call = suggestion.call().replace("spead.source(", "dict(endpoints=", 1)
    options = eval(call, {"spead": spead})
    with Receiving(**options, end_on_stop=False) as receiving:
        receiving.send_packets(packets)
        receiving.wait_for_samples(
            trial["samples_received"] // receiving.outputs // vector_length(options)
        )
    assert receiving.stats["heaps_received"] >= trial["heaps_received"]
    return suggestion


def vector_length(options):
    """Samples of an item of an output."""
    if "axes" not in options:
        return 1
    sizes = dict(part.split("=") for part in options["axes"].split(", "))
    whole = {name: int(size.split("/")[-1]) for name, size in sizes.items()}
    return int(np.prod([n for name, n in whole.items() if name not in ("time", "pol")]))


@pytest.mark.parametrize("name", STREAMS)
def test_streams_of_telescopes_are_received_whole(name):
    stream, *_ = STREAMS[name]
    packets = stream.all_packets(stream.packets())
    suggestion = tried_suggestion(inspected(packets), "127.0.0.1:0")
    assert suggestion.receives_everything()
    assert suggestion.trial["samples_missing"] == 0
    assert "heaps received" in suggestion.result()


def pyspead_heap(counter, order):
    """A packet as PySPEAD sends it: the required items come last, in any order."""
    samples = noise(4096, counter).tobytes()
    words = [
        immediate(1, counter),
        immediate(2, len(samples)),
        immediate(3, 0),
        immediate(4, len(samples)),
        immediate(0x1600, 4096 * counter),
        addressed(0x3300, 0),
    ]
    header = struct.pack(">BBBBHH", 0x53, 4, 3, 5, 0, len(words))
    return header + b"".join(words[i] for i in order) + samples


@pytest.mark.parametrize(
    "order",
    [
        (4, 0, 5, 1, 3, 2),
        (5, 4, 3, 2, 1, 0),
        (4, 5, 0, 1, 2, 3),
        (0, 4, 1, 5, 2, 3),
        (5, 0, 1, 2, 3, 4),
        (2, 3, 4, 0, 1, 5),
    ],
)
def test_items_may_have_any_order(order):
    packets = [pyspead_heap(i, order) for i in range(1, 30)]
    suggestion = checked(packets)
    assert suggestion.receives_everything()
    assert "timestamp(0x1600)" in suggestion.call()
    assert "samples(0x3300)" in suggestion.call()


def described(format=(("i", 8),), id=0x3300, name="adc_samples"):
    about = descriptor(name, id, format=format, shape=(None,))
    return descriptor_heap([about, descriptor("time", 0x1600, format=[("u", 40)])], 1)


def test_unprintable_types_are_not_printed():
    raw = bytearray(described())
    raw[raw.index(b"i\0\0\x08")] = 0x9B  # begins a control sequence
    packets = [bytes(raw), *(data_heap(2 + i, i * HEAP, noise(HEAP)) for i in range(9))]
    inspector = inspected(packets)
    text = "\n".join(lines(inspector.streams(), ["0.0.0.0:1"], 1))
    suggestion = tried_suggestion(inspector, "127.0.0.1:0")
    text += suggestion.call() + suggestion.result()
    assert text.isascii()
    assert text.replace("\n", "").isprintable()


def test_descriptors_of_other_senders_are_not_used():
    inspector = inspected([described(id=0x4300)], "127.0.0.1:2")
    for i in range(20):
        inspector.add(data_heap(2 + i, i * HEAP, noise(HEAP)), "127.0.0.1:1", 0)
    suggestion = tried_suggestion(inspector, "127.0.0.1:0")
    assert suggestion.trial["heaps_received"] == 20
    assert any("do not describe" in note for note in suggestion.notes)


def test_heaps_without_items_have_a_reason():
    packets = [packet(i, [], bytes(100)) for i in range(10)]
    suggestion = tried_suggestion(inspected(packets), "127.0.0.1:0")
    assert suggestion.reason == "the heaps have no items besides those of SPEAD"


@pytest.mark.parametrize("before", [1, 30, 90])
def test_heaps_before_the_descriptors_do_not_count(before):
    """MeerKAT sends descriptors every 5 s."""
    pols = [
        packets_by_heap(
            noise(50 * HEAP, pol),
            extra=[(0x3101, "pol", 7 + pol)],
            counter=1 + pol,
            step=2,
            descriptors="none",
        )[:-1]
        for pol in range(2)
    ]
    packets = joined(joined(pair) for pair in zip(*pols, strict=True))
    about = [
        descriptor("timestamp", 0x1600, format=[("u", 40)]),
        descriptor("pol", 0x3101, format=[("u", 40)]),
        descriptor("adc_samples", 0x3300, format=[("i", 8)], shape=(None,)),
    ]
    packets.insert(before, descriptor_heap(about, 1001))
    suggestion = checked(packets)
    assert suggestion.receives_everything()
    assert suggestion.options["num_outputs"] == "2"


def test_counters_that_are_no_sequence_give_no_losses():
    """An F-engine whose counter is timestamp + (frequency << 8) + feng_id"""
    packets = [
        packet(
            (time * 2**21 + (frequency << 8)) % 2**40,
            [
                immediate(0x1600, time * 2**21),
                immediate(0x4103, frequency),
                addressed(0x3300, 0),
            ],
            noise(HEAP).tobytes(),
        )
        for time in range(20)
        for frequency in (0, 256, 512, 1024, 2048, 4096)
    ]
    inspector = inspected(packets)
    (stream,) = inspector.streams()
    assert stream["heaps_lost"] is None
    text = "\n".join(lines([stream], ["0.0.0.0:1"], 1))
    assert "heap counters are no sequence" in text


@pytest.mark.parametrize("axes", [False, True])
def test_two_items_together_tell_streams_apart(axes):
    """4 antennas, with 4 substreams each"""
    packets = []
    for time, antenna, part in itertools.product(range(30), range(4), range(4)):
        items = [
            immediate(0x1600, (1 + time) * HEAP),
            immediate(0x4101, antenna),
            immediate(0x4103, part * 10 if axes else part),
            addressed(0x3300, 0),
        ]
        packets.append(packet(len(packets), items, noise(HEAP).tobytes()))
    about = [
        descriptor("timestamp", 0x1600, format=[("u", 40)]),
        descriptor("antenna", 0x4101, format=[("u", 40)]),
        descriptor("frequency", 0x4103, format=[("u", 40)]),
        descriptor(
            "adc_samples",
            0x3300,
            format=[("i", 8)],
            shape=(10, 100) if axes else (HEAP,),
        ),
    ]
    packets.insert(0, descriptor_heap(about, 10**6))
    suggestion = checked(packets, part=0.25 if axes else 1 / 16)
    assert not any("tell apart" in note for note in suggestion.notes)
    assert any("this receives the first" in note for note in suggestion.notes)


@pytest.mark.parametrize("is_immediate", [False, True])
def test_station_beams_are_received_whole(is_immediate):
    generator = np.random.default_rng(1)
    sent = generator.integers(-128, 128, (100, 2048, 2, 2), np.int8)
    packets = [
        station_beam_packet(100 + i, pairs, is_immediate=is_immediate)
        for i, pairs in enumerate(sent)
    ]
    suggestion = checked(packets)
    assert suggestion.receives_everything()
    assert suggestion.trial["samples_received"] == sent.size


def test_heap_counters_place_heaps_whose_timestamp_is_constant():
    """Antenna buffers of a TPM"""
    packets = [
        packet(
            1 + i,
            [immediate(0x1600, 12345), addressed(0x3300, 0)],
            noise(HEAP, i).tobytes(),
        )
        for i in range(50)
    ]
    suggestion = checked(packets)
    assert suggestion.receives_everything()
    assert "timestamp(0x1)" in suggestion.call()


def test_floats_are_not_shown_as_integers():
    about = descriptor(
        "gain", 0x4000, "{'descr': '>f4', 'fortran_order': False, 'shape': ()}"
    )
    value = int.from_bytes(struct.pack(">f", -3.5), "big")
    heaps = [
        data_heap(2 + i, i * HEAP, noise(HEAP), more=[immediate(0x4000, value)])
        for i in range(10)
    ]
    (stream,) = inspected([descriptor_heap([about], 1), *heaps]).streams()
    text = "\n".join(lines([stream], ["0.0.0.0:1"], 1))
    assert str(value) not in text
    assert '"gain" >f4 ()' in text


def test_packed_samples_have_their_bits():
    packets = [
        described(format=[("i", 10)]),
        *(data_heap(2 + i, i * 4096, noise(5120)) for i in range(10)),
    ]
    text = "\n".join(lines(inspected(packets).streams(), ["0.0.0.0:1"], 1))
    assert '"adc_samples" 10-bit i (None)' in text


@pytest.mark.parametrize("seed", range(40))
def test_any_packets_give_a_short_printable_report(seed):
    chooser = random.Random(seed)
    ids = [chooser.randrange(2**15) for _ in range(chooser.choice([1, 3, 40]))]
    packets = []
    for i in range(chooser.choice([1, 20, 300])):
        kinds = chooser.choices(
            [immediate, addressed], k=chooser.randrange(len(ids) + 1)
        )
        pointers = [
            kind(chooser.choice(ids), chooser.choice([0, i, chooser.randrange(2**40)]))
            for kind in kinds
        ]
        payload = chooser.randbytes(chooser.choice([0, 8, 100]))
        packets.append(packet(chooser.choice([0, i, 2 * i]), pointers, payload))
    for _ in range(chooser.choice([0, 1, 5])):
        about = [
            descriptor(
                chooser.randbytes(5).decode("latin1"),
                chooser.choice(ids),
                format=[(chooser.choice("iufcbx"), chooser.randrange(70))],
                shape=chooser.choice([(), (None,), (2, 3), (8,)]),
            )
        ]
        packets.insert(chooser.randrange(len(packets)), descriptor_heap(about, seed))
    inspector = _inspector("127.0.0.1:0")
    for each in packets:
        inspector.add(each, f"127.0.0.1:{chooser.randrange(1, 30)}", 0)
    text = "\n".join(lines(inspector.streams(), ["0.0.0.0:1"], 1))
    suggestion = tried_suggestion(inspector, "127.0.0.1:0")
    text += "\n" + (suggestion.reason or suggestion.result() + suggestion.call())
    assert len(text.splitlines()) < 200
    assert text.replace("\n", "").isprintable()


def test_lost_heaps_are_told():
    stream = Stream({"channel": 16, "time": 32, "pol": 2}, np.int8, True)
    heaps = stream.packets()
    suggestion = tried_suggestion(
        inspected(stream.all_packets(heaps[:10] + heaps[15:])), "127.0.0.1:0"
    )
    assert "43 of 43 heaps received, 5,120 samples missing" in suggestion.result()
