# Copyright 2026 The gr-spead authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Several destinations: heap rotation, end-of-stream heaps, and closed ports."""

import contextlib

import numpy as np
import pytest
from gnuradio import spead
from inputs import (
    UnreachableEndpoint,
    consecutive_sockets,
    packets_to_end,
    run_all,
    whole_heaps,
)
from places import NEEDS_BUFFER, NEEDS_NAMESPACES, run_scenario
from receiving import Receiver, bound_socket, datagrams, destination
from streams import balanced, noise, run, source


@pytest.fixture
def stack():
    """Closes sockets and other context managers after the test."""
    with contextlib.ExitStack() as stack:
        yield stack


def bound_sockets(stack, n, address="127.0.0.1"):
    return [stack.enter_context(bound_socket(address)) for _ in range(n)]


def destination_list(socks):
    return ",".join(destination(sock) for sock in socks)


def received_heaps(socks, inputs=1):
    """The heaps of samples at each socket, up to its only end-of-stream heap."""
    packets_by_socket = [packets_to_end(sock) for sock in socks]
    for packets in packets_by_socket:
        assert sum(packet.is_end for packet in packets) == 1
    return [whole_heaps(packets, inputs) for packets in packets_by_socket]


def check_heaps(heaps, samples, indices, size, inputs, input_index):
    """The heaps are those of one input with these indices, in order."""
    counters = [1 + input_index + k * inputs for k in indices]
    assert [heap.cnt for heap in heaps] == counters
    assert [heap.items[0x1600] for heap in heaps] == [k * size for k in indices]
    for heap, k in zip(heaps, indices, strict=True):
        assert heap.payload[-size:] == samples[k * size : (k + 1) * size].tobytes()


def check_rotation(socks, inputs, size, n=100, **options):
    """Each input sends heap k to destination k modulo their number."""
    to = options.pop("to", None) or destination_list(socks)
    samples = [noise(n * size, seed=i) for i in range(inputs)]
    options.setdefault("descriptors", "none")
    sink = spead.sink(to, size, num_inputs=inputs, **options)
    run_all(sink, *samples)
    for first, heaps in enumerate(received_heaps(socks, inputs)):
        for i, sent in enumerate(samples):
            of_input = [heap for heap in heaps if (heap.cnt - 1) % inputs == i]
            indices = range(first, n, len(socks))
            check_heaps(of_input, sent, indices, size, inputs, i)
    stats = sink.stats()
    assert stats["samples_sent"] == stats["samples_in"] == inputs * n * size
    assert stats["heaps_sent"] == inputs * n


@NEEDS_BUFFER
@pytest.mark.parametrize(
    ("n", "inputs", "size", "address"),
    [
        (1, 2, 10_000, "127.0.0.1"),
        (3, 1, 64, "127.0.0.1"),
        (8, 2, 1400, "127.0.0.1"),
        (3, 2, 70_000, "127.0.0.1"),
        (3, 2, 10_000, "::1"),
    ],
)
def test_heaps_rotate_over_destinations(stack, n, inputs, size, address):
    """Heaps of a single packet and of many."""
    check_rotation(bound_sockets(stack, n, address), inputs, size)


@NEEDS_BUFFER
@pytest.mark.parametrize(("n", "descriptors"), [(3, "first_heap"), (8, "separate")])
def test_heaps_rotate_over_consecutive_addresses(stack, n, descriptors):
    socks = [stack.enter_context(sock) for sock in consecutive_sockets(n, "127.0.3.7")]
    port = socks[0].getsockname()[1]
    to = f"127.0.3.7+{n - 1}:{port}"
    check_rotation(socks, 2, 3000, to=to, descriptors=descriptors)


def test_a_list_may_mix_consecutive_and_single_addresses(stack):
    consecutive = [
        stack.enter_context(sock) for sock in consecutive_sockets(3, "127.0.3.7")
    ]
    before, after = bound_sockets(stack, 2)
    port = consecutive[0].getsockname()[1]
    to = f"{destination(before)},127.0.3.7+2:{port},{destination(after)}"
    check_rotation([before, *consecutive, after], 1, 3000, to=to)


def test_rotation_continues_in_the_next_run(stack):
    """The short heap at the end of a run counts as well."""
    socks = bound_sockets(stack, 3)
    sink = spead.sink(
        destination_list(socks), 1000, descriptors="none", send_stop=False
    )
    for _ in range(4):
        run(sink, source(noise(1500)))
    sink = None
    for i, sock in enumerate(socks):
        expected = range(i + 1, 9, 3)
        received = datagrams(sock, len(expected))
        assert [int.from_bytes(d[11:16], "big") for d in received] == list(expected)


