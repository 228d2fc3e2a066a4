# Copyright 2026 The gr-spead authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Descriptors in heaps of their own, for receivers that join late."""

import contextlib

import pytest
from gnuradio import spead
from inputs import connected, run_all
from places import eventually
from receiving import Receiver, arrived, bound_socket, destination
from streams import Running, noise, source, wait

STATE = 0x3101
ITEMS = [spead.timestamp(), spead.immediate(STATE, "state", 10), spead.samples()]


def join_late(sock):
    """The samples and the items that a receiver decodes first if it joins now."""
    for _ in arrived(sock):
        pass
    late = Receiver(sock)
    (heap,) = late.next_heaps(1)
    late.stream.stop()
    return heap.samples, late.items


@pytest.mark.parametrize("descriptors", ["first_heap", "separate"])
def test_late_joiner_decodes(descriptors):
    with contextlib.ExitStack() as stack:
        sockets = [stack.enter_context(bound_socket()) for _ in range(3)]
        options = {"descriptors": descriptors, "descriptor_interval": 0.02}
        endpoints = ",".join(destination(sock) for sock in sockets)
        with Running(endpoints, items=ITEMS, rate=2e6, **options) as sink:
            eventually(lambda: sink.heaps_sent() > 12)
            for sock in sockets:
                _, items = join_late(sock)
                assert items["state"].value == 10


@pytest.mark.parametrize("descriptors", ["first_heap", "separate"])
def test_late_joiner_decodes_when_another_input_has_ended(sock, descriptors):
    options = {"descriptors": descriptors, "descriptor_interval": 0.02, "rate": 2e5}
    sink = spead.sink(destination(sock), 1000, num_inputs=2, **options)
    graph = connected(sink, *(source(noise(n)) for n in (400_000, 1)))
    graph.start()
    eventually(lambda: sink.heaps_sent() > 4)
    samples, _ = join_late(sock)
    assert len(samples) == 1000
    graph.stop()
    wait(graph)


@pytest.mark.parametrize("descriptors", ["first_heap", "separate"])
def test_repeated_descriptors_cost_a_receiver_no_heap(sock, receiver, descriptors):
    """By default, spead2 gives a heap up when four others have begun.

    A heap lasts longer than the interval, and is larger than an eighth of the buffer.
    """
    sink = spead.sink(
        destination(sock),
        200_000,
        num_inputs=2,
        descriptors=descriptors,
        descriptor_interval=0.02,
        buffer_size=65_536,
        rate=2e6,
    )
    run_all(sink, noise(600_000), noise(600_000))
    assert len(receiver.until_end().heaps) == 6
