# Copyright 2026 The gr-spead authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Runs a flow graph to its end, with a line of progress on the terminal."""

import datetime
import shutil
import sys
import threading
import time

try:
    from gnuradio.spead.live_figures import LiveFigures
except ImportError as error:
    sys.exit(f"{error}: install gr-spead, or set PYTHONPATH to build/python")

from common.interrupts import at_interrupt

# 80 columns have room for them and for the time left
FIGURES_OF_SINK = (
    "{rate}, heaps {heaps sent}, dropped {heaps dropped}, errors {errors},"
    " ring {ring fill}"
)
FIGURES_OF_SOURCE = (
    "{rate}, heaps {heaps received}, missing {samples missing} samples,"
    " buffer {buffer fill}"
)


class Progress:
    """A line on a terminal that is refreshed; nothing if the stream is none.

    total: samples of the whole stream, or None
    clock: gives the time in seconds
    """

    def __init__(self, total, stream=sys.stderr, clock=time.monotonic):
        self.total = total
        self.stream = stream if stream.isatty() else None
        self.clock = clock
        self.begin = clock()
        self.figures = LiveFigures(self.begin)

    def show(self, stats):
        if not self.stream:
            return
        now = self.clock()
        is_sink = "samples_sent" in stats
        line = FIGURES_OF_SINK if is_sink else FIGURES_OF_SOURCE
        parts = [line.format_map(self.figures.update(stats, now))]
        done = stats["samples_sent" if is_sink else "samples_out"]
        if self.total and done:
            left = round((now - self.begin) * (self.total - done) / done)
            parts.insert(0, f"{100 * done / self.total:.1f} %")
            parts.append(f"{datetime.timedelta(seconds=left)} left")
        # a line that wraps could not be refreshed
        self._write(", ".join(parts)[: shutil.get_terminal_size().columns - 1])

    def clear(self):
        if self.stream:
            self._write("")

    def _write(self, line):
        self.stream.write(f"\r{line}\x1b[K")  # clears the rest of the line
        self.stream.flush()


def run_to_end(flow_graph, block, total=None):
    """Run to the end or to Ctrl-C; show the stats of a block each second.

    block: the SPEAD sink or source
    total: samples of the whole stream, if known
    """
    progress = Progress(total)
    ended = threading.Event()

    def wait():
        try:
            flow_graph.wait()
        finally:
            ended.set()

    with at_interrupt(flow_graph.stop):
        flow_graph.start()
        threading.Thread(target=wait).start()
        try:
            while not ended.wait(1):
                progress.show(block.stats())
        finally:
            flow_graph.stop()
            ended.wait()
            progress.clear()
