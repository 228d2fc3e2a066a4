# Copyright 2026 The gr-spead authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""A running stream: its thread, its rate, its counters and its memory."""

import contextlib
import os
import re
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from places import BOUND, NEEDS_BUFFER, eventually
from receiving import destination
from streams import Running, noise, send


def sender_threads():
    """The allowed CPUs of each sender thread of this process."""
    allowed = []
    for task in Path("/proc/self/task").iterdir():
        with contextlib.suppress(FileNotFoundError):  # it has just ended
            status = (task / "status").read_text()
            if status.startswith("Name:\tspead-send\n"):
                allowed += re.findall("Cpus_allowed_list:\t(.*)", status)
    return allowed


@pytest.mark.parametrize("affinity", [-1, max(os.sched_getaffinity(0))])
def test_sender_thread_is_named_and_pinned(sock, affinity):
    own = Path("/proc/self/status").read_text()
    (anywhere,) = re.findall("Cpus_allowed_list:\t(.*)", own)
    with Running(destination(sock), rate=1e6, affinity=affinity):
        sock.recv(65536)
        assert sender_threads() == [anywhere if affinity < 0 else str(affinity)]
    eventually(lambda: not sender_threads())


def test_drop_counts_exactly_the_missing_samples(sock, receiver):
    samples = noise(8_000_100)
    sink = send(
        sock,
        samples,
        rate=20e6,
        when_full="drop",
        heap_samples=4096,
        max_packet_size=4152,
        buffer_size=1 << 20,
    )
    stats = sink.stats()
    heaps = receiver.until_end().heaps
    assert stats["heaps_dropped"] > 0
    assert stats["heaps_sent"] == len(heaps)
    received = 0
    for heap in heaps:
        expected = samples[heap.timestamp : heap.timestamp + 4096]
        assert np.array_equal(heap.samples[: len(expected)], expected)
        assert heap.cnt == 1 + heap.timestamp // 4096
        received += len(expected)
    assert stats["samples_in"] == len(samples)
    assert stats["samples_dropped"] == len(samples) - received


def test_stop_sends_a_paced_queue_that_takes_seconds(sock):
    sink = send(sock, noise(200_000), rate=1e5)
    assert sink.samples_sent() == 200_000


@NEEDS_BUFFER
def test_timestamps_continue_across_lock_and_unlock(sock, receiver):
    running = Running(destination(sock), rate=20e6)
    with running as sink:
        for _ in range(3):
            sent = sink.samples_sent()
            eventually(lambda sent=sent: sink.samples_sent() > sent + 100_000)
            running.graph.lock()
            running.graph.unlock()
    heaps = []
    for _ in range(4):
        heaps += receiver.until_end().heaps
    assert len(heaps) == sink.heaps_sent()
    assert [heap.timestamp for heap in heaps] == [8192 * i for i in range(len(heaps))]


@pytest.mark.parametrize(
    ("n", "when_full", "waits"),
    [(2_000_000, "block", True), (2_000_000, "drop", False), (50_000, "block", False)],
)
def test_ring_full_counts_waits_for_space(sock, n, when_full, waits):
    options = {"buffer_size": 100_000, "rate": 20e6, "when_full": when_full}
    sink = send(sock, noise(n), heap_samples=1000, **options)
    assert (sink.ring_full() > 0) == waits


PROGRAM = """
import sys
from gnuradio import blocks, gr, spead
graph = gr.top_block()
sink = spead.sink(sys.argv[1], 1 << 26, descriptors="none")
graph.connect(blocks.null_source(1), blocks.head(1, 3 << 26), sink)
graph.run()
assert sink.samples_sent() == 3 << 26
print(open("/proc/self/status").read())
"""


def test_python_process_that_sends_heaps_of_64_MiB_stays_below_100_MiB(sock):
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM, destination(sock)],
        capture_output=True,
        text=True,
        timeout=BOUND,
        check=True,
    )
    peak = next(line for line in done.stdout.splitlines() if "VmHWM" in line)
    assert int(peak.split()[1]) < 100 * 1024
