# Copyright 2026 The gr-spead authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""What one can tell sweep.py."""

import sys
from pathlib import Path
from string import Template

from arguments import packet_size, parser, port, positive, saying_why, several, size
from private_network import KINDS, Network, possible
from programs import BUILD, PLACEHOLDERS, built_in, parse_peer

EPILOG = """
programs:
  gr-spead          a GNU Radio flow graph of a source of noise and the sink
  spead2 Python     spead2's Python module, heaps reused, in batches
                    (of the same samples: nothing writes or copies them)
  network.udp_sink  the sink that comes with GNU Radio: samples, no SPEAD
  null sink         what GNU Radio itself passes along, to compare with; sends nothing
  limit             one thread that sends packets that lie ready: the most there is with
                    a copy in the kernel; who has the device read its memory instead
                    (MSG_ZEROCOPY), as gr-spead, can be above that

Python programs run with the interpreter that runs this one; from the sources that is
.venv/bin/python, which has spead2.

peers:
  --peer 'spead2=tut_10_send_reuse_heaps -n {heaps} -H {heap} -p {packet} {host} {port}'
  A peer is any command that prints its speed, as "123.4 MB/s", last. In it stand

$placeholders
  It takes part in --rates if {rate} or {rate_gbps} is in it. No shell is involved.

a real card:
  sweep.py --to 10.0.0.2:7148 ...
  Packets go to whoever has that address, at full speed: mind who shares the link. There
  must be a receiver (a bound socket will do) that sends no ICMP errors, or an address
  that only exists in the ARP table (ip neigh add 10.0.0.2 lladdr 02:00:00:00:00:01
  dev eth1). The link is then the limit: a 10 Gb/s card takes 1.2 GB/s, and CPU time is
  what differs. Packet sizes are to fit: MTU - 28 for IPv4, such as 1472 and 8972.
"""


@saying_why
def address(text):
    """HOST:PORT, the host in brackets if it is of IPv6."""
    host, _, port_text = text.rpartition(":")
    if not host:
        raise ValueError(f"{text!r} is not HOST:PORT")
    return Network("card", host.strip("[]"), port(port_text))


peer = saying_why(parse_peer)


# Loopback is for a look without root, in about two minutes.
SHORT = {"heaps": "8k,64k,1M,16M", "rates": "100,300", "seconds": 0.35}
FULL = {
    "heaps": "8k,16k,64k,256k,1M,4M,16M,64M",
    "rates": "50,100,200,400",
    "seconds": 1.0,
}
RATE_HEAP = 1 << 20  # where spead2 is at its best


def parse(description, argv):
    placeholders = "".join(f"    {{{k}}}: {v}\n" for k, v in PLACEHOLDERS.items())
    epilog = Template(EPILOG).substitute(placeholders=placeholders)
    options = parser(description, epilog=epilog)
    where = options.add_mutually_exclusive_group()
    where.add_argument(
        "--network",
        choices=["drop", "veth", "cut"],
        help="a private one, for which one needs to be root: "
        + "; ".join(f"{kind}: {KINDS[kind]}" for kind in ("drop", "veth", "cut"))
        + "; default for root, if it can be made: drop",
    )
    where.add_argument(
        "--loopback",
        action="store_true",
        help="needs no root, takes about two minutes; default for others",
    )
    where.add_argument(
        "--to", metavar="HOST:PORT", type=address, help="a real card, see below"
    )
    options.add_argument(
        "--heaps",
        type=several(size),
        help=f"heap sizes; default: {FULL['heaps']}, on loopback {SHORT['heaps']}",
    )
    options.add_argument(
        "--packets",
        type=several(packet_size, least=1),
        help="packet sizes; default: 1472,9000",
    )
    options.add_argument(
        "--programs",
        metavar="NAMES",
        type=several(str.strip),
        help="of those below, separated by commas; default: all that are there, but "
        "for those of special cases",
    )
    options.add_argument(
        "--peer",
        metavar="NAME=COMMAND",
        type=peer,
        action="append",
        default=[],
        help="one more program, see below",
    )
    options.add_argument("--rounds", type=positive(int), default=3)
    options.add_argument(
        "--seconds",
        type=positive(float),
        help=f"that a run takes, about; default: {FULL['seconds']:g}, "
        f"on loopback {SHORT['seconds']:g}",
    )
    options.add_argument(
        "--rates",
        type=several(positive(float)),
        help="MB/s at which to measure CPU time; '' for none; "
        f"default: {FULL['rates']}, on loopback {SHORT['rates']}",
    )
    options.add_argument(
        "--rate-heap", type=size, default=RATE_HEAP, help="the heap size for --rates"
    )
    options.add_argument(
        "--output", metavar="DIR", type=Path, default=Path("sweep-results")
    )
    options.add_argument(
        "--build",
        metavar="DIR",
        type=Path,
        default=BUILD,
        help="where send_perf and limit are",
    )
    args = options.parse_args(argv)
    default_network(args)
    defaults = SHORT if args.network == "loopback" else FULL
    if args.heaps is None:
        args.heaps = several(size)(defaults["heaps"])
    if args.packets is None:
        args.packets = [1472, 9000]
    if args.rates is None:
        args.rates = several(float)(defaults["rates"])
    if args.seconds is None:
        args.seconds = defaults["seconds"]
    try:
        args.programs = choose_programs(args)
    except ValueError as error:
        options.error(str(error))
    return args


def default_network(args):
    if args.loopback:
        args.network = "loopback"
    elif not (args.network or args.to):
        args.network = "drop" if possible("drop") else "loopback"


def choose_programs(args):
    """What to run; ValueError if something that was asked for is not there."""
    known = {program.name: program for program in built_in(args.build)}
    for extra in args.peer:
        if extra.name in known:
            raise ValueError(f"there already is a program {extra.name}")
        known[extra.name] = extra
    asked = args.programs
    if asked is not None:
        asked = [*asked, *(extra.name for extra in args.peer)]
        if unknown := set(asked).difference(known):
            raise ValueError(f"no program {', '.join(unknown)}; see --help")
    chosen = []
    for name, program in known.items():
        if not program.by_default if asked is None else name not in asked:
            continue
        lack = program.lacks()
        if lack is None:
            chosen.append(program)
        elif asked is not None:
            raise ValueError(f"{name} needs {lack}")
        else:
            print(f"left out, {lack} is not there: {name}", file=sys.stderr)
    if not chosen:
        raise ValueError("no program to run")
    return chosen
