# Copyright 2026 The gr-spead authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Immediate items, and new values while the sink runs."""

import threading

import numpy as np
import pytest
from gnuradio import spead
from inputs import (
    Gated,
    packets_to_end,
    playing,
    run_all,
    whole_heaps,
)
from places import BOUND, eventually
from receiving import destination
from streams import noise, post, send

STATE, OTHER = 0x3101, 0x3102
ITEMS = [
    spead.timestamp(),
    spead.immediate(STATE, "state", [10, 20]),
    spead.samples(),
    spead.immediate(OTHER, "other", 5),
]
ONE_INPUT = [*ITEMS[:1], spead.immediate(STATE, "state", 10), *ITEMS[2:]]


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


@pytest.mark.parametrize("order", [(2, 0, 1, 3), (1, 3, 2, 0), (3, 2, 1, 0)])
def test_a_receiver_decodes_items_in_any_order(sock, receiver, order):
    samples = noise(3 * 5000 + 77)
    items = [ONE_INPUT[i] for i in order]
    send(sock, samples, heap_samples=5000, items=items)
    heaps = receiver.until_end().heaps
    assert [heap.timestamp for heap in heaps] == [0, 5000, 10_000, 15_000]
    np.testing.assert_array_equal(np.concatenate([h.samples for h in heaps]), samples)
    assert receiver.items["state"].value == 10
    assert receiver.items["other"].value == 5


@pytest.mark.parametrize(
    "change",
    [
        lambda sink: sink.set_item(STATE, 30, input=0),
        lambda sink: sink.set_item("state", 30, input=0),
        lambda sink: sink.set_items(with_values([30, 20], 5)),
        lambda sink: post(sink, {"state": [30, 20]}),
    ],
    ids=["by ID", "by name", "as a list", "by message"],
)
def test_a_value_changes_at_the_chosen_input_only(sock, change):
    sink = spead.sink(destination(sock), 1000, num_inputs=2, items=ITEMS)
    gated = [Gated(noise(40_000)) for _ in range(2)]
    with playing(sink, *gated):
        # the sink handles messages between steps
        for step in range(1, 41):
            for block in gated:
                block.until(1000 * step)
            eventually(lambda step=step: sink.samples_in() == 2000 * step)
            if step == 20:
                change(sink)
    heaps = whole_heaps(packets_to_end(sock), 2)
    first, second = (
        [h.items[STATE] for h in heaps if (h.cnt - 1) % 2 == i] for i in range(2)
    )
    assert first[:20] == [10] * 20
    assert first == sorted(first)
    assert first[-1] == 30
    assert second == [20] * 40
