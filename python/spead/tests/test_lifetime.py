# Copyright 2026 The gr-spead authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Started, stopped, or never started: nothing is left behind."""

import os

from conftest import destination, eventually, noise, source, wait
from gnuradio import gr, spead

TIMES = 100


def threads():
    return len(os.listdir("/proc/self/task"))


def descriptors():
    return len(os.listdir("/proc/self/fd"))


def resident():
    with open("/proc/self/statm") as f:
        return int(f.read().split()[1]) * os.sysconf("SC_PAGE_SIZE")


def check_no_leak(action):
    """Memory may grow by less than one ring in all these times."""
    for _ in range(10):
        action()
    tasks, files, memory = threads(), descriptors(), resident()
    for _ in range(TIMES):
        action()
    eventually(lambda: threads() <= tasks and descriptors() <= files)
    assert resident() - memory < 2 << 20


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
    sink = spead.sink(destination(sock))
    graph = gr.top_block()
    graph.connect(samples, sink)

    def start_and_stop():
        graph.start()
        graph.stop()
        wait(graph)

    check_no_leak(start_and_stop)
    assert sink.samples_pending() == 0


def test_new_flow_graphs_leak_nothing(sock):
    def run():
        samples = source(noise(20_000))
        graph = gr.top_block()
        graph.connect(samples, spead.sink(destination(sock)))
        graph.start()
        wait(graph)

    check_no_leak(run)
