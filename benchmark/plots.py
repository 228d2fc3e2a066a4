# Copyright 2026 The gr-spead authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Plots the results of senders.py as SVG."""

from itertools import cycle

import matplotlib
from matplotlib.figure import Figure
from matplotlib.ticker import LogLocator, NullFormatter, StrMethodFormatter

STYLE = {
    "svg.hashsalt": "gr-spead",  # reproducible files
    "svg.fonttype": "none",  # text instead of paths: a tenth of the size
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.grid": True,
    "grid.color": "#e0e0e0",
}
# The colour-blind-safe palette of Okabe and Ito.
COLOURS = ["#0072b2", "#d55e00", "#009e73", "#000000", "#e69f00", "#56b4e9", "#cc79a7"]
MARKERS = "os^Dv*Px"


def size_text(size):
    """Format a size, such as 8 KiB."""
    for unit, name in ((1 << 20, "MiB"), (1 << 10, "KiB")):
        if size % unit == 0:
            return f"{size // unit} {name}"
    return f"{size} B"


def draw(path, points, xlabel, ylabel, set_scales):
    """Draw a panel per packet size, with a line per program.

    points: x and y by packet size, each of them by program
    """
    with matplotlib.rc_context(STYLE):
        figure = Figure(figsize=(4.5 * len(points) + 2, 4), layout="constrained")
        shared = {"sharex": True, "sharey": True, "squeeze": False}
        (panels,) = figure.subplots(1, len(points), **shared)
        for axes, (packet, (x, y)) in zip(panels, points.items(), strict=True):
            for name, colour, marker in zip(y, cycle(COLOURS), cycle(MARKERS)):
                axes.plot(x[name], y[name], color=colour, marker=marker, label=name)
            set_scales(axes)
            axes.set_title(f"packets of {packet} bytes")
            axes.set_xlabel(xlabel)
        panels[0].set_ylabel(ylabel)
        panels[-1].legend(loc="center left", bbox_to_anchor=(1.02, 0.5), frameon=False)
        figure.savefig(path, format="svg", metadata={"Date": None})


def draw_throughput(medians, path):
    heaps = medians.index.unique("heap").sort_values()

    def set_scales(axes):
        axes.set_xscale("log", base=2)
        axes.set_xticks(heaps, map(size_text, heaps), rotation=45)
        axes.minorticks_off()
        axes.set_yscale("log")
        axes.yaxis.set_major_locator(LogLocator(subs=(1, 2, 5)))
        axes.yaxis.set_major_formatter(StrMethodFormatter("{x:,.0f}"))
        axes.yaxis.set_minor_formatter(NullFormatter())

    points = {}
    for packet in medians.index.unique("packet"):
        y = medians.loc[packet]
        points[packet] = dict.fromkeys(y, y.index), y
    draw(path, points, "heap size", "throughput / (MB/s)", set_scales)


def draw_cpu(per_gigabyte, reached, path):
    """Plot the CPU time over the speed reached."""

    def set_scales(axes):
        axes.set_xlim(left=0)
        axes.set_ylim(bottom=0)

    packets = per_gigabyte.index.unique("packet")
    points = {
        packet: (reached.loc[packet], per_gigabyte.loc[packet]) for packet in packets
    }
    draw(path, points, "rate / (MB/s)", "CPU time / (s/GB)", set_scales)
