# Copyright 2026 The gr-spead authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""The memory of a sending process does not depend on the size of its heaps."""

import subprocess
import sys

from places import BOUND
from receiving import destination

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
