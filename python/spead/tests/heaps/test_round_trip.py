# Copyright 2026 The gr-spead authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""spead2 receives the samples of the sink bit for bit, for all sizes."""

import socket

import numpy as np
import pytest
from gnuradio import spead
from places import NEEDS_BUFFER
from receiving import destination
from streams import balanced, noise, run, send, source

TIMESTAMP_START = 12345


def expected_heaps(samples, size, tail):
    heaps = [samples[i : i + size] for i in range(0, len(samples), size)]
    if heaps and len(heaps[-1]) < size:
        if tail == "drop":
            heaps.pop()
        elif tail == "pad":
            heaps[-1] = np.pad(heaps[-1], (0, size - len(heaps[-1])))
    return heaps


@NEEDS_BUFFER
@pytest.mark.parametrize("heap_samples", [1, 1393, 8192])
@pytest.mark.parametrize("packet_size", [104, 1472, 65507])
@pytest.mark.parametrize("tail", ["short", "pad", "drop"])
def test_streams_of_any_length_round_trip(
    sock, receiver, heap_samples, packet_size, tail
):
    sink = spead.sink(
        destination(sock),
        heap_samples,
        max_packet_size=packet_size,
        tail=tail,
        timestamp_start=TIMESTAMP_START,
        send_stop=False,  # it would delay each run
    )
    begun = 0  # counters and timestamps continue from run to run
    for n in (0, 1, heap_samples - 1, 3 * heap_samples, 2 * heap_samples + 1):
        samples = noise(n, seed=n)
        run(sink, source(samples))
        expected = expected_heaps(samples, heap_samples, tail)
        heaps = receiver.next_heaps(len(expected))
        for i, (heap, content) in enumerate(zip(heaps, expected, strict=True), begun):
            assert heap.cnt == 1 + i
            assert heap.timestamp == TIMESTAMP_START + i * heap_samples
            np.testing.assert_array_equal(heap.samples, content)
        begun += -(-n // heap_samples)
        stats = sink.stats()
        assert stats["samples_pending"] == 0
        assert balanced(stats)
    assert (stats["samples_dropped"] > 0) == (tail == "drop" and heap_samples > 1)


def test_host_name_is_looked_up(sock, receiver):
    try:
        socket.gethostbyname("localhost")
    except OSError:
        pytest.skip("this host has no name for itself: no /etc/hosts")
    samples = noise(20000)
    port = sock.getsockname()[1]
    run(spead.sink(f"localhost:{port}"), source(samples))
    assert len(receiver.until_end().heaps) == 3


def test_counters_and_timestamps_step_as_configured_and_wrap(sock, receiver):
    step = 12345
    last = 2**48 - 1
    send(
        sock,
        noise(40),
        heap_samples=10,
        heap_address_bits=48,
        heap_id_start=last - 1,
        heap_id_step=step + 1,
        timestamp_start=last,
        timestamp_step=step,
    )
    heaps = receiver.until_end().heaps
    assert [h.cnt for h in heaps] == [
        (last - 1 + i * (step + 1)) % 2**48 for i in range(4)
    ]
    assert [h.timestamp for h in heaps] == [(last + i * step) % 2**48 for i in range(4)]
