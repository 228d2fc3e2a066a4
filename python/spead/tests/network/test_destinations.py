# Copyright 2026 The gr-spead authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Several destinations: rotation, ends, and closed ports among them."""

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
def kept():
    """Closes sockets, and whatever else, at the end."""
    with contextlib.ExitStack() as stack:
        yield stack


def sockets(kept, n, address="127.0.0.1"):
    return [kept.enter_context(bound_socket(address)) for _ in range(n)]


def listed(several):
    return ",".join(destination(sock) for sock in several)


def received(several, inputs=1):
    """All heaps of samples at each, up to the end of the stream there."""
    everything = [packets_to_end(sock) for sock in several]
    for packets in everything:
        assert sum(packet.is_end for packet in packets) == 1
    return [whole_heaps(packets, inputs) for packets in everything]


def check(heaps, samples, numbers, size, inputs, which):
    """The heaps with these numbers of an input, in this order."""
    assert [heap.cnt for heap in heaps] == [1 + which + k * inputs for k in numbers]
    assert [heap.items[0x1600] for heap in heaps] == [k * size for k in numbers]
    for heap, k in zip(heaps, numbers, strict=True):
        assert heap.payload[-size:] == samples[k * size : (k + 1) * size].tobytes()


def in_turn(several, inputs, size, n=100, **options):
    """Each input sends heap k to endpoint k mod n of the one list."""
    to = options.pop("to", None) or listed(several)
    samples = [noise(n * size, seed=i) for i in range(inputs)]
    options.setdefault("descriptors", "none")
    sink = spead.sink(to, size, num_inputs=inputs, **options)
    run_all(sink, *samples)
    for at, heaps in enumerate(received(several, inputs)):
        for which, sent in enumerate(samples):
            own = [heap for heap in heaps if (heap.cnt - 1) % inputs == which]
            numbers = range(at, n, len(several))
            check(own, sent, numbers, size, inputs, which)
    stats = sink.stats()
    assert stats["samples_sent"] == stats["samples_in"] == inputs * n * size
    assert stats["heaps_sent"] == inputs * n
    return sink


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
def test_heaps_rotate_over_destinations(kept, n, inputs, size, address):
    """Heaps of one packet and of many."""
    in_turn(sockets(kept, n, address), inputs, size)


@NEEDS_BUFFER
@pytest.mark.parametrize(("n", "descriptors"), [(3, "first_heap"), (8, "separate")])
def test_consecutive_addresses(kept, n, descriptors):
    several = [kept.enter_context(sock) for sock in consecutive_sockets(n, "127.0.3.7")]
    port = several[0].getsockname()[1]
    to = f"127.0.3.7+{n - 1}:{port}"
    in_turn(several, 2, 3000, to=to, descriptors=descriptors)


def test_list_mixes_consecutive_and_single_addresses(kept):
    several = [kept.enter_context(sock) for sock in consecutive_sockets(3, "127.0.3.7")]
    before, after = sockets(kept, 2)
    port = several[0].getsockname()[1]
    to = f"{destination(before)},127.0.3.7+2:{port},{destination(after)}"
    in_turn([before, *several, after], 1, 3000, to=to)


def test_rotation_continues_in_the_next_run(kept):
    """A short heap at the end of a run counts."""
    several = sockets(kept, 3)
    sink = spead.sink(listed(several), 1000, descriptors="none", send_stop=False)
    for _ in range(4):
        run(sink, source(noise(1500)))
    sink = None
    for at, sock in enumerate(several):
        expected = range(at + 1, 9, 3)
        received = datagrams(sock, len(expected))
        assert [int.from_bytes(d[11:16], "big") for d in received] == list(expected)


def test_each_input_has_its_list(kept):
    lists = [sockets(kept, 3), sockets(kept, 2)]
    size, n = 5000, 60
    samples = [noise(n * size, seed=i) for i in range(2)]
    sink = spead.sink([listed(each) for each in lists], size, num_inputs=2)
    run_all(sink, *samples)
    for which, several in enumerate(lists):
        for at, heaps in enumerate(received(several)):
            numbers = range(at, n, len(several))
            check(heaps, samples[which], numbers, size, 2, which)


