#!/usr/bin/env python3
# Copyright 2026 The gr-spead authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Compare how fast programs send: heap sizes x packet sizes x programs, in rounds.

All programs take turns in each cell of the sweep, so that a machine that gets slower or
faster meets all alike, and what counts is the median of the rounds. Figures say what a
sender can push, not what a receiver takes: on a private network and on loopback nobody
reads what arrives.
"""

import csv
import dataclasses
import subprocess
import sys
import time

from interrupts import INTERRUPTED, run
from measure import Cell, Failure, Meter, Run
from options import parse
from private_network import NetworkError, open_network
from report import markdown
from summary import Summary, size_text

# The CPU time of starting is that of both; the longer the rest, the less it matters how
# much it varies.
RATE_LENGTHS = (0.2, 4)  # x seconds


def plan(args):
    """What to run, in order: round, program, cell."""
    free = [
        Cell(packet, heap, seconds=args.seconds)
        for packet in args.packets
        for heap in args.heaps
    ]
    paced = [
        Cell(packet, args.rate_heap, rate, part * args.seconds)
        for packet in args.packets
        for rate in args.rates
        for part in RATE_LENGTHS
    ]
    return [
        (number, program, cell)
        for number in range(1, args.rounds + 1)
        for cell in free + paced
        for program in args.programs
        if program.paces or not cell.rate
    ]


class Sweep:
    """Runs what is planned, shows how it goes, and keeps the results."""

    GIVE_UP = 2  # failures of a program at a packet size

    def __init__(self, steps, meter, table):
        self.steps = steps
        self.meter = meter
        self.writer = csv.writer(table)
        self.table = table
        self.runs = []
        self.failures = {}  # how many, by program and packet size
        self.said = []  # what failed, once for each

    def run(self):
        self.writer.writerow(field.name for field in dataclasses.fields(Run))
        begin = time.monotonic()
        for done, (number, program, cell) in enumerate(self.steps):
            key = (program.name, cell.packet)
            if self.failures.get(key, 0) >= self.GIVE_UP:
                continue
            try:
                run = self.meter.measure(number, program, cell)
                result = f"{run.mb_per_s:9,.0f} MB/s {run.cpu_s:6.2f} s CPU"
            except Failure as failure:
                run = failed_run(number, program, cell, self.meter.network)
                result = "   failed" + " " * 16
                self.note(key, failure)
            self.keep(run)
            passed = time.monotonic() - begin
            left = passed / (done + 1) * (len(self.steps) - done - 1)
            pace = f" at {cell.rate:g} MB/s" if cell.rate else ""
            print(
                f"[{done + 1:{len(str(len(self.steps)))}}/{len(self.steps)}] "
                f"{program.name:16} {cell.packet:5} B packets "
                f"{size_text(cell.heap):>7} heaps {result}  "
                f"{left / 60:2.0f}:{left % 60:02.0f} left{pace}",
                flush=True,
            )

    def keep(self, run):
        self.runs.append(run)
        self.writer.writerow("" if v is None else v for v in dataclasses.astuple(run))
        self.table.flush()

    def note(self, key, failure):
        if key not in self.failures:
            name, packet = key
            print(f"{name}: {failure}", file=sys.stderr)
            last = str(failure).splitlines()[-1]
            self.said.append(f"{name}, packets of {packet} bytes: {last}")
        self.failures[key] = self.failures.get(key, 0) + 1


def failed_run(number, program, cell, network):
    place = (network.kind, program.name, cell.packet, cell.heap, cell.rate)
    return Run(number, *place)


def write_report(args, sweep, network, command):
    summary = Summary(sweep.runs, args.programs)
    text = markdown(summary, network, command, sweep.said)
    (args.output / "report.md").write_text(text)
    # Here, as what is large in this process would count as the programs' memory.
    from plots import draw_cost, draw_throughput

    if summary.packets:
        draw_throughput(summary, args.output / "throughput.svg")
    if summary.rates:
        draw_cost(summary, args.output / "cpu.svg")


def lacks_matplotlib():
    """What is wrong with it, or None; asked elsewhere, see write_report()."""
    asked = subprocess.run(
        [sys.executable, "-c", "import matplotlib.figure"],
        capture_output=True,
        text=True,
        check=False,
    )
    return asked.stderr.strip().splitlines()[-1] if asked.returncode else None


def main(argv=None):
    argv = sys.argv[1:] if argv is None else argv
    args = parse(__doc__, argv)
    steps = plan(args)
    if not steps:
        sys.exit("sweep.py: there is nothing to measure: no --heaps, and no rates")
    # Now, not when minutes of measuring are over.
    if lack := lacks_matplotlib():
        hint = "apt-get install python3-matplotlib, or pip install matplotlib"
        sys.exit(f"sweep.py: it draws with matplotlib: {lack} ({hint})")
    try:
        network = args.to or open_network(args.network)
    except (OSError, NetworkError) as error:
        sys.exit(f"sweep.py: --network {args.network}: {error}")
    args.output.mkdir(parents=True, exist_ok=True)
    status = 0
    with open(args.output / "results.csv", "w", newline="") as table:
        sweep = Sweep(steps, Meter(network), table)
        try:
            sweep.run()
        except KeyboardInterrupt:
            print("interrupted; writing what was measured", file=sys.stderr)
            status = INTERRUPTED
    write_report(args, sweep, network, ["sweep.py", *argv])
    print(f"see {args.output / 'report.md'}")
    return status or (1 if sweep.failures else 0)


if __name__ == "__main__":
    sys.exit(run(main))
