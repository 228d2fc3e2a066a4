# Copyright 2026 The gr-spead authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Draws what a sweep found, as SVG: the same figures always make the same file."""

import matplotlib
from matplotlib.figure import Figure
from matplotlib.ticker import LogLocator, NullFormatter, StrMethodFormatter
from report import paced
from summary import size_text

STYLE = {
    "svg.hashsalt": "gr-spead",
    "svg.fonttype": "none",  # text as text: a tenth of the size
    "font.size": 10,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.grid": True,
    "grid.color": "#e0e0e0",
    "axes.axisbelow": True,
}
# Okabe's and Ito's colours, which look different to all eyes.
LOOKS = {
    "gr-spead": {"color": "#0072b2", "marker": "o", "linewidth": 2.5},
    "spead2 Python": {"color": "#d55e00", "marker": "^"},
    "network.udp_sink": {"color": "#009e73", "marker": "D"},
    "null sink": {"color": "#808080", "marker": "x", "linestyle": ":"},
    "limit": {"color": "#000000", "linestyle": "--"},
}
COLOURS = ("#56b4e9", "#e69f00", "#cc79a7", "#882255", "#b0a000")  # of other peers
MARKERS = "vP*Xp<>"


def looks(names):
    """How to draw each, by name."""
    others = [name for name in names if name not in LOOKS]
    chosen = {
        name: {
            "color": COLOURS[index % len(COLOURS)],
            "marker": MARKERS[index % len(MARKERS)],
        }
        for index, name in enumerate(others)
    }
    return {name: LOOKS.get(name) or chosen[name] for name in names}


class Panels:
    """Panels side by side, one for each packet size, above one legend."""

    WIDTH, HEIGHT, LEGEND_LINE = 5, 3.6, 0.25  # inches
    LEGEND_COLUMNS = 4

    def __init__(self, packets, names):
        columns = min(len(packets), 2)
        rows = -(-len(packets) // columns)
        lines = -(-len(names) // (self.LEGEND_COLUMNS // 2 * columns)) + 0.5
        below = lines * self.LEGEND_LINE
        height = self.HEIGHT * rows + below
        self.looks = looks(names)
        self.figure = Figure(figsize=(self.WIDTH * columns, height))
        self.figure.set_layout_engine(
            "constrained", rect=(0, below / height, 1, 1 - below / height)
        )
        grid = self.figure.subplots(
            rows, columns, sharex=True, sharey=True, squeeze=False
        )
        for axes in grid.flat[len(packets) :]:
            axes.set_visible(False)
        self.axes = dict(zip(packets, grid.flat, strict=False))
        for packet, axes in self.axes.items():
            axes.set_title(f"packets of {packet} bytes", fontsize=10)

    def line(self, packet, name, points):
        """Points are pairs; one with None in it is left out, with no line across."""
        x, y = zip(*points, strict=True)
        self.axes[packet].plot(x, y, label=name, markersize=5, **self.looks[name])

    def save(self, path, xlabel, ylabel):
        for axes in self.axes.values():
            axes.set_xlabel(xlabel)
            if axes.get_subplotspec().is_first_col():
                axes.set_ylabel(ylabel)
        handles, names = next(iter(self.axes.values())).get_legend_handles_labels()
        columns = self.LEGEND_COLUMNS // 2 * min(len(self.axes), 2)
        self.figure.legend(
            handles, names, loc="lower center", ncols=columns, frameon=False
        )
        self.figure.savefig(path, format="svg", metadata={"Date": None})


def draw_throughput(summary, path):
    with matplotlib.rc_context(STYLE):
        panels = Panels(summary.packets, summary.programs)
        for packet, axes in panels.axes.items():
            for name in summary.programs:
                speeds = [
                    (heap, summary.speed(name, packet, heap)) for heap in summary.heaps
                ]
                panels.line(packet, name, speeds)
            axes.set_xscale("log", base=2)
            axes.set_xticks(summary.heaps, map(size_text, summary.heaps), rotation=45)
            axes.minorticks_off()
            axes.set_yscale("log")
            axes.yaxis.set_major_locator(LogLocator(subs=(1, 2, 5)))
            axes.yaxis.set_major_formatter(StrMethodFormatter("{x:,.0f}"))
            axes.yaxis.set_minor_formatter(NullFormatter())
        panels.save(path, "heap size", "throughput / (MB/s)")


def draw_cost(summary, path):
    names = paced(summary)
    with matplotlib.rc_context(STYLE):
        panels = Panels(summary.rated_packets, names)
        for packet, axes in panels.axes.items():
            for name in names:
                costs = [summary.cost(name, packet, rate) for rate in summary.rates]
                # where a program could not reach a rate, over what it reached
                points = [
                    (cost[1], cost[0]) if cost else (None, None) for cost in costs
                ]
                panels.line(packet, name, points)
            axes.set_xlim(left=0)
            axes.set_ylim(bottom=0)
        panels.save(path, "rate / (MB/s)", "CPU time / (s/GB)")
