# Copyright 2026 The gr-spead authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""The memory of a process that sends does not depend on the size of its heaps."""

import subprocess
import sys

import pytest
from places import BOUND
from receiving import destination

MIB = 1 << 20
# three heaps of the larger size in both cases
PROGRAM = """
import sys
from gnuradio import blocks, gr, spead
to, heap = sys.argv[1], int(sys.argv[2])
graph = gr.top_block()
sink = spead.sink(to, heap, descriptors="none")
graph.connect(blocks.null_source(1), blocks.head(1, 3 << 26), sink)
graph.run()
assert sink.samples_sent() == 3 << 26
print(open("/proc/self/status").read())
"""


def peak(sock, heap):
    """Bytes that were resident at most.

    In a process of its own they are the same each time, but for some hundred KiB, and
    no heap of the larger size goes unseen.
    """
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM, destination(sock), str(heap)],
        capture_output=True,
        text=True,
        timeout=BOUND,
        check=True,
    )
    line = next(part for part in done.stdout.splitlines() if "VmHWM" in part)
    return int(line.split()[1]) * 1024


@pytest.mark.parametrize("heap", [8192, 64 * MIB])
def test_a_python_process_that_sends_stays_below_100_MiB(sock, heap):
    assert peak(sock, heap) < 100 * MIB
