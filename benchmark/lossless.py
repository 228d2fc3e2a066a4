#!/usr/bin/env python3
# Copyright 2026 The gr-spead authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Find the highest pace that a receiver takes without loss, and compare senders.

A receiver and a sender run on loopback, again and again, at different rates. A rate
passes if the kernel dropped nothing, and if the receiver, where it writes a summary,
says that all is there. The highest is found by bisection; senders take turns in that,
and in several rounds. What counts is not the rate that was asked for, but the UDP
payload that the loopback device passed on in a second.
"""

import shlex
import sys
import tempfile
from pathlib import Path
from statistics import median
from string import Template

from arguments import packet_size, parser, port, positive, saying_why, several, size
from interrupts import run
from measure import Cell, Failure, heaps_for, run_to_end
from options import peer
from private_network import Network, NetworkError, new_namespace, possible
from programs import BUILD, built_in
from receiver_process import Receiver, parse_receiver
from search import Search
from udp_losses import LoopbackRate, losses

HOST = "127.0.0.1"
RECEIVE = Path(__file__).resolve().parents[1] / "examples" / "receive.py"
RECEIVER = shlex.join([sys.executable, str(RECEIVE)]) + " {port} --heap-samples {heap}"
FIRST_STEP, STEP = 2, 1.15  # what the first guess, and one after a round, may be off by

EPILOG = """
The senders that come with it are those of sweep.py that have a rate; others, and other
receivers, are commands with placeholders:

  --sender 'spead2=spead2_send --heaps {heaps} --heap-size {heap} --packet {packet}
            --rate {rate_gbps} {host}:{port}'
  --receiver 'spead2_recv --quiet --packet {packet} 127.0.0.1:{port}'

Those of senders are in sweep.py --help, those of receivers are {port}, {heap}, {heaps},
{packet} and {json}, a file for a summary like that of receive.py. The default receiver
has that, and so it must know the items: a timestamp 0x1600 and samples 0x3300. For
others, as those of spead2_send, leave out {json}: then what the kernel drops decides.

  --receiver '$receiver'

As root, it runs in a network of its own. Without, what is dropped of the traffic of
others counts as well.
"""


def attempt(args, sender, rate, summary):
    """Send at a rate in MB/s; whether all arrived, and MB/s on loopback."""
    heaps = heaps_for(rate, Cell(args.packet, args.heap, rate, args.seconds))
    shape = {"heaps": heaps, "heap": args.heap, "packet": args.packet}
    command = sender.fill(
        **shape,
        seconds=args.seconds,
        rate=rate,
        network=Network("loopback", HOST, args.port),
    )
    receiver = Receiver(args.receiver, port=args.port, json=summary, **shape)
    before = losses()
    with receiver, LoopbackRate() as loopback:
        run_to_end(command, patience=30 + 20 * args.seconds)
    lost = losses() - before
    reached = loopback.rate()
    if reached is None:
        raise Failure("what it sent was too little to tell the rate")
    return lost == 0 and receiver.complete(), reached / 1e6


def search_round(args, guesses, step, summary):
    """A search for each sender, in turns; the searches, by name."""
    searches = {
        sender.name: Search(guesses[sender.name], step, args.resolution)
        for sender in args.senders
    }
    while any(search.rate for search in searches.values()):
        for sender in args.senders:
            search = searches[sender.name]
            if not search.rate:
                continue
            rate = search.rate
            try:
                passed, reached = attempt(args, sender, rate, summary)
            except Failure as failure:
                raise Failure(f"with {sender.name}: {failure}") from None
            search.tell(passed, reached)
            result = "passed" if passed else "lost some"
            speed = f"{rate:8.1f} MB/s, {reached:8.1f} in fact"
            print(f"  {sender.name:16} {speed}: {result}", flush=True)
    return searches


def table(rounds):
    """Lines: a sender, its MB/s by round, the median, and how the first compares."""
    first = next(iter(rounds[0]))
    numbers = "".join(f"{f'round {number + 1}':>9}" for number in range(len(rounds)))
    yield f"{'MB/s without loss':18}{numbers}   median  {first} to it"
    for name in rounds[0]:
        results = [found[name] for found in rounds]
        ratios = [found[first] / found[name] for found in rounds if found[name]]
        yield (
            f"{name:18}"
            + "".join(f"{result:9.1f}" for result in results)
            + f"{median(results):9.1f}"
            + (f"{median(ratios):9.3f}" if ratios else "")
        )


def parse(argv):
    options = parser(__doc__, epilog=Template(EPILOG).substitute(receiver=RECEIVER))
    options.add_argument(
        "--receiver",
        metavar="COMMAND",
        type=saying_why(parse_receiver),
        default=RECEIVER + " --expect-heaps {heaps} --json {json}",
        help="default: examples/receive.py, which checks each heap",
    )
    options.add_argument(
        "--sender", metavar="NAME=COMMAND", type=peer, action="append", default=[]
    )
    options.add_argument(
        "--programs",
        metavar="NAMES",
        type=several(str.strip),
        default=["gr-spead"],
        help="senders that come with it; default: gr-spead",
    )
    options.add_argument("--heap", type=size, default=65536, help="default: 64k")
    options.add_argument(
        "--packet", type=packet_size, default=1472, help="default: 1472"
    )
    options.add_argument("--rounds", type=positive(int), default=3, help="default: 3")
    options.add_argument(
        "--seconds", type=positive(float), default=1, help="of sending; default: 1"
    )
    options.add_argument(
        "--guess", metavar="MB/S", type=positive(float), default=400, help="to begin"
    )
    options.add_argument(
        "--resolution", type=positive(float), default=0.03, help="default: 0.03"
    )
    options.add_argument("--port", type=port, default=7148)
    options.add_argument(
        "--build", metavar="DIR", type=Path, default=BUILD, help="of send_perf"
    )
    args = options.parse_args(argv)
    known = {program.name: program for program in built_in(args.build)}
    if unknown := set(args.programs).difference(known):
        options.error(f"no program {', '.join(unknown)}")
    args.senders = [*(known[name] for name in args.programs), *args.sender]
    if not args.senders:
        options.error("no sender to run")
    for sender in args.senders:
        if not sender.paces:
            options.error(f"{sender.name} has no {{rate}}")
        if lack := sender.lacks():
            options.error(f"{sender.name} needs {lack}")
    return args


def search_rounds(args):
    """The rounds, as they are done: what each sender reached, by name."""
    with tempfile.TemporaryDirectory() as folder:
        guesses = {sender.name: args.guess for sender in args.senders}
        for number in range(args.rounds):
            print(f"round {number + 1} of {args.rounds}", flush=True)
            step = STEP if number else FIRST_STEP
            done = search_round(args, guesses, step, f"{folder}/summary")
            guesses = {name: done[name].passed or args.guess for name in done}
            yield {name: done[name].reached or 0 for name in done}


def main(argv=None):
    args = parse(argv)
    rounds = []
    try:
        if possible():
            new_namespace()
        for found in search_rounds(args):
            rounds.append(found)
    except (OSError, NetworkError, Failure) as error:
        sys.exit(f"lossless.py: {error}")
    finally:
        # a failure, or Ctrl-C, does not undo the rounds before it
        if rounds:
            print("\n".join(table(rounds)), flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(run(main))
