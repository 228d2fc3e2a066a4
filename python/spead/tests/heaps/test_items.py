# Copyright 2026 The gr-spead authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Immediate items, and new values while the sink runs."""

import itertools
import threading

import numpy as np
import pytest
import spead2
import spead2.recv
from gnuradio import spead
from inputs import (
    Gated,
    packet_of,
    packets_to_end,
    playing,
    run_all,
    whole_heaps,
)
from places import BOUND, NEEDS_BUFFER, eventually
from receiving import destination
from streams import Running, noise, post, run, source

STATE, OTHER = 0x3101, 0x3102
ITEMS = [
    spead.timestamp(),
    spead.immediate(STATE, "state", [10, 20]),
    spead.samples(),
    spead.immediate(OTHER, "other", 5),
]
ONE_INPUT = [*ITEMS[:1], spead.immediate(STATE, "state", 10), *ITEMS[2:]]
LAST = 2**40 - 1


def with_values(state, other):
    return [
        ITEMS[0],
        spead.immediate(STATE, "state", state),
        ITEMS[2],
        spead.immediate(OTHER, "other", other),
    ]


@pytest.mark.parametrize("descriptors", ["first_heap", "separate"])
@pytest.mark.parametrize("bits", [40, 48])
def test_a_receiver_decodes_the_values_of_each_input(sock, receiver, bits, descriptors):
    last = 2**bits - 1
    run_all(
        spead.sink(
            destination(sock),
            1000,
            num_inputs=2,
            heap_address_bits=bits,
            items=with_values([0, last], 12345),
            descriptors=descriptors,
        ),
        *(noise(9000) for _ in range(2)),
    )
    found = {0: [], 1: []}
    guard = threading.Timer(BOUND, receiver.stream.stop)
    guard.start()
    for heap in receiver.stream:
        if heap.is_end_of_stream():
            break
        new = receiver.items.update(heap)
        if new:
            values = (receiver.items["state"].value, receiver.items["other"].value)
            found[(heap.cnt - 1) % 2].append(values)
    guard.cancel()
    assert found == {0: [(0, 12345)] * 9, 1: [(last, 12345)] * 9}


def order_name(order):
    return "-".join(item.name for item in order)


def datagrams_to_end(sock):
    """The datagrams of a stream, up to the end-of-stream heap."""
    packets = []
    while not packets or not packet_of(packets[-1]).is_end:
        packets.append(sock.recv(65536))
    return packets


def decoded(packets):
    """The item values of each heap of samples, as spead2 decodes them."""
    stream = spead2.recv.Stream(spead2.ThreadPool())
    stream.add_buffer_reader(b"".join(packets))
    items = spead2.ItemGroup()
    return [
        {item.name: np.array(item.value) for item in items.values()}
        for heap in stream
        if items.update(heap)
    ]


def addresses(datagram, bits=40):
    """The addresses in the addressed items of a packet, in the order of the items."""
    words = np.frombuffer(datagram, ">u8", datagram[7], 8)
    addressed = words[words >> np.uint64(63) == 0]
    return (addressed & np.uint64((1 << bits) - 1)).tolist()


ORDERS = [
    order
    for items in (ITEMS[::2], ONE_INPUT)
    for order in itertools.permutations(items)
]


@pytest.mark.parametrize("buffer_size", [0, 16_384])
@pytest.mark.parametrize("order", ORDERS, ids=order_name)
def test_receiver_decodes_items_in_any_order(sock, order, buffer_size):
    """The tail is a short heap, or padded to a whole heap."""
    samples = noise(3 * 5000 + 77)
    sink = spead.sink(destination(sock), 5000, items=order, buffer_size=buffer_size)
    run(sink, source(samples))
    packets = datagrams_to_end(sock)
    assert all(addresses(packet) == sorted(addresses(packet)) for packet in packets)
    ids = [item for item in packet_of(packets[-2]).ids if item >= 0x1600]
    assert ids == [item.id for item in order]
    heaps = decoded(packets)
    assert [heap["timestamp"] for heap in heaps] == [0, 5000, 10_000, 15_000]
    assert np.array_equal(
        np.concatenate([heap["adc_samples"] for heap in heaps]), samples
    )
    expected = {item.name: item.values[0] for item in order if item.kind == "immediate"}
    for heap in heaps:
        assert {name: heap[name] for name in expected} == expected


WAYS = {
    "by ID": lambda sink, value: sink.set_item(STATE, value),
    "by name": lambda sink, value: sink.set_item("state", value),
    "of an input": lambda sink, value: sink.set_item("state", value, input=0),
    "as a list": lambda sink, value: sink.set_items(
        [ITEMS[0], spead.immediate(STATE, "state", value), *ITEMS[2:]]
    ),
}