def test_each_input_has_its_own_destinations(stack):
    lists = [bound_sockets(stack, 3), bound_sockets(stack, 2)]
    size, n = 5000, 60
    samples = [noise(n * size, seed=i) for i in range(2)]
    sink = spead.sink([destination_list(each) for each in lists], size, num_inputs=2)
    run_all(sink, *samples)
    for i, socks in enumerate(lists):
        for first, heaps in enumerate(received_heaps(socks)):
            indices = range(first, n, len(socks))
            check_heaps(heaps, samples[i], indices, size, 2, i)


@pytest.mark.parametrize("lengths", [(1, 300_000), (300_000, 7)])
def test_a_shared_destination_gets_one_end_of_stream_heap(stack, lengths):
    """It follows the heaps of both inputs."""
    first, shared, last = bound_sockets(stack, 3)
    lists = [destination_list([first, shared]), destination_list([shared, last])]
    sink = spead.sink(lists, 1000, num_inputs=2, descriptors="none")
    run_all(sink, *(noise(n) for n in lengths))
    heaps = received_heaps([first, shared, last], 2)
    assert sum(len(each) for each in heaps) == sum(-(-n // 1000) for n in lengths)
    counters = [heap.cnt for each in heaps for heap in each]
    assert len(set(counters)) == len(counters)


@pytest.mark.parametrize(
    "to",
    [
        "127.0.0.1:{0},127.0.0.1:{0}",
        "127.0.0.1+1:{0},127.0.0.2:{0}",
        "127.1:{0},127.0.0.1:{0}",
    ],
)
def test_a_duplicate_address_in_one_string_is_rejected(sock, to):
    destinations = to.format(sock.getsockname()[1])
    with pytest.raises(ValueError, match=r"destinations = .* once in a string"):
        spead.sink(destinations, 64)


def test_end_of_stream_heaps_have_unique_counters(stack):
    socks = bound_sockets(stack, 3)
    sink = spead.sink(
        destination_list(socks), 1000, num_inputs=2, descriptors="separate"
    )
    for _ in range(3):
        run_all(sink, noise(10_500), noise(2000))
        counters = []
        for sock in socks:
            packets = packets_to_end(sock)
            whole_heaps(packets, 2)
            counters += {packet.cnt for packet in packets}
        assert len(set(counters)) == len(counters)


@pytest.mark.parametrize(
    ("n", "inputs", "descriptors"), [(8, 1, "first_heap"), (3, 2, "separate")]
)
def test_spead2_decodes_each_destination(stack, n, inputs, descriptors):
    socks = bound_sockets(stack, n)
    receivers = [Receiver(sock) for sock in socks]
    samples = [noise(16 * 3000, seed=i) for i in range(inputs)]
    options = {"num_inputs": inputs, "descriptors": descriptors}
    run_all(spead.sink(destination_list(socks), 3000, **options), *samples)
    for first, receiver in enumerate(receivers):
        heaps = receiver.until_end().heaps
        for i, sent in enumerate(samples):
            of_input = [h for h in heaps if (h.cnt - 1) % inputs == i]
            indices = list(range(first, 16, n))
            assert [h.timestamp for h in of_input] == [3000 * k for k in indices]
            for heap, k in zip(of_input, indices, strict=True):
                assert np.array_equal(heap.samples, sent[3000 * k :][:3000])


# "o" is a destination with a receiver, "x" one without
@NEEDS_BUFFER
@pytest.mark.parametrize(
    ("layout", "size", "address"),
    [
        ("ox", 1000, "127.0.0.1"),
        ("xox", 5000, "::1"),
        ("oxo", 1000, "::1"),
        ("xxxxxxxo", 5000, "127.0.0.1"),
    ],
)
def test_a_closed_port_does_not_affect_other_destinations(stack, layout, size, address):
    listening = bound_sockets(stack, layout.count("o"), address)
    remaining = iter(listening)
    to = [
        destination(next(remaining))
        if kind == "o"
        else stack.enter_context(UnreachableEndpoint(address)).destination
        for kind in layout
    ]
    n = 100 * len(layout)
    samples = noise(n * size)
    sink = spead.sink(",".join(to), size, descriptors="none")
    run(sink, source(samples))
    positions = [i for i, kind in enumerate(layout) if kind == "o"]
    for first, heaps in zip(positions, received_heaps(listening), strict=True):
        check_heaps(heaps, samples, range(first, n, len(layout)), size, 1, 0)
    stats = sink.stats()
    assert balanced(stats)
    assert stats["samples_in"] == n * size
    assert stats["samples_pending"] == 0
    assert stats["icmp_errors"] > 0
    assert stats["packets_dropped"] == stats["samples_dropped"] == 0
    assert stats["send_errors"] == {}


@NEEDS_NAMESPACES
@pytest.mark.parametrize("scenario", ["sink_to_groups", "sink_to_groups_of_ipv6"])
def test_heaps_rotate_over_multicast_groups(scenario):
    run_scenario("instrument_scenarios.py", scenario)
