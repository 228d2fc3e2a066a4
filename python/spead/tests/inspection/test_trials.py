# Copyright 2026 The gr-spead authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""What spead-inspect suggests has been tried: the source receives as much."""

import contextlib
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
from gnuradio.spead.stream_report import counted_streams, details
from gnuradio.spead.suggestion import tried_suggestion
from inspected_streams import HEAP, INSPECTED, PYSPEAD_ORDERS, WHOLE
from irregular_streams import (
    counted_apart,
    numbered,
    restarted_with_other_items,
    same_times_again,
    with_many_losses,
)
from places import eventually
from received_streams import Receiving, joined, packets_by_heap
from receiving import bound_socket
from streams import noise
from telescope_streams import Stream

# Several streams on one port, of which a source with axes receives one.
NOT_WHOLE = {
    "antennas and parts",
    "antennas and parts with axes",
    "EDD spectrometer",
    "two senders",
    "two arrays",
}


def inspected(packets, sender="127.0.0.1:1"):
    """packets: datagrams, or (number of the sender, datagram)"""
    inspector = _inspector("127.0.0.1:0")
    for entry in packets:
        if isinstance(entry, tuple):
            inspector.add(entry[1], f"127.0.0.1:{entry[0] + 1}", 0)
        else:
            inspector.add(entry, sender, 0)
    return inspector


def options_of(suggestion):
    call = suggestion.call().replace("spead.source(", "dict(endpoints=", 1)
    return eval(call, {"spead": spead})


def checked(packets):
    """The suggestion for these packets, after its source has received as much."""
    suggestion = tried_suggestion(inspected(packets), "127.0.0.1:0")
    assert not suggestion.reason
    sockets = None
    if isinstance(packets[0], tuple):
        senders = [bound_socket(), bound_socket()]
        sockets = [senders[sender] for sender, _ in packets]
        packets = [data for _, data in packets]
    names = "heaps_received", "samples_received", "samples_missing"
    expected = {name: suggestion.trial[name] for name in names}
    assert expected["samples_received"] > 0

    def received():
        with Receiving(**options_of(suggestion)) as receiving:
            receiving.send_packets(packets, sockets=sockets)
            with contextlib.suppress(AssertionError):  # compared below
                eventually(
                    lambda: (
                        receiving.stats["samples_received"]
                        >= expected["samples_received"]
                    )
                )
        return {name: receiving.stats[name] for name in names}

    # If the sender is suspended within a heap, the source may take the next packets for
    # those of a restarted sender.
    if (counters := received()) != expected:
        counters = received()
    assert counters == expected
    return suggestion


@pytest.mark.parametrize("name", INSPECTED)
def test_the_source_receives_what_the_trial_says(name):
    checked(INSPECTED[name])


@pytest.mark.parametrize("name", WHOLE)
def test_streams_are_received_whole(name):
    suggestion = tried_suggestion(inspected(WHOLE[name]), "127.0.0.1:0")
    assert suggestion.receives_everything() == (name not in NOT_WHOLE)
    # outputs do not begin at the same time
    begins_apart = name == "begin within a time" or name.endswith("ticks apart")
    assert (suggestion.trial["samples_missing"] > 0) == begins_apart
    notes = "; ".join(suggestion.notes)
    notes += "; ".join(suggestion.remarks)
    reasons = "receives the first", "its own port", "they are ignored"
    assert any(reason in notes for reason in reasons) == (name in NOT_WHOLE)


@pytest.mark.parametrize("order", PYSPEAD_ORDERS)
def test_items_may_have_any_order(order):
    suggestion = tried_suggestion(inspected(WHOLE[f"PySPEAD {order}"]), "127.0.0.1:0")
    assert "timestamp(0x1600)" in suggestion.call()
    assert "samples(0x3300)" in suggestion.call()


def test_heap_counters_place_heaps_whose_timestamp_is_constant():
    suggestion = tried_suggestion(inspected(WHOLE["antenna buffer"]), "127.0.0.1:0")
    assert "timestamp(0x1)" in suggestion.call()


def test_counters_that_are_no_sequence_give_no_losses():
    (stream,) = inspected(WHOLE["FPGA F-engine"]).streams()
    assert stream["heaps_lost"] is None
    text = "\n".join(details([stream], ["0.0.0.0:1"], 1))
    assert "heap counters are no sequence" in text


def described(format=(("i", 8),), id=0x3300, name="adc_samples"):
    samples = descriptor(name, id, format=format, shape=(None,))
    return descriptor_heap([samples, descriptor("time", 0x1600, format=[("u", 40)])], 1)


def test_unprintable_types_are_not_printed():
    raw = bytearray(described())
    raw[raw.index(b"i\0\0\x08")] = 0x9B  # begins a control sequence
    packets = [bytes(raw), *(data_heap(2 + i, i * HEAP, noise(HEAP)) for i in range(9))]
    inspector = inspected(packets)
    text = "\n".join(details(inspector.streams(), ["0.0.0.0:1"], 1))
    suggestion = tried_suggestion(inspector, "127.0.0.1:0")
    text += suggestion.call() + "\n".join(suggestion.result())
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


def test_floats_are_not_shown_as_integers():
    gain = descriptor(
        "gain", 0x4000, "{'descr': '>f4', 'fortran_order': False, 'shape': ()}"
    )
    value = int.from_bytes(struct.pack(">f", -3.5), "big")
    heaps = [
        data_heap(2 + i, i * HEAP, noise(HEAP), more=[immediate(0x4000, value)])
        for i in range(10)
    ]
    (stream,) = inspected([descriptor_heap([gain], 1), *heaps]).streams()
    text = "\n".join(details([stream], ["0.0.0.0:1"], 1))
    assert str(value) not in text
    assert '"gain" >f4 ()' in text


