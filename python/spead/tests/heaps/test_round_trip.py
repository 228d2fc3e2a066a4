# Copyright 2026 The gr-spead authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""spead2 receives the samples of the sink bit for bit, for all sizes."""

import itertools
import socket

import numpy as np
import pytest
from gnuradio import spead
from places import NEEDS_BUFFER
from receiving import destination
from streams import balanced, noise, run, send, source

# one sample, odd, usual and larger than an eighth of the ring
HEAP_SAMPLES = (1, 7, 1393, 8192, 1048576)
PACKET_SIZES = (104, 1472, 65507)
TIMESTAMP_START = 12345


def lengths(heap_samples, payload):
    """The boundaries of heaps and packets, and one sample less and more."""
    limits = {heap_samples}
    if payload < heap_samples:
        limits |= {payload, heap_samples + payload}
    if heap_samples < 100000:
        limits |= {0, 3 * heap_samples}
    return sorted({n + d for n in limits for d in (-1, 0, 1) if n + d >= 0})


def expected_heaps(samples, size, tail):
    heaps = [samples[i : i + size] for i in range(0, len(samples), size)]
    if heaps and len(heaps[-1]) < size:
        if tail == "drop":
            heaps.pop()
        elif tail == "pad":
            heaps[-1] = np.pad(heaps[-1], (0, size - len(heaps[-1])))
    return heaps


@NEEDS_BUFFER
@pytest.mark.parametrize("heap_samples", HEAP_SAMPLES)
def test_every_size_round_trips(sock, receiver, heap_samples):
    for packet_size, pad, tail in itertools.product(
        PACKET_SIZES, (True, False), ("short", "pad", "drop")
    ):
        sink = spead.sink(
            destination(sock),
            heap_samples,
            max_packet_size=packet_size,
            pad_packets=pad,
            tail=tail,
            timestamp_start=TIMESTAMP_START,
            send_stop=False,  # it would delay each of thousands of runs
        )
        # one run of the sink for each length: counters and timestamps continue
        count, heap_id, timestamp = 0, 1, TIMESTAMP_START
        for n in lengths(heap_samples, sink.packet_size() - 56):
            samples = noise(n, seed=n)
            run(sink, source(samples))
            expected = expected_heaps(samples, heap_samples, tail)
            case = f"{n} samples, {packet_size} bytes, pad={pad}, tail={tail}"
            got = receiver.next_heaps(len(expected))
            for heap, content in zip(got, expected, strict=True):
                assert heap.cnt == heap_id, case
                assert heap.timestamp == timestamp, case
                received = heap.samples
                if tail == "short" and heap_samples >= 1 << 20:
                    # padded if some of it had been sent before the end was known
                    received, zeros = np.split(received, [len(content)])
                    assert len(zeros) in (0, heap_samples - len(content)), case
                    assert not zeros.any(), case
                assert np.array_equal(received, content), case
                heap_id += 1
                timestamp += heap_samples
            if tail == "drop" and n % heap_samples:
                heap_id += 1
                timestamp += heap_samples
            count += n
            stats = sink.stats()
            assert stats["samples_in"] == count, case
            assert stats["samples_pending"] == 0, case
            assert balanced(stats), case
            assert (stats["samples_dropped"] == 0) or tail == "drop", case


def test_host_name_is_looked_up(sock, receiver):
    try:
        socket.gethostbyname("localhost")
    except OSError:
        pytest.skip("this host has no name for itself: no /etc/hosts")
    samples = noise(20000)
    port = sock.getsockname()[1]
    run(spead.sink(f"localhost:{port}"), source(samples))
    assert len(receiver.until_end().heaps) == 3


@pytest.mark.parametrize("step", [0, 1, 12345])
def test_counters_and_timestamps_step_as_configured_and_wrap(sock, receiver, step):
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
