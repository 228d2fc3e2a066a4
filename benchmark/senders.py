#!/usr/bin/env python3
# Copyright 2026 The gr-spead authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Compare the throughput and the CPU time of senders.

Each cell of the sweep is a packet size and a heap size. In each round, all programs run
in each cell in random order, to spread changes of the machine evenly. Only senders are
measured: nothing reads the packets.
"""

import argparse
import importlib.util
import random
import shlex
import sys
import time
from collections import Counter
from pathlib import Path

from arguments import packet_size, positive, several, size
from measure import Cell, Failure, Meter
from private_network import (
    KINDS,
    PRIVATE,
    Network,
    NetworkError,
    open_loopback,
    open_private,
    open_private_or_loopback,
)
from programs import BUILD, PLACEHOLDERS, built_in, peer

SEED = 1  # of the order of the programs
# Short and long runs at a rate, in multiples of --seconds. The difference of their CPU
# times excludes the startup.
RATE_LENGTHS = (0.2, 4)
MAX_FAILURES = 2  # per program and packet size

DEFAULTS = {
    "heaps": "8k,16k,64k,256k,1M,4M,16M,64M",
    "rates": "50,100,200,400",
    "seconds": "1",
}
LOOPBACK_DEFAULTS = {"heaps": "8k,64k,1M,16M", "rates": "100,300", "seconds": "0.35"}

EPILOG = """
programs:
  gr-spead          a GNU Radio flow graph of a noise source and the SPEAD sink
  spead2 Python     spead2's Python module, sending reused heaps in batches
  network.udp_sink  the UDP sink of GNU Radio, sending samples without SPEAD
  null sink         a GNU Radio flow graph that sends nothing
  limit             one thread that sends prebuilt packets. The kernel copies them: a
                    sender with MSG_ZEROCOPY can be faster
only if listed in --programs:
  gr-spead 2 inputs, gr-spead 8 destinations, gr-spead float
  Volk              the conversion of float samples to int8 by Volk

peers:
  --peer 'spead2=tut_10_send_reuse_heaps -n {heaps} -H {heap} -p {packet} {host} {port}'
  A peer is a command. The last "123.4 MB/s" that it prints is its speed. It runs
  without a shell, and at --rates only if it has a rate. The placeholders are:

PLACEHOLDERS
a real network card:
  senders.py --to 10.0.0.2:7148 ...
  This sends packets to that address at full speed: use a dedicated link. The address
  needs a receiver with a bound socket, or only an entry in the ARP table:
  ip neigh add 10.0.0.2 lladdr 02:00:00:00:00:01 dev eth1
  --packets may be up to the MTU - 28 for IPv4, such as 1472 and 8972.
