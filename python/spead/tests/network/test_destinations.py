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
from receiving import Receiver, bound_socket, destination
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


def received_heaps(sock, inputs=1):
    """The heaps of samples at a socket, up to its only end-of-stream heap."""
    packets = packets_to_end(sock)
    assert sum(packet.is_end for packet in packets) == 1
    return whole_heaps(packets, inputs)


def check_heaps(heaps, samples, indices, size, inputs=1, input_index=0):
    """The heaps are those of one input with these indices, in order."""
    counters = [1 + input_index + k * inputs for k in indices]
    assert [heap.cnt for heap in heaps] == counters
    assert [heap.items[0x1600] for heap in heaps] == [k * size for k in indices]
    for heap, k in zip(heaps, indices, strict=True):
        assert heap.payload[-size:] == samples[k * size : (k + 1) * size].tobytes()


@NEEDS_BUFFER
@pytest.mark.parametrize(
    ("n", "inputs", "descriptors", "address"),
    [(8, 1, "first_heap", "127.0.0.1"), (3, 2, "separate", "::1")],
)
def test_spead2_decodes_each_destination(stack, n, inputs, descriptors, address):
    """Each input sends heap k to destination k modulo their number."""
    socks = bound_sockets(stack, n, address)
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


def test_a_list_may_mix_consecutive_and_single_addresses(stack):
    consecutive = [
        stack.enter_context(sock) for sock in consecutive_sockets(3, "127.0.3.7")
    ]
    before, after = bound_sockets(stack, 2)
    port = consecutive[0].getsockname()[1]
    endpoints = f"{destination(before)},127.0.3.7+2:{port},{destination(after)}"
    samples = noise(300_000)
    run(spead.sink(endpoints, 3000, descriptors="none"), source(samples))
    for first, sock in enumerate([before, *consecutive, after]):
        check_heaps(received_heaps(sock), samples, range(first, 100, 5), 3000)


def test_each_input_has_its_own_destinations(stack):
    lists = [bound_sockets(stack, 3), bound_sockets(stack, 2)]
    size, n = 5000, 60
    samples = [noise(n * size, seed=i) for i in range(2)]
    sink = spead.sink(
        [destination_list(sockets) for sockets in lists], size, num_inputs=2
    )
    run_all(sink, *samples)
    for i, socks in enumerate(lists):
        for first, sock in enumerate(socks):
            indices = range(first, n, len(socks))
            check_heaps(received_heaps(sock), samples[i], indices, size, 2, i)


def test_a_shared_destination_gets_one_end_of_stream_heap(stack):
    """It follows the heaps of both inputs."""
    socks = bound_sockets(stack, 3)
    lists = [destination_list(socks[:2]), destination_list(socks[1:])]
    sink = spead.sink(lists, 1000, num_inputs=2, descriptors="none")
    run_all(sink, noise(1), noise(300_000))
    counters = [heap.cnt for sock in socks for heap in received_heaps(sock, 2)]
    assert len(counters) == len(set(counters)) == 1 + 300


def test_an_address_may_occur_once_in_a_string(sock):
    port = sock.getsockname()[1]
    with pytest.raises(ValueError, match=r"destinations = .* once in a string"):
        spead.sink(f"127.1:{port},127.0.0.1:{port}", 64)


def test_closed_ports_do_not_affect_other_destinations(stack):
    size, n = 5000, 300
    closed = [stack.enter_context(UnreachableEndpoint("::1")) for _ in range(2)]
    (listening,) = bound_sockets(stack, 1, "::1")
    endpoints = [closed[0].destination, destination(listening), closed[1].destination]
    samples = noise(n * size)
    sink = spead.sink(",".join(endpoints), size, descriptors="none")
    run(sink, source(samples))
    check_heaps(received_heaps(listening), samples, range(1, n, 3), size)
    stats = sink.stats()
    assert balanced(stats)
    assert stats["samples_in"] == n * size
    assert stats["icmp_errors"] > 0
    assert stats["packets_dropped"] == stats["samples_dropped"] == 0
    assert stats["send_errors"] == {}


@NEEDS_NAMESPACES
def test_heaps_rotate_over_multicast_groups():
    run_scenario("network_scenarios.py", "multicast_groups")
