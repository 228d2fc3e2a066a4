# Copyright 2026 The gr-spead authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Figures of a running sink or source for people: text for a window or a terminal."""

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
        then, count_before = self._before
        self._before = seconds, count
        rate = (count - count_before) / max(seconds - then, 1e-9)
        figures = _figures_of_sink if is_sink else _figures_of_source
        return {"rate": f"{rate / 1e6:.2f} MB/s"} | figures(stats)


class figures(gr.basic_block):
    """SPEAD Figures: turns the counters of a sink or source into text.

    Connect port "stats" to that of the sink or source, and set its stats_interval. Port
    "text" publishes a table in HTML, as a pair of True and the text.
    """

    def __init__(self):
        gr.basic_block.__init__(self, "spead_figures", None, None)
        self._figures = LiveFigures(time.monotonic())
        self.message_port_register_in(pmt.intern("stats"))
        self.message_port_register_out(pmt.intern("text"))
        self.set_msg_handler(pmt.intern("stats"), self._update)

    def _update(self, message):
        stats = pmt.to_python(pmt.car(message))
        rows = (
            f"<tr><td>{name}&nbsp;&nbsp;</td><td align=right>{text}</td></tr>"
            for name, text in self._figures.update(stats, time.monotonic()).items()
        )
        table = pmt.intern(f"<table>{''.join(rows)}</table>")
        self.message_port_pub(pmt.intern("text"), pmt.cons(pmt.PMT_T, table))


def _figures_of_sink(stats):
    return {
        "heaps sent": f"{stats['heaps_sent']:,}",
        "heaps dropped": f"{stats['heaps_dropped']:,}",
        "errors": f"{_total(stats['send_errors']) + stats['icmp_errors']:,}",
        "ring fill": f"{100 * stats['ring_fill']:.0f} %",
    }


def _figures_of_source(stats):
    return {
        "heaps received": f"{stats['heaps_received']:,}",
        "samples missing": f"{stats['samples_missing']:,}",
        "dropped by socket": f"{stats['datagrams_dropped_by_socket']:,}",
        "packets rejected": f"{_total(stats['packets_rejected']):,}",
        "buffer fill": f"{100 * stats['buffer_fill']:.0f} %",
    }


def _total(counts):
    # an empty dict arrives as None in a message
    return sum((counts or {}).values())