@pytest.mark.parametrize("lengths", [(1, 300_000), (300_000, 7)])
def test_shared_destination_gets_one_end_after_all_heaps(kept, lengths):
    """Lists of two inputs that overlap: the end is behind what both of them sent."""
    first, shared, last = sockets(kept, 3)
    lists = [listed([first, shared]), listed([shared, last])]
    sink = spead.sink(lists, 1000, num_inputs=2, descriptors="none")
    run_all(sink, *(noise(n) for n in lengths))
    heaps = received([first, shared, last], 2)
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
def test_duplicate_address_in_a_string_is_rejected(sock, to):
    written = to.format(sock.getsockname()[1])
    with pytest.raises(ValueError, match=r"destinations = .* once in a string"):
        spead.sink(written, 64)


def test_end_of_stream_heaps_have_unique_counters(kept):
    several = sockets(kept, 3)
    sink = spead.sink(listed(several), 1000, num_inputs=2, descriptors="separate")
    for _ in range(3):
        run_all(sink, noise(10_500), noise(2000))
        counters = []
        for sock in several:
            packets = packets_to_end(sock)
            whole_heaps(packets, 2)
            counters += {packet.cnt for packet in packets}
        assert len(set(counters)) == len(counters)


@pytest.mark.parametrize(
    ("n", "inputs", "descriptors"), [(8, 1, "first_heap"), (3, 2, "separate")]
)
def test_spead2_decodes_each_destination(kept, n, inputs, descriptors):
    several = sockets(kept, n)
    receivers = [Receiver(sock) for sock in several]
    samples = [noise(16 * 3000, seed=i) for i in range(inputs)]
    options = {"num_inputs": inputs, "descriptors": descriptors}
    run_all(spead.sink(listed(several), 3000, **options), *samples)
    for at, receiver in enumerate(receivers):
        heaps = receiver.until_end().heaps
        for which, sent in enumerate(samples):
            own = [h for h in heaps if (h.cnt - 1) % inputs == which]
            numbers = list(range(at, 16, n))
            assert [h.timestamp for h in own] == [3000 * k for k in numbers]
            for heap, k in zip(own, numbers, strict=True):
                assert np.array_equal(heap.samples, sent[3000 * k :][:3000])


# "x": a destination where nobody listens
@NEEDS_BUFFER
@pytest.mark.parametrize(
    ("places", "size", "address"),
    [
        ("ox", 1000, "127.0.0.1"),
        ("xox", 5000, "::1"),
        ("oxo", 1000, "::1"),
        ("xxxxxxxo", 5000, "127.0.0.1"),
    ],
)
def test_closed_port_costs_other_destinations_nothing(kept, places, size, address):
    listening = sockets(kept, places.count("o"), address)
    left = iter(listening)
    to = [
        destination(next(left))
        if place == "o"
        else kept.enter_context(UnreachableEndpoint(address)).destination
        for place in places
    ]
    n = 100 * len(places)
    samples = noise(n * size)
    sink = spead.sink(",".join(to), size, descriptors="none")
    run(sink, source(samples))
    heard = [at for at, place in enumerate(places) if place == "o"]
    for at, heaps in zip(heard, received(listening), strict=True):
        check(heaps, samples, range(at, n, len(places)), size, 1, 0)
    stats = sink.stats()
    assert balanced(stats)
    assert stats["samples_in"] == n * size
    assert stats["samples_pending"] == 0
    assert stats["icmp_errors"] > 0
    assert stats["packets_dropped"] == stats["samples_dropped"] == 0
    assert stats["send_errors"] == {}


@NEEDS_NAMESPACES
@pytest.mark.parametrize("scenario", ["sink_to_groups", "sink_to_groups_of_ipv6"])
def test_multicast(scenario):
    run_scenario("instrument_scenarios.py", scenario)
