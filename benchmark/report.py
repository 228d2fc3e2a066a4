# Copyright 2026 The gr-spead authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Writes the results of senders.py as Markdown: speeds, ratios, CPU time and memory."""

import importlib.metadata
import os
import platform
import re
import subprocess

import pandas as pd
from plots import draw_cpu, draw_throughput, size_text

CONDITIONS = ["round", "network", "program", "packet", "heap", "rate", "heaps"]
FIGURES = ["mb_per_s", "cpu_s", "wall_s", "max_rss_mib"]
CELL = ["packet", "heap"]
REACHED = 0.95  # fraction of a rate above which it counts as reached


def data_frame(rows):
    """A row per run; the figures of a failed run are empty."""
    types = {"heaps": "Int64", **dict.fromkeys(FIGURES, float)}
    return pd.DataFrame(rows, columns=[*CONDITIONS, *FIGURES]).astype(types)


def by_program(frame, names):
    """The columns of these programs, in this order, as far as they exist."""
    return frame[[name for name in names if name in frame]]


def speeds(results, names):
    """Unpaced speeds in MB/s: a row per cell and round, a column per program."""
    unpaced = results[results.rate == 0]
    table = unpaced.pivot(index=[*CELL, "round"], columns="program", values="mb_per_s")
    return by_program(table.dropna(how="all"), names)


def ratios(ours, theirs):
    """The median, minimum and maximum, over the rounds, of the ratio of speeds."""
    return (ours / theirs).groupby(CELL).agg(["median", "min", "max"])


def best_peers(measured, peers):
    """The speeds of the peer with the highest median in each cell."""
    peers = by_program(measured, peers)
    medians = peers.groupby(CELL).median().dropna(how="all")
    best = medians.idxmax(axis=1)
    cells = peers.groupby(CELL)
    return pd.concat([cells.get_group(cell)[name] for cell, name in best.items()])


def cpu_time(results, names):
    """CPU time in s/GB and the speed reached in MB/s, by packet and rate.

    The CPU time is the difference of a long and a short run, to exclude the startup.
    """
    key = ["packet", "rate", "program"]
    paced = results[(results.rate > 0) & results.mb_per_s.notna()]
    runs = paced.groupby([*key, "heaps"])[["cpu_s", "mb_per_s", "heap"]].median()
    runs = runs.reset_index("heaps").groupby(key)
    short, long = runs.first(), runs.last()
    gigabytes = (long.heaps - short.heaps) * long.heap / 1e9
    per_gigabyte = (long.cpu_s - short.cpu_s) / gigabytes
    return tuple(
        by_program(column.unstack("program"), names)
        for column in (per_gigabyte, long.mb_per_s)
    )


def memory(results, names):
    """The highest resident memory in MiB of all unpaced runs, by heap size."""
    unpaced = results[results.rate == 0]
    table = unpaced.pivot_table("max_rss_mib", "heap", "program", aggfunc="max")
    return by_program(table, names)


def markdown_table(columns, index, name):
    """A Markdown table of text columns, with `index` in the first column, `name`."""
    lines = [[name, *columns], ["---"] + ["---:"] * len(columns)]
    lines += map(list, zip(index, *columns.values(), strict=True))
    return "".join("| " + " | ".join(line) + " |\n" for line in lines)


def texts(column, form):
    return ["" if pd.isna(value) else format(value, form) for value in column]


def ratio_texts(found):
    return [
        ""
        if pd.isna(row["median"])
        else "{median:.2f}".format(**row)
        if row["min"] == row["max"]
        else "{median:.2f} ({min:.2f} to {max:.2f})".format(**row)
        for row in found.to_dict("records")
    ]


