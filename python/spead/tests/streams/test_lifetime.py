# Copyright 2026 The gr-spead authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""A sink leaks nothing, whether it is started, stopped or never started."""

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

TIMES, ROUNDS = 50, 10
ANY_OBJECT = 100  # bytes; those of the sink are larger
ANY_RING = 1 << 20


def threads_and_files():
    return [len(os.listdir(f"/proc/self/{kind}")) for kind in ("task", "fd")]


def mapped_bytes():
    """The size of the address space, which includes packet rings."""
    pages = int(Path("/proc/self/statm").read_text().split()[0])
    return pages * os.sysconf("SC_PAGE_SIZE")


class MallocInfo(ctypes.Structure):
    """struct mallinfo2."""

    _fields_ = [
        (name, ctypes.c_size_t)
        for name in (
            *("arena", "ordblks", "smblks", "hblks", "hblkhd"),
            *("usmblks", "fsmblks", "uordblks", "fordblks", "keepcost"),
        )
    ]


libc = ctypes.CDLL(None)
libc.mallinfo2.restype = MallocInfo


def allocated():
    """Bytes that malloc() has allocated and free() has not freed."""
    gc.collect()
    info = libc.mallinfo2()
    return info.uordblks + info.hblkhd


def leaks(action):
    """Whether many runs of an action leak a thread, a file, memory or a ring."""
    before, memory, mapped = threads_and_files(), allocated(), mapped_bytes()
    for _ in range(TIMES):
        action()
    eventually(lambda: all(map(int.__le__, threads_and_files(), before)))
    is_growing = allocated() - memory >= TIMES * ANY_OBJECT
    return is_growing or mapped_bytes() - mapped >= TIMES * ANY_RING


def construct(endpoint):
    return lambda: spead.sink(endpoint)


def fail_to_construct(endpoint):
    def fail():
        with pytest.raises(ValueError, match="buffer_size"):
            spead.sink(endpoint, buffer_size=1)

    return fail


def start_without_a_flow_graph(endpoint):
    return lambda: spead.sink(endpoint, num_inputs=2, send_stop=False).start()


def start_and_stop(endpoint):
    graph = gr.top_block()
    samples = source(noise(100_000), repeat=True)
    graph.connect(samples, spead.sink(endpoint, send_stop=False))

    def run():
        graph.start()
        graph.stop()
        wait(graph)

    run.kept = samples  # the flow graph keeps no reference to it
    return run


def run_a_new_flow_graph(endpoint):
    return lambda: run_all(spead.sink(endpoint, send_stop=False), noise(20_000))


@pytest.mark.parametrize(
    "action",
    [
        construct,
        fail_to_construct,
        start_without_a_flow_graph,
        start_and_stop,
        run_a_new_flow_graph,
    ],
    ids=lambda action: action.__name__,
)
def test_nothing_leaks(sock, action):
    """Threads may leave cached memory now and then; a leak occurs in each round."""
    act = action(destination(sock))
    for _ in range(10):
        act()
    assert not all(leaks(act) for _ in range(ROUNDS))


def test_sink_that_was_started_outside_a_flow_graph_is_usable(sock):
    sink = spead.sink(destination(sock), 1000, num_inputs=2, send_stop=False)
    for change in (sink.stop, sink.start, sink.start, sink.stop, sink.stop, sink.start):
        assert change()
    run_all(sink, noise(5000), noise(5000))
    assert sink.samples_sent() == 10_000
    assert sink.start()