@NEEDS_BUFFER
@pytest.mark.parametrize("buffer_size", [0, 16_384])
@pytest.mark.parametrize("way", WAYS)
def test_new_value_is_in_the_whole_next_heap(sock, way, buffer_size):
    """It is set at a known sample; the small buffer holds no whole heap."""
    size = 3000
    gated = Gated(noise(20 * size))
    sink = spead.sink(
        destination(sock),
        size,
        max_packet_size=203,
        items=ONE_INPUT,
        buffer_size=buffer_size,
        descriptors="none",
    )
    places = (0, 1500, 3000, 3001, 9000, 10_000, 11_999, 12_000, 30_001, 60_000)
    expected, value = [], 10
    with playing(sink, gated):
        # in the middle of a heap, at its end, one sample further, and so on
        for place in places:
            begun = -(-place // size)
            expected += [value] * (begun - len(expected))
            if place:
                gated.until(place)
                eventually(lambda place=place: sink.samples_in() == place)
            value = 100 + place
            WAYS[way](sink, 7)  # the last value before a heap counts
            WAYS[way](sink, value)
    heaps = whole_heaps(packets_to_end(sock))
    assert [heap.items[STATE] for heap in heaps] == expected
    assert {heap.items[OTHER] for heap in heaps} == {5}


@pytest.mark.parametrize("way", ["call", "message"])
@pytest.mark.parametrize("which", [0, 1, -1])
def test_value_changes_at_the_chosen_input_only(sock, way, which):
    sink = spead.sink(destination(sock), 1000, num_inputs=2, items=ITEMS)
    gated = [Gated(noise(40_000)) for _ in range(2)]
    values = [30 if which in (i, -1) else 10 * (i + 1) for i in range(2)]
    with playing(sink, *gated):
        for each in gated:
            each.until(20_000)
        eventually(lambda: sink.samples_in() == 40_000)
        if way == "call":
            sink.set_item("state", 30, input=which)
        else:
            post(sink, {"state": values if which >= 0 else 30})
        # the sink handles messages between steps
        for step in range(1, 21):
            for each in gated:
                each.until(20_000 + 1000 * step)
            eventually(lambda step=step: sink.samples_in() == 40_000 + 2000 * step)
    heaps = whole_heaps(packets_to_end(sock), 2)
    for i in range(2):
        states = [h.items[STATE] for h in heaps if (h.cnt - 1) % 2 == i]
        assert states[:20] == [10 * (i + 1)] * 20
        assert states[-1] == values[i]
        assert len(set(states[20:])) <= 2


@NEEDS_BUFFER
def test_messages_change_whole_heaps_in_order(sock):
    packets = []
    options = {"items": ONE_INPUT, "descriptors": "none"}
    options |= {"rate": 20e6}
    with Running(destination(sock), heap_samples=4000, **options) as sink:
        for value in range(11, 16):
            post(sink, {"state": value, OTHER: value + 1})
            while not packets or packets[-1].items[STATE] != value:
                packets.append(packet_of(sock.recv(65536)))
    packets += packets_to_end(sock)
    heaps = whole_heaps(packets)
    states = [heap.items[STATE] for heap in heaps]
    assert states == sorted(states)
    assert set(range(11, 16)) <= set(states) <= set(range(10, 16))
    for heap in heaps[states.index(11) :]:
        assert heap.items[OTHER] == heap.items[STATE] + 1


@NEEDS_BUFFER
@pytest.mark.parametrize("buffer_size", [0, 16_384])
def test_values_set_at_full_speed_stay_together(sock, buffer_size):
    """No heap mixes the values of two lists, or has older values than the last heap."""
    options = {"buffer_size": buffer_size, "descriptors": "none"}
    options |= {"rate": 40e6}
    items = with_values(0, 0)
    sink = spead.sink(destination(sock), 4000, items=items, **options)
    done = threading.Event()

    def change():
        value = 0
        while not done.is_set():
            value += 1
            sink.set_items(with_values(value, value))

    changing = threading.Thread(target=change)
    changing.start()
    try:
        run(sink, source(noise(8_000_000)))
    finally:
        done.set()
        changing.join()
    heaps = whole_heaps(packets_to_end(sock))
    states = [heap.items[STATE] for heap in heaps]
    assert states == sorted(states)
    assert len(set(states)) > 1
    assert [heap.items[OTHER] for heap in heaps] == states