def test_packed_samples_have_their_bits():
    packets = [
        described(format=[("i", 10)]),
        *(data_heap(2 + i, i * 4096, noise(5120)) for i in range(10)),
    ]
    text = "\n".join(details(inspected(packets).streams(), ["0.0.0.0:1"], 1))
    assert '"adc_samples" i10 (None)' in text


def test_lost_heaps_are_told():
    stream = Stream({"channel": 16, "time": 32, "pol": 2}, np.int8, True)
    heaps = stream.packets()
    suggestion = tried_suggestion(
        inspected(stream.all_packets(heaps[:10] + heaps[15:])), "127.0.0.1:0"
    )
    assert (
        "43 of 43 complete heaps received, 5,120 samples missing"
        in suggestion.result()[0]
    )


def test_a_heap_that_is_too_large_for_a_trial_is_named():
    packets = joined(packets_by_heap(noise(33 << 20), 33 << 20, packet_size=60_000))
    suggestion = tried_suggestion(inspected(packets), "127.0.0.1:0")
    assert "larger than the 32 MiB" in suggestion.reason


def test_streams_of_several_endpoints_have_an_output_each():
    inspector = _inspector("127.0.0.1:0,127.0.0.2:0")
    streams = [joined(packets_by_heap(noise(20_000, seed))) for seed in (1, 2)]
    for pair in zip(*streams, strict=True):
        for endpoint, data in enumerate(pair):
            inspector.add(data, f"127.0.0.1:{endpoint + 1}", endpoint)
    suggestion = tried_suggestion(inspector, "127.0.0.1:0,127.0.0.2:0")
    options = options_of(suggestion)
    assert (options["endpoints"], options["num_outputs"]) == (inspector.endpoints(), 2)
    assert suggestion.receives_everything()
    assert not suggestion.notes


@pytest.mark.parametrize(
    ("name", "note"),
    [
        ("packed 14", "as bytes: numbers of 14 bits"),
        ("u1 real", "values above 127 become negative"),
        (">i4 complex", "floats round 32-bit integers above 2^24"),
        (">i4 complex", "scale=1 keeps the numbers"),
        ("padding", "described as 200 bytes, but heaps hold 224"),
        ("two arrays", "40 of 80 heaps do not have item 0x3300: they are ignored"),
        ("antenna buffer", "item 0x1600 does not advance"),
    ],
)
def test_comments_name_what_the_source_does_to_samples(name, note):
    suggestion = tried_suggestion(inspected(WHOLE[name]), "127.0.0.1:0")
    assert any(note in comment for comment in suggestion.notes + suggestion.remarks)


def test_losses_are_not_told_from_counters_that_hold_times():
    inspector = inspected(WHOLE["counters are times"])
    suggestion = tried_suggestion(inspector, "127.0.0.1:0")
    (stream,) = counted_streams(inspector, suggestion)
    assert stream["heaps_lost"] is None


@pytest.mark.parametrize("name", ["SPEAD-64-24", "SPEAD-64-16"])
def test_the_first_heap_of_a_small_counter_follows_no_lost_ones(name):
    (stream,) = inspected(WHOLE[name]).streams()
    assert (stream["heaps_lost"], stream["heaps_reordered"]) == (0, 0)


@pytest.mark.parametrize(
    "packets",
    [
        WHOLE["timestamp behind the samples"],
        WHOLE["timestamps wrap after many"],
        WHOLE["one polarisation after the other"],
        WHOLE["2 polarisations 3 ticks apart"],
        WHOLE["2 polarisations 21 ticks apart"],
        same_times_again(),
        restarted_with_other_items(),
        *(with_many_losses(0.25, seed) for seed in range(10)),
    ],
)
def test_polarisations_get_an_output_each(packets):
    suggestion = tried_suggestion(inspected(packets), "127.0.0.1:0")
    assert suggestion.options["num_outputs"] == "2"


def test_items_that_number_heaps_do_not_tell_streams_apart():
    suggestion = tried_suggestion(inspected(numbered(0x3200)), "127.0.0.1:0")
    notes = "; ".join(suggestion.notes)
    assert "of 4 streams, this receives the first" in notes


def test_losses_of_many_senders_are_counted():
    inspector = _inspector("127.0.0.1:0")
    for sender, data in counted_apart():
        inspector.add(data, f"127.0.0.1:{sender + 1}", 0)
    suggestion = tried_suggestion(inspector, "127.0.0.1:0")
    streams = counted_streams(inspector, suggestion)
    assert sum(stream["heaps_lost"] for stream in streams) == 3


def test_more_parts_than_a_source_can_receive_are_named():
    packets = [
        data_heap(65 * i + part, 100 * i, noise(100, i), more=[immediate(0x4103, part)])
        for i in range(20)
        for part in range(65)
    ]
    suggestion = tried_suggestion(inspected(packets), "127.0.0.1:0")
    assert "item 0x4103 has 65 values; a source receives 64" in "; ".join(
        suggestion.notes
    )


def test_ids_that_items_cannot_give_are_a_reason():
    packets = [
        packet(
            i,
            [
                immediate(0x1600, 100 * i, 32),
                immediate(0x800000, 1, 32),
                addressed(0x3300, 0, 32),
            ],
            noise(100, i).tobytes(),
            bits=32,
        )
        for i in range(20)
    ]
    suggestion = tried_suggestion(inspected(packets), "127.0.0.1:0")
    assert "id = 8388608 is invalid" in suggestion.reason
