# Copyright 2026 The gr-spead authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""pacing.py and latency.py run and find what they look for.

How good the times of this machine are, is not looked at.
"""

import sys
import time

import latency
import numpy as np
import pytest
from benchmarks import WITHOUT_RIGHTS, lines_of, run_script
from conftest import NEEDS_NAMESPACES, bound_socket, datagrams, noise, send
from measured_sender import HandOver
from sender_process import SenderError


@pytest.mark.parametrize("bits", [40, 48])
def test_the_time_is_in_the_last_packet_of_a_heap(bits):
    samples = noise(3000)
    samples[-8:] = np.array([123456789012345]).view(np.int8)
    with bound_socket() as sock:
        options = {"descriptors": "none", "send_stop": False}
        send(sock, samples, heap_samples=3000, heap_address_bits=bits, **options)
        packets = datagrams(sock, 3)
    found = [latency.hand_over_time(packet, bits) for packet in packets]
    assert found == [None, None, 123456789012345]


def test_a_time_in_two_packets_is_no_time():
    with bound_socket() as sock:
        options = {"descriptors": "none", "send_stop": False}
        send(sock, noise(9), heap_samples=9, max_packet_size=64, **options)
        first, last = datagrams(sock, 2)
    assert latency.hand_over_time(first) is None
    with pytest.raises(SenderError, match="heaps of 9 bytes the last packet has 1 "):
        latency.hand_over_time(last)


@pytest.mark.parametrize("room", [8, 9, 13, 20, 100])
@pytest.mark.parametrize("piece", [8, 10, 30])
def test_the_source_writes_the_time_however_little_room_there_is(room, piece):
    source = HandOver(rate=1e9, heap=25, heaps=3, piece=piece)
    source.start()
    begin = time.time_ns()
    samples = b""
    while (n := source.work(None, [out := np.full(room, 1, np.int8)])) > 0:
        samples += out[:n].tobytes()
    heaps = [samples[at : at + 25] for at in range(0, len(samples), 25)]
    assert [heap[:17] for heap in heaps] == [bytes(17)] * 3
    for heap in heaps:
        assert begin <= int.from_bytes(heap[17:], sys.byteorder) <= time.time_ns()


def test_latencies_are_of_heaps_that_were():
    found = latency.Latencies(np.arange(1, 151), 0)
    assert found.median == 75.5
    assert found.p99 == 149


def pacing_row(rate, *options, **how):
    """What pacing.py prints, and the line of its table."""
    done = run_script("pacing.py", "--rates", rate, "--burst", 4000, *options, **how)
    (row,) = lines_of(done, str(rate))
    assert float(row[1]) > 0
    return done, row


def slow_pacing_row(*options, **how):
    """At a rate at which any socket has room for all that is sent, read or not."""
    return pacing_row(0.1, "--seconds", 0.5, "--stall", 0, *options, **how)


def test_pacing_on_loopback():
    done, row = slow_pacing_row("--loopback")
    assert row[-1] == "0"  # packets lost
    assert done.stderr == ""


def test_pacing_says_why_it_is_on_loopback():
    done, row = slow_pacing_row(before=WITHOUT_RIGHTS)
    assert row[-1] == "0"
    assert "using loopback: no private network" in done.stderr


@NEEDS_NAMESPACES
def test_pacing_with_a_stall_in_a_private_network():
    _, row = pacing_row(1, "--seconds", 1, "--stall", 0.1)
    # What was about to leave when the sender was stopped may still do so; otherwise the
    # gap can only be longer. From burst to burst it is 4 ms.
    assert len(row) == 10
    assert float(row[-3]) >= 95


def test_latency_prints_a_table():
    done = run_script("latency.py", "--heap-sizes", "1024,4096", "--heaps", 30)
    for size in ("1024", "4096"):
        found = lines_of(done, size)
        assert [row[1:4] for row in found] == [["none", "30", "0"], ["1.1", "30", "0"]]
        assert all(float(row[4]) > 0 for row in found)
