#!/usr/bin/env python3
# Copyright 2026 The gr-spead authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""The sender of pacing.py and send_latency.py: a source and the sink in a process.

The argument is JSON: the options of the sink and, unless it is to send noise, of
TimedSource. Ends when the source or standard input ends, and prints the stats() of the
sink.
"""

import json
import os
import sys
import threading
import time

import numpy as np
from gnuradio import blocks, gr, spead

TIME_SAMPLES = 8  # samples of 8 bits that hold the time


class TimedSource(gr.sync_block):
    """Outputs samples in pieces, at a rate, like a device.

    The last samples of each heap hold the time in ns at which they were output. The
    last piece of a heap has room for it.
    """

    def __init__(self, rate, heap, heaps, piece):
        gr.sync_block.__init__(self, "timed source", None, [np.int8])
        self.set_min_noutput_items(TIME_SAMPLES)
        self.rate = rate
        self.heap = heap
        self.total = heap * heaps
        self.piece = piece
        self.written = 0

    def start(self):
        self.begin = time.monotonic()
        return True

    def work(self, _, outputs):
        if self.written == self.total:
            return -1  # WORK_DONE
        out = outputs[0]
        left = self.heap - self.written % self.heap
        n = min(left, self.piece, len(out))
        if left - n < TIME_SAMPLES:
            n = left if left <= len(out) else left - TIME_SAMPLES
        out[:n] = 0
        self.written += n
        time.sleep(max(self.begin + self.written / self.rate - time.monotonic(), 0))
        if n == left:
            out[n - TIME_SAMPLES : n] = np.array([time.time_ns()]).view(np.int8)
        return n


def main():
    arguments = json.loads(sys.argv[1])
    if "timed_source" in arguments:
        source = TimedSource(**arguments["timed_source"])
    else:
        noise = np.random.default_rng(1).integers(0, 256, 1 << 20, np.uint8)
        source = blocks.vector_source_b(noise.tolist(), True)
    try:
        sink = spead.sink(**arguments["sink"])
    except ValueError as error:
        sys.exit(str(error))
    graph = gr.top_block()
    graph.connect(source, sink)

    def stop_at_end_of_input():
        os.read(0, 1)  # Python could not exit while a thread reads sys.stdin
        graph.stop()

    graph.start()
    threading.Thread(target=stop_at_end_of_input, daemon=True).start()
    graph.wait()
    print(json.dumps(sink.stats()), flush=True)


if __name__ == "__main__":
    main()