"""


def planned_runs(programs, args):
    """Yield the round, the program and the cell of each run, in order."""
    cells = [Cell(p, h, 0, args.seconds) for p in args.packets for h in args.heaps]
    cells += [
        Cell(packet, args.rate_heap, rate, length * args.seconds)
        for packet in args.packets
        for rate in args.rates
        for length in RATE_LENGTHS
    ]
    order = random.Random(SEED)
    for number in range(1, args.rounds + 1):
        for cell in cells:
            suitable = [
                program for program in programs if program.has_rate or not cell.rate
            ]
            for program in order.sample(suitable, len(suitable)):
                yield number, program, cell


def run_all(runs, network, rows):
    """Execute the planned runs, append their results to `rows`, return the failures."""
    meter = Meter(network)
    failed: Counter = Counter()
    messages = []
    begin = time.monotonic()
    for done, (number, program, cell) in enumerate(runs, 1):
        key = (program.name, cell.packet)
        if failed[key] == MAX_FAILURES:
            continue
        row = {"round": number, "network": network.kind, "program": program.name}
        row |= {"packet": cell.packet, "heap": cell.heap, "rate": cell.rate}
        try:
            row |= meter.measure(program, cell)
            result = f"{row['mb_per_s']:9,.0f} MB/s {row['cpu_s']:6.2f} s CPU"
        except Failure as failure:
            failed[key] += 1
            messages.append(
                f"{program.name}, packets of {cell.packet} bytes: {failure}"
            )
            result = f"failed: {failure}"
        rows.append(row)
        pace = f"{cell.rate:g} MB/s" if cell.rate else "unpaced"
        left = (time.monotonic() - begin) / done * (len(runs) - done)
        print(
            f"[{done}/{len(runs)}, {left / 60:.0f} min left] {program.name:16} "
            f"{cell.packet} B packets {cell.heap:8} B heaps, {pace}: {result}",
            flush=True,
        )
    return messages


def choose_programs(args):
    """The programs to run; raises ValueError if a requested program is missing."""
    known = {program.name: program for program in [*built_in(args.build), *args.peer]}
    if args.programs is None:
        names = [name for name, program in known.items() if program.by_default]
        missing = {name: known[name].missing() for name in names}
        for name in filter(missing.get, names):
            print(f"without {name}: {missing[name]} is missing", file=sys.stderr)
        return [known[name] for name in names if not missing[name]]
    names = [*args.programs, *(program.name for program in args.peer)]
    for name in names:
        if name not in known:
            raise ValueError(f"unknown program {name}")
        if missing := known[name].missing():
            raise ValueError(f"{name}: {missing} is missing")
    return [known[name] for name in names]


def address(text):
    """Parse HOST:PORT, with brackets around an IPv6 address."""
    host, _, port = text.rpartition(":")
    if not host:
        raise ValueError
    return Network("card", host.strip("[]"), int(port))


def open_network(args):
    if args.loopback:
        return open_loopback()
    if args.network:
        return open_private(args.network)
    return args.to or open_private_or_loopback("drop")


def parse(argv=None):
    placeholders = "".join(f"    {{{k}}}: {v}\n" for k, v in PLACEHOLDERS.items())
    parser = argparse.ArgumentParser(
        description=__doc__,
        epilog=EPILOG.replace("PLACEHOLDERS", placeholders),
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    add = parser.add_argument
    network = parser.add_mutually_exclusive_group()
    network.add_argument(
        "--network",
        choices=PRIVATE,
        help="private network, needs root: "
        + "; ".join(f"{kind}: {text}" for kind, text in PRIVATE.items())
        + "; default: drop, or loopback without root",
    )
    network.add_argument(
        "--loopback",
        action="store_true",
        help="use loopback; needs no root, takes about two minutes",
    )
    network.add_argument("--to", metavar="HOST:PORT", type=address, help="see below")
    add(
        "--heaps",
        type=several(size),
        help="heap sizes, default: {heaps}, on loopback ".format(**DEFAULTS)
        + LOOPBACK_DEFAULTS["heaps"],
    )
    add("--packets", type=several(packet_size), default="1472,9000")
    add("--programs", metavar="NAMES", type=several(str.strip), help="see below")
    add(
        "--peer",
        metavar="NAME=COMMAND",
        type=peer,
        action="append",
        default=[],
        help="see below",
    )
    add("--rounds", type=positive(int), default=3)
    add("--seconds", type=positive(float), help="approximate duration of a run")
    add(
        "--rates",
        type=several(positive(float)),
        help="rates in MB/s at which to measure CPU time; '' for none",
    )
    add("--rate-heap", type=size, default="1M", help="heap size for --rates")
    add("--output", metavar="DIR", type=Path, default="sweep-results")
    add(
        "--build",
        metavar="DIR",
        type=Path,
        default=BUILD,
        help="directory of send_perf and limit",
    )
    args = parser.parse_args(argv)
    try:
        args.programs = choose_programs(args)
        args.network = open_network(args)
    except (ValueError, NetworkError) as error:
        parser.error(str(error))
    loopback = args.network.kind == "loopback"
    parser.set_defaults(**(LOOPBACK_DEFAULTS if loopback else DEFAULTS))
    defaults = parser.parse_args([])
    for name in DEFAULTS:
        if getattr(args, name) is None:
            setattr(args, name, getattr(defaults, name))
    return args


def main(argv=None):
    for module in ("pandas", "matplotlib"):
        if not importlib.util.find_spec(module):
            sys.exit(f"senders.py: needs Python module {module}")
    args = parse(argv)
    runs = list(planned_runs(args.programs, args))
    if not runs:
        sys.exit("senders.py: nothing to measure")
    args.output.mkdir(parents=True, exist_ok=True)
    rows: list = []
    failures = []
    try:
        failures = run_all(runs, args.network, rows)
    finally:
        # Imported late: Linux includes the memory of this process in the peak memory of
        # its children.
        import report

        results = report.data_frame(rows)
        results.to_csv(args.output / "results.csv", index=False)
    command = shlex.join(["senders.py", *(sys.argv[1:] if argv is None else argv)])
    facts = report.facts(KINDS[args.network.kind], command, args.rounds)
    report.write(results, args.programs, facts, failures, args.output)
    print(f"see {args.output / 'report.md'}")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