def throughput_table(measured, programs, packet):
    """Speeds of all programs and ratios of gr-spead, a row per heap size."""
    speeds = measured.loc[[packet]]
    medians = speeds.groupby(CELL).median()
    columns = {name: texts(medians[name], ",.0f") for name in medians}
    own = [program for program in programs if program.role == "own"]
    for program in own:
        for bound in (program.bound, "limit"):
            if program.name in speeds and bound in speeds:
                found = ratios(speeds[program.name], speeds[bound])
                columns[f"{program.name} / {bound}"] = ratio_texts(found)
                break
    peers = [program.name for program in programs if program.role == "peer"]
    if (
        own
        and own[0].name in speeds
        and by_program(speeds, peers).notna().any(axis=None)
    ):
        found = ratios(speeds[own[0].name], best_peers(speeds, peers))
        found = found.reindex(medians.index)
        columns[f"{own[0].name} / best peer"] = ratio_texts(found)
    heaps = medians.index.get_level_values("heap")
    return markdown_table(columns, map(size_text, heaps), "heap")


def cpu_table(per_gigabyte, reached):
    """CPU time of each program at one packet size, a row per rate."""
    columns = {}
    for name in per_gigabyte:
        cells = texts(per_gigabyte[name], ".2f")
        for row, (rate, speed) in enumerate(reached[name].items()):
            if speed < REACHED * rate:
                cells[row] += f" (only {speed:.0f} MB/s)"
        columns[name] = cells
    rates = [f"{rate:g} MB/s" for rate in per_gigabyte.index]
    return markdown_table(columns, rates, "rate")


def facts(network, command, rounds):
    """The machine, the versions and the command, by name."""
    with open("/proc/cpuinfo") as info:
        processor = re.search(r"model name\s*: (.*)", info.read())
    gnuradio = subprocess.run(
        ["sh", "-c", "gnuradio-config-info --version"], capture_output=True, text=True
    )
    try:
        spead2 = importlib.metadata.version("spead2")
    except importlib.metadata.PackageNotFoundError:
        spead2 = "none"
    return {
        "processor": processor[1] if processor else platform.machine(),
        "CPUs": str(os.cpu_count()),
        "kernel": f"{platform.system()} {platform.release()}",
        "GNU Radio": gnuradio.stdout.strip() or "none",
        "spead2": spead2,
        "network": network,
        "command": f"`{command}`",
        "rounds": str(rounds),
    }


def write(results, programs, facts, failures, folder):
    """Write report.md, throughput.svg and cpu.svg to the folder."""
    names = [program.name for program in programs]
    parts = ["# Comparison of senders", markdown_table({"": facts.values()}, facts, "")]
    measured = speeds(results, names)
    if len(measured):
        draw_throughput(measured.groupby(CELL).median(), folder / "throughput.svg")
        parts += [
            "## Throughput",
            "MB/s of samples, the median of the rounds. `limit` sends prebuilt\n"
            "packets with a copy in the kernel, and counts all UDP payload. A ratio\n"
            "is the median of the ratios of the rounds, with their range.",
            "![Throughput over heap size](throughput.svg)",
        ]
        for packet in measured.index.unique("packet"):
            parts.append(f"### Packets of {packet} bytes")
            parts.append(throughput_table(measured, programs, packet))
    per_gigabyte, reached = cpu_time(results, names)
    if len(per_gigabyte):
        draw_cpu(per_gigabyte, reached, folder / "cpu.svg")
        heap = size_text(results[results.rate > 0].heap.iloc[0])
        parts += [
            "## CPU time at a rate",
            f"Seconds of user and system time per GB of samples, with heaps of {heap}. "
            "A throttle block\npaces `network.udp_sink`.",
            "![CPU time over rate](cpu.svg)",
        ]
        for packet in per_gigabyte.index.unique("packet"):
            parts.append(f"### Packets of {packet} bytes")
            parts.append(cpu_table(per_gigabyte.loc[packet], reached.loc[packet]))
    if len(measured):
        table = memory(results, names)
        columns = {name: texts(table[name], ",.0f") for name in table}
        parts += [
            "## Memory",
            "The highest resident memory in MiB of all unpaced runs. Linux counts the "
            "memory of\nsenders.py, too, which is therefore a lower limit.",
            markdown_table(columns, map(size_text, table.index), "heap"),
        ]
    if failures:
        parts += [
            "## Failures",
            "\n".join(f"- {line}" for line in dict.fromkeys(failures)),
        ]
    (folder / "report.md").write_text("\n\n".join(map(str.strip, parts)) + "\n")
