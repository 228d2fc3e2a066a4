# Copyright 2026 The gr-spead authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Writes what a sweep found as Markdown."""

import importlib.metadata
import os
import platform
import re
import shlex
import subprocess
import sys

from summary import size_text

ENOUGH = 0.95  # of a rate; below that a program did not reach it


def processor():
    with open("/proc/cpuinfo") as info:
        found = re.search(r"model name\s*: (.*)", info.read())
    return found[1] if found else platform.machine()


def gnuradio_version():
    """Asked elsewhere: GNU Radio aborts a process that it finds no home for."""
    question = "from gnuradio import gr; print(gr.version())"
    asked = subprocess.run(
        [sys.executable, "-c", question], capture_output=True, text=True, check=False
    )
    return asked.stdout.strip() if asked.returncode == 0 else "none"


def spead2_version():
    try:
        return importlib.metadata.version("spead2")
    except importlib.metadata.PackageNotFoundError:
        return "none"


def table(header, rows):
    """The first column is text, the others are numbers."""
    lines = [header, ["---"] + ["---:"] * (len(header) - 1), *rows]
    return "".join("| " + " | ".join(line) + " |\n" for line in lines)


def number(value, form):
    return "" if value is None else format(value, form)


def throughput_table(summary, packet):
    """MB/s and what gr-spead is to the others, a row for each heap size."""
    header = ["heap", *summary.programs]
    compared_with = [(own, summary.reference(own)) for own in summary.own]
    compared_with = [pair for pair in compared_with if pair[1]]
    header += [f"{own} / {other}" for own, other in compared_with]
    compared = summary.own and summary.peers
    if compared:
        header.append(f"{summary.own[0]} / best peer")
    rows = []
    for heap in summary.heaps:
        place = (packet, heap)
        row = [number(summary.speed(name, *place), ",.0f") for name in summary.programs]
        ratios = [summary.ratio(own, other, *place) for own, other in compared_with]
        row += [number(ratio, ".2f") for ratio in ratios]
        if compared:
            best = summary.best_peer(*place)
            row.append(number(summary.ratio(summary.own[0], best, *place), ".2f"))
        rows.append([size_text(heap), *row])
    return table(header, rows)


def cost_table(summary, packet):
    names = paced(summary)

    def text(name, rate):
        cost = summary.cost(name, packet, rate)
        if cost is None:
            return ""
        per_gigabyte, reached = cost
        if reached < ENOUGH * rate:
            return f"{per_gigabyte:.2f} (only {reached:.0f} MB/s)"
        return f"{per_gigabyte:.2f}"

    rows = [
        [f"{rate:g} MB/s", *(text(name, rate) for name in names)]
        for rate in summary.rates
    ]
    return table(["rate", *names], rows)


def paced(summary):
    seen = {run.program for run in summary.runs if run.rate}
    return [name for name in summary.programs if name in seen]


def memory_table(summary):
    rows = []
    for heap in summary.heaps:
        figures = [summary.memory(name, heap) for name in summary.programs]
        rows.append([size_text(heap), *(number(each, ",.0f") for each in figures)])
    return table(["heap", *summary.programs], rows)


def facts(network, command, rounds):
    return table(
        ["", ""],
        [
            ["processor", f"{processor()}, {os.cpu_count()} CPUs"],
            ["kernel", f"{platform.system()} {platform.release()}"],
            ["GNU Radio", gnuradio_version()],
            ["spead2", spead2_version()],
            ["network", network.description],
            ["command", f"`{shlex.join(command)}`"],
            ["rounds", str(rounds)],
        ],
    ).replace("---:", "---")


def throughput_part(summary):
    parts = [
        "## Throughput\n",
        "MB/s of samples, the median of the rounds; `limit` sends packets that lie "
        "ready, with a copy\nin the kernel; no SPEAD, and all bytes of UDP payload "
        "count. Senders without that copy can\nbe above it. Ratios are medians of the "
        "ratios in each round. This is what a sender can push,\nnot what a receiver "
        "takes.\n",
        "![Throughput over heap size](throughput.svg)\n",
    ]
    for packet in summary.packets:
        parts.append(f"### Packets of {packet} bytes\n")
        parts.append(throughput_table(summary, packet))
        flat = {name: summary.flatness(name, packet) for name in summary.own}
        parts += [
            f"The slowest heap size of {name} is at {part:.2f} of its fastest.\n"
            for name, part in flat.items()
            if part
        ]
    spread = summary.spread()
    if spread is not None:
        parts.append(f"Rounds differ by {spread:.0%} (median of all cells).\n")
    return parts


def cost_part(summary):
    heaps = sorted({size_text(run.heap) for run in summary.runs if run.rate})
    parts = [
        "## CPU time at a rate\n",
        f"Seconds per GB of samples, user and system, heaps of {', '.join(heaps)}: the "
        "difference of a\nlong and a short run, without what starting costs. "
        "`network.udp_sink` is paced by a throttle\nblock in front of it.\n",
        "![CPU time over rate](cpu.svg)\n",
    ]
    for packet in summary.rated_packets:
        parts += [f"### Packets of {packet} bytes\n", cost_table(summary, packet)]
    return parts


def markdown(summary, network, command, failures):
    parts = ["# Senders compared\n", facts(network, command, summary.rounds)]
    if summary.packets:
        parts += throughput_part(summary)
    if summary.rates:
        parts += cost_part(summary)
    if summary.packets:
        parts += [
            "## Memory\n",
            "Peak resident memory in MiB, the highest of all unpaced runs. Linux "
            "counts\nsweep.py itself in, so that no figure is less than its own.\n",
            memory_table(summary),
        ]
    if failures:
        parts += [
            "## What failed\n",
            "".join(f"- {line}\n" for line in failures),
        ]
    return "\n".join(parts)
