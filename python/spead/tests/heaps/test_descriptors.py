# Copyright 2026 The gr-spead authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Descriptors in heaps of their own, for receivers that join late."""

import contextlib
import threading
import types

import pytest
from gnuradio import spead
from inputs import connected, packets_to_end, run_all
from places import BOUND, NEEDS_BUFFER, eventually
from receiving import Receiver, bound_socket, destination
from streams import Running, noise, source, wait

LAST = 2**40 - 1
STATE = 0x3101
ITEMS = [spead.timestamp(), spead.immediate(STATE, "state", 10), spead.samples()]


def join_late(sock):
    """The first heap of samples that a receiver decodes if it joins now."""
    sock.setblocking(False)
    with contextlib.suppress(BlockingIOError):
        while True:
            sock.recv(65536)
    sock.settimeout(BOUND)
    late = Receiver(sock)
    guard = threading.Timer(BOUND, late.stream.stop)
    guard.start()
    try:
        for heap in late.stream:
            if late.items.update(heap) and "adc_samples" in late.items:
                return types.SimpleNamespace(heap=heap, items=late.items)
    finally:
        guard.cancel()
        late.stream.stop()
    raise AssertionError("nothing was decoded")


@pytest.mark.parametrize("descriptors", ["first_heap", "separate"])
def test_late_joiner_decodes(descriptors):
    with contextlib.ExitStack() as stack:
        sockets = [stack.enter_context(bound_socket()) for _ in range(3)]
        options = {"descriptors": descriptors, "descriptor_interval": 0.02}
        to = ",".join(destination(sock) for sock in sockets)
        with Running(to, items=ITEMS, rate=2e6, **options) as sink:
            eventually(lambda: sink.heaps_sent() > 12)
            for sock in sockets:
                assert join_late(sock).items["state"].value == 10


@pytest.mark.parametrize("descriptors", ["first_heap", "separate"])
def test_late_joiner_decodes_when_another_input_has_ended(sock, descriptors):
    options = {"descriptors": descriptors, "descriptor_interval": 0.02, "rate": 2e5}
    sink = spead.sink(destination(sock), 1000, num_inputs=2, **options)
    graph = connected(sink, *(source(noise(n)) for n in (400_000, 1)))
    graph.start()
    eventually(lambda: sink.heaps_sent() > 4)
    assert len(join_late(sock).items["adc_samples"].value) == 1000
    graph.stop()
    wait(graph)


@NEEDS_BUFFER
@pytest.mark.parametrize("start", [1, LAST // 2, LAST])
@pytest.mark.parametrize(("step", "inputs"), [(1, 2), (2, 1)])
def test_counters_of_descriptors_differ_from_those_of_samples(
    sock, start, step, inputs
):
    sink = spead.sink(
        destination(sock),
        1000,
        num_inputs=inputs,
        heap_id_start=start,
        heap_id_step=step,
        descriptors="separate",
        descriptor_interval=0.001,
        rate=20e6,
        buffer_size=65_536,  # the rate makes the sink wait, and check the time
    )
    run_all(sink, *(noise(500_000) for _ in range(inputs)))
    packets = packets_to_end(sock)
    described = [packet.cnt for packet in packets if packet.is_descriptors]
    data = [packet.cnt for packet in packets if not packet.is_descriptors]
    assert len(described) > inputs
    assert len(set(described)) == len(described)
    assert len(set(data)) == len(data) == inputs * 500 + 1
    assert not set(described) & set(data)
    # other sinks may use the counters in between
    assert {counter % step for counter in described + data} == {start % step}


# lasts longer than the interval, and is larger than an eighth of the buffer
LONG = {
    "heap_samples": 200_000,
    "buffer_size": 65_536,
    "rate": 2e6,
    "descriptor_interval": 0.02,
}


def test_late_joiner_within_a_long_heap_decodes_the_next(sock):
    """Overdue descriptors are sent between the two heaps."""
    with Running(destination(sock), descriptors="separate", **LONG) as sink:
        eventually(lambda: sink.heaps_sent() > 2)
        late = join_late(sock)
        assert len(late.items["adc_samples"].value) == LONG["heap_samples"]


@pytest.mark.parametrize("descriptors", ["first_heap", "separate"])
def test_repeated_descriptors_cost_a_receiver_no_heap(sock, receiver, descriptors):
    """By default, spead2 gives a heap up when four others have begun."""
    n = 3 * LONG["heap_samples"]
    options = {**LONG, "descriptors": descriptors, "num_inputs": 2}
    run_all(spead.sink(destination(sock), **options), noise(n), noise(n))
    assert len(receiver.until_end().heaps) == 6
