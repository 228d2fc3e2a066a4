# Copyright 2026 The gr-spead authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Runs a flow graph to its end, with a progress line on the terminal."""

import datetime
import shutil
import sys
import threading
import time

try:
    from gnuradio.spead.live_figures import LiveFigures
except ImportError as error:
    sys.exit(f"{error}: install gr-spead, or set PYTHONPATH to build/python")

from common.interrupts import at_interrupt, end_at_closed_pipe

# With the remaining time, they fit into 80 columns.
FIGURES_OF_SINK = (
    "{rate}, heaps {heaps sent}, dropped {heaps dropped}, errors {errors},"
    " ring {ring fill}"
)
FIGURES_OF_SOURCE = (
    "{rate}, heaps {heaps received}, missing {samples missing} samples,"
    " buffer {buffer fill}"
)


class Progress:
    """A progress line, rewritten in place. Prints nothing without a terminal.

    total: samples of the whole stream, or None
    clock: returns the time in seconds
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
        # A carriage return cannot rewrite a line that wraps.
        self._write(", ".join(parts)[: shutil.get_terminal_size().columns - 1])

    def clear(self):
        if self.stream:
            self._write("")

    def _write(self, line):
        self.stream.write(f"\r{line}\x1b[K")  # clears the rest of the line
        self.stream.flush()


def run_to_end(flow_graph, block, total=None, watch=None, interval=1):
    """Run until the stream ends or Ctrl-C; show the stats of a block regularly.

    Afterwards, the program ends quietly if nobody reads its output.

    block: the SPEAD sink or source
    total: samples of the whole stream, if known
    watch: is called before the stats are shown, each `interval` seconds
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
            while not ended.wait(interval):
                if watch:
                    progress.clear()  # it may print
                    watch()
                progress.show(block.stats())
        finally:
            flow_graph.stop()
            ended.wait()
            progress.clear()
    end_at_closed_pipe()
