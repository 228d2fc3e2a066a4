# Copyright 2026 The gr-spead authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Figures of a running sink for people: text for a window or a terminal."""


class LiveFigures:
    """Turns consecutive stats of a sink into text.

    seconds: the time at which the sink starts
    """

    def __init__(self, seconds):
        self._before = seconds, 0  # and bytes sent

    def update(self, stats, seconds):
        """Name -> text of each figure; the rate is that since the last update.

        stats: from stats(), or from a message of the port "stats"
        seconds: the time of these stats
        """
        then, bytes_before = self._before
        self._before = seconds, stats["bytes_sent"]
        rate = (stats["bytes_sent"] - bytes_before) / max(seconds - then, 1e-9)
        # an empty dict arrives as None in a message
        errors = sum((stats["send_errors"] or {}).values()) + stats["icmp_errors"]
        return {
            "rate": f"{rate / 1e6:.2f} MB/s",
            "heaps sent": f"{stats['heaps_sent']:,}",
            "heaps dropped": f"{stats['heaps_dropped']:,}",
            "errors": f"{errors:,}",
            "ring fill": f"{100 * stats['ring_fill']:.0f} %",
        }
