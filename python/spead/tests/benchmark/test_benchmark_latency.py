# Copyright 2026 The gr-spead authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""latency.py reads the time from the right packet, and runs."""

import sys
import time

import latency
import numpy as np
import pytest
from benchmarks import lines_of, run_script
from measured_sender import HandOver
from receiving import datagrams
from sender_process import SenderError
from streams import noise, send

SINK = {"descriptors": "none", "send_stop": False}


@pytest.mark.parametrize("bits", [40, 48])
def test_the_time_is_in_the_last_packet_of_a_heap(sock, bits):
    samples = noise(3000)
    samples[-8:] = np.array([123456789012345]).view(np.int8)
    send(sock, samples, heap_samples=3000, heap_address_bits=bits, **SINK)
    found = [latency.hand_over_time(packet, bits) for packet in datagrams(sock, 3)]
    assert found == [None, None, 123456789012345]


def test_a_time_in_two_packets_is_an_error(sock):
    send(sock, noise(9), heap_samples=9, max_packet_size=64, **SINK)
    first, last = datagrams(sock, 2)
    assert latency.hand_over_time(first) is None
    with pytest.raises(SenderError, match="the time is in two packets"):
        latency.hand_over_time(last)


@pytest.mark.parametrize("room", [8, 9, 13, 20, 100])
@pytest.mark.parametrize("piece", [8, 10, 30])
def test_the_source_writes_the_time_at_the_end_of_each_heap(room, piece):
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


def test_the_row_of_the_table():
    latencies = np.arange(1, 151) * 1000
    fields = latency.row(8192, 1.1e6, latencies, 3).split()
    assert fields == ["8192", "1.1", "150", "3", "76", "149", "150"]


def test_latency_prints_a_table():
    done = run_script("latency.py", "--heap-sizes", "1024,4096", "--heaps", 30)
    for size in ("1024", "4096"):
        rows = lines_of(done, size)
        assert [row[1:4] for row in rows] == [["none", "30", "0"], ["1.1", "30", "0"]]
        assert all(float(row[4]) > 0 for row in rows)


def test_an_error_of_the_sink_is_one_line():
    done = run_script("latency.py", "--packet", 10)
    assert done.returncode == 1
    assert "max_packet_size" in done.stderr
    assert "Traceback" not in done.stderr
