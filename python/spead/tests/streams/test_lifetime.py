# Copyright 2026 The gr-spead authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Started, stopped, or never started: nothing is left behind."""

import ctypes
import gc
import os
from pathlib import Path

import pytest
from gnuradio import gr, spead
from inputs import run_all
from places import eventually
from receiving import destination
from streams import noise, source, wait

TIMES, ROUNDS = 100, 10
ANY_OBJECT = 100  # bytes; those of the sink are larger


def threads():
    return len(os.listdir("/proc/self/task"))


def descriptors():
    return len(os.listdir("/proc/self/fd"))


def in_rings():
    """Bytes in packet rings: those are what asks for huge pages."""
    size = total = 0
    with open("/proc/self/smaps") as mappings:
        for line in mappings:
            key, _, value = line.partition(":")
            if key == "Size":
                size = int(value.split()[0]) * 1024
            elif key == "VmFlags" and "hg" in value.split():
                total += size
    return total


class MallocInfo(ctypes.Structure):
    """What mallinfo2() returns."""

    _fields_ = [
        (name, ctypes.c_size_t)
        for name in (
            *("arena", "ordblks", "smblks", "hblks", "hblkhd"),
            *("usmblks", "fsmblks", "uordblks", "fordblks", "keepcost"),
        )
    ]


libc = ctypes.CDLL(None)
libc.mallinfo2.restype = MallocInfo


QUICK = {"send_stop": False}  # ends without pauses


def allocated():
    """Bytes in use, as malloc() and free() have counted them."""
    gc.collect()
    info = libc.mallinfo2()
    return info.uordblks + info.hblkhd


def left_by(action):
    """Bytes that are left in all these times; no thread, file or ring is."""
    tasks, files, rings, memory = threads(), descriptors(), in_rings(), allocated()
    for _ in range(TIMES):
        action()
    eventually(lambda: threads() <= tasks and descriptors() <= files)
    assert in_rings() <= rings
    return allocated() - memory


def check_no_leak(action):
    """Something may be left now and then, such as what threads keep for the next one.

    But not each time: a leak is.
    """
    for _ in range(10):
        action()
    assert any(left_by(action) < TIMES * ANY_OBJECT for _ in range(ROUNDS))


@pytest.mark.parametrize("size", [1 << 20, 8 << 20])
def test_the_memory_of_a_ring_is_seen(sock, size):
    """Or the other tests would not see it leak."""
    if not Path("/sys/kernel/mm/transparent_hugepage").exists():
        pytest.skip("a kernel without huge pages does not tell rings from other memory")
    others = in_rings()
    sink = spead.sink(destination(sock), buffer_size=size)
    assert size // 2 <= in_rings() - others <= size + (2 << 20)
    del sink
    assert in_rings() == others


def test_constructing_without_a_start_leaks_nothing(sock):
    check_no_leak(lambda: spead.sink(destination(sock)))


def test_failed_constructions_leak_nothing(sock):
    def fail():
        try:
            spead.sink(destination(sock), buffer_size=1)
        except ValueError:
            return
        raise AssertionError

    check_no_leak(fail)


def test_start_and_stop_leak_nothing(sock):
    samples = source(noise(100_000), repeat=True)
    sink = spead.sink(destination(sock), **QUICK)
    graph = gr.top_block()
    graph.connect(samples, sink)

    def start_and_stop():
        graph.start()
        graph.stop()
        wait(graph)

    check_no_leak(start_and_stop)
    assert sink.samples_pending() == 0


@pytest.mark.parametrize("inputs", [1, 2])
def test_a_sink_may_be_started_outside_of_a_flow_graph(sock, inputs):
    """As other blocks may; it has nothing to send, and is of use afterwards."""
    sink = spead.sink(destination(sock), 1000, num_inputs=inputs, send_stop=False)
    assert sink.stop()
    for _ in range(2):
        assert sink.start()
    assert sink.stop()
    assert sink.stop()
    assert sink.start()
    run_all(sink, *(noise(5000) for _ in range(inputs)))
    assert sink.samples_sent() == 5000 * inputs
    assert sink.start()
    assert sink.stats()["samples_pending"] == 0


@pytest.mark.parametrize("inputs", [1, 2])
def test_starts_outside_of_a_flow_graph_leak_nothing(sock, inputs):
    to = destination(sock)
    check_no_leak(lambda: spead.sink(to, num_inputs=inputs, **QUICK).start())


def test_new_flow_graphs_leak_nothing(sock):
    def run():
        samples = source(noise(20_000))
        graph = gr.top_block()
        graph.connect(samples, spead.sink(destination(sock), **QUICK))
        graph.start()
        wait(graph)

    check_no_leak(run)
