# Copyright 2026 The gr-spead authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Figures of a running sink or source for people: text for a window or a terminal."""

import html
import textwrap
import time

import pmt
from gnuradio import gr


class LiveFigures:
    """Turns consecutive stats of a sink or of a source into text.

    seconds: the time at which the block starts
    """

    def __init__(self, seconds):
        self._before = seconds, 0  # and bytes

    def update(self, stats, seconds):
        """Name -> text of each figure; the rate is that since the last update.

        stats: from stats(), or from a message of the port "stats"
        seconds: the time of these stats
        """
        is_sink = "bytes_sent" in stats
        count = stats["bytes_sent" if is_sink else "bytes_received"]
        seconds_before, count_before = self._before
        self._before = seconds, count
        rate = (count - count_before) / max(seconds - seconds_before, 1e-9)
        figures = _figures_of_sink if is_sink else _figures_of_source
        return {"rate": f"{rate / 1e6:.2f} MB/s"} | figures(stats)


class figures(gr.basic_block):
    """SPEAD Figures: displays the counters of a sink or source in a Qt window.

    Connect port "stats" to that of the sink or source, and set its stats_interval.
    Show qwidget(), or add it to a layout. Needs PyQt5, and a QApplication. The flow
    graph runs until its stop() is called.
    """

    def __init__(self):
        from PyQt5 import QtWidgets  # only here: other blocks need no window

        if not QtWidgets.QApplication.instance():  # Qt would abort the process
            raise RuntimeError("spead.figures: needs a QApplication; create it first")
        gr.basic_block.__init__(self, "spead_figures", None, None)
        self._figures = LiveFigures(time.monotonic())
        self._label = QtWidgets.QLabel("No counters yet: see stats_interval")
        # Leave the height of the window to its plots.
        policy = QtWidgets.QSizePolicy
        self._label.setSizePolicy(policy.Preferred, policy.Fixed)
        self.message_port_register_in(pmt.intern("stats"))
        self.set_msg_handler(pmt.intern("stats"), self._update)
        self.set_msg_handler(pmt.intern("system"), self._continue)

    def qwidget(self):
        """The widget, a QLabel."""
        return self._label

    def _continue(self, _):
        """Ignore the scheduler's message at the end: the last counters follow it."""

    def _update(self, message):
        from PyQt5 import QtCore

        stats = pmt.to_python(pmt.car(message))
        rows = (
            f"<tr><td>{name}&nbsp;&nbsp;</td><td align=right>{_lines(text)}</td></tr>"
            for name, text in self._figures.update(stats, time.monotonic()).items()
        )
        # This is not the thread of the window.
        QtCore.QMetaObject.invokeMethod(
            self._label,
            "setText",
            QtCore.Qt.ConnectionType.QueuedConnection,
            QtCore.Q_ARG(str, f"<table>{''.join(rows)}</table>"),
        )


def _lines(text):
    """A text, perhaps a sentence, in lines of a window."""
    return "<br>".join(html.escape(line) for line in textwrap.wrap(text, 40))


def _figures_of_sink(stats):
    return {
        "heaps sent": f"{stats['heaps_sent']:,}",
        "heaps dropped": f"{stats['heaps_dropped']:,}",
        "errors": f"{_total(stats['send_errors']) + stats['icmp_errors']:,}",
        "ring fill": f"{100 * stats['ring_fill']:.0f} %",
    }


def _figures_of_source(stats):
    figures = {
        "heaps received": f"{stats['heaps_received']:,}",
        "samples missing": f"{stats['samples_missing']:,}",
        "dropped by socket": f"{stats['datagrams_dropped_by_socket']:,}",
        "packets rejected": f"{_total(stats['packets_rejected']):,}",
        "buffer fill": f"{100 * stats['buffer_fill']:.0f} %",
    }
    if stats["status"]:
        figures["no output"] = stats["status"]
    return figures


def _total(counts):
    # an empty dict arrives as None in a message
    return sum((counts or {}).values())
