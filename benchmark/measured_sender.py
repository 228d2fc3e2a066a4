#!/usr/bin/env python3
# Copyright 2026 The gr-spead authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""The sender of pacing.py and latency.py: a source and the sink, in its own process.

The argument is JSON: the options of the sink, and of HandOver unless the source is to
send noise. Ends with its source or with its standard input, and prints the stats() of
the sink.
"""

import json
import os
import sys
import threading
import time

import numpy as np
from gnuradio import blocks, gr, spead

TIME_SAMPLES = 8  # of 8 bits, which hold the time


class HandOver(gr.sync_block):
    """Samples at a rate, piece by piece, as from a device.

    The last samples of each heap are the time in ns at which its last piece was handed
    over. That piece is at least as long as the time.
    """

    def __init__(self, rate, heap, heaps, piece):
        gr.sync_block.__init__(self, "hand over", None, [np.int8])
        self.set_min_noutput_items(TIME_SAMPLES)
        self.rate = rate
        self.heap = heap
        self.total = heap * heaps
        self.piece = piece
        self.at = 0

    def start(self):
        self.begin = time.monotonic()
        return True

    def work(self, _, outputs):
        if self.at == self.total:
            return -1  # done
        out = outputs[0]
        left = self.heap - self.at % self.heap
        n = min(left, self.piece, len(out))
        if left - n < TIME_SAMPLES:
            n = left if left <= len(out) else left - TIME_SAMPLES
        out[:n] = 0
        self.at += n
        time.sleep(max(self.begin + self.at / self.rate - time.monotonic(), 0))
        if n == left:
            out[n - TIME_SAMPLES : n] = np.array([time.time_ns()]).view(np.int8)
        return n


def main():
    arguments = json.loads(sys.argv[1])
    if "hand_over" in arguments:
        source = HandOver(**arguments["hand_over"])
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
        os.read(0, 1)  # not sys.stdin: Python cannot end while a thread reads it
        graph.stop()

    graph.start()
    threading.Thread(target=stop_at_end_of_input, daemon=True).start()
    graph.wait()
    print(json.dumps(sink.stats()), flush=True)


if __name__ == "__main__":
    main()
