#!/usr/bin/env python3
# Copyright 2026 The gr-spead authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Check the pace of the sink: does it keep to the rate, to the burst size, and after a
stall to 1.05 times the rate?

Sends zeros with the sink, at one rate after another, and looks at the times at which
the kernel received them. In between, the sender is stopped for a moment, as a busy
machine would do. Exits with 1 if the pace is not what it should be.

The longest burst is what goes beyond 1.05 times the rate in any interval, be it short
or long, and so what a receiver has to buffer. It may be two bursts: twice --burst, or
twice what the rate makes in 300 us if that is more.
"""

import sys
from array import array
from dataclasses import dataclass

import numpy as np
from arguments import (
    at_least,
    megabytes,
    number,
    packet_size,
    parser,
    positive,
    several,
)
from arrivals import CATCH_UP, Stall, after_longest_gap, backlog, long_run_rate
from interrupts import run
from private_network import open_loopback, open_private_or_loopback
from sender_process import Sender, SenderError
from stamped_socket import StampedSocket

MOST_ERROR = 0.001  # of the rate
WARM_UP = 0.1  # s; a sender that just started has its bucket full and its ring empty
BURST_TIME = 300e-6  # s of the rate in a burst at most, see burst_size in sink.h
SHORTEST = 0.02  # s; in shorter intervals there is no rate to speak of


@dataclass(frozen=True)
class Pace:
    """What was measured at one rate, in bytes and seconds."""

    rate: float
    bound: float  # of the longest burst
    steady: float  # the long-run rate before the stall
    longest: float  # burst
    arrivals: int
    lost: int  # packets
    stall: Stall | None

    @property
    def error(self):
        return self.steady / self.rate - 1

    def broken(self):
        """What is not as it should be, in words."""
        if abs(self.error) > MOST_ERROR:
            yield f"the rate is {100 * self.error:+.3f} % off"
        if self.longest > self.bound + 1:  # times are whole nanoseconds
            yield f"a burst was {self.longest:,.0f} bytes long"
        if self.stall and self.stall.rate > CATCH_UP * (1 + MOST_ERROR) * self.rate:
            yield f"it caught up at {self.stall.rate / self.rate:.3f} times the rate"
        if self.lost:
            yield f"{self.lost} packets were lost"


def two_bursts(args, rate):
    """Bytes that the sink may send at once."""
    return 2 * max(args.burst, args.packet, BURST_TIME * rate)


def judge(times, sizes, lost, args, rate):
    """The Pace that arrivals have; before the stall, and after it."""
    steady = (times > times[0] + WARM_UP) & (times < times[0] + args.seconds)
    late = backlog(times, sizes, CATCH_UP * rate)
    stall = None
    if args.stall:
        stall = after_longest_gap(times, sizes, rate, two_bursts(args, rate), SHORTEST)
    return Pace(
        rate=rate,
        bound=two_bursts(args, rate),
        steady=long_run_rate(times[steady], sizes[steady]),
        longest=float(late.max()),
        arrivals=len(times),
        lost=lost,
        stall=stall,
    )


def measure(args, rate, network):
    """Send at a rate; the times in s and sizes of what arrived, and packets lost."""
    options = {
        "heap_samples": args.heap,
        "max_packet_size": args.packet,
        "burst_size": args.burst,
        "gso": args.gso,
        "rate": rate,
    }
    times, sizes = array("q"), array("l")
    packets = 0
    buffer = bytearray(64)
    with network.far_end():
        sock = StampedSocket(network.host, whole=True)
    with (
        sock,
        Sender({"destinations": sock.address, **options}) as sender,
    ):
        while message := sock.receive(buffer) or sender.running:
            if message is True:
                continue
            if not times:
                schedule(sender, args, rate)
            times.append(message.time)
            sizes.append(message.size)
            packets += message.packets
        stats = sender.stats()
    if len(times) < 2:
        raise SenderError("nothing arrived")
    lost = stats["packets_sent"] - packets + stats["packets_dropped"]
    times = np.frombuffer(times, np.int64)
    return (times - times[0]) * 1e-9, np.frombuffer(sizes, np.int64), lost


def schedule(sender, args, rate):
    """Have the sender stall and end, counted from the first arrival."""
    steps = [(args.seconds, sender.end)]
    if args.stall:
        # with less owed there is no catching up to see
        stall = max(args.stall, 2 * two_bursts(args, rate) / rate)
        steps = [
            (args.seconds, sender.pause),
            (stall, sender.resume),
            (stall * 1.1 / (CATCH_UP - 1), sender.end),
        ]
    sender.after(*steps)


HEAD = """\
    rate      long run             longest  arrivals    lost    stall  caught  fastest
    MB/s      MB/s      error  burst/bytes           packets       ms   up at in 20 ms
"""


def line(pace):
    text = (
        f"{pace.rate / 1e6:8g} {pace.steady / 1e6:9.4f} {100 * pace.error:+8.4f} %"
        f" {pace.longest:12,.0f} {pace.arrivals:9} {pace.lost:9}"
    )
    if pace.stall:
        text += (
            f" {1e3 * pace.stall.seconds:8.1f} {pace.stall.rate / pace.rate:7.4f}"
            f" {pace.stall.fastest / pace.rate:8.4f}"
        )
    return text


def open_network(args):
    return open_loopback() if args.loopback else open_private_or_loopback("veth")


def parse(argv):
    options = parser(__doc__)
    options.add_argument(
        "--rates",
        metavar="MB/S",
        type=several(megabytes, least=1),
        default=[1e6, 10e6, 100e6, 1000e6],
        help="of UDP payload; default: 1,10,100,1000",
    )
    options.add_argument(
        "--seconds",
        type=number(float, lambda value: value > WARM_UP, f"above {WARM_UP}"),
        default=12,
        help="before the stall; default: 12",
    )
    options.add_argument(
        "--stall",
        metavar="S",
        type=at_least(float, 0),
        default=0.2,
        help="0 for none; default: 0.2",
    )
    options.add_argument(
        "--heap", type=positive(int), default=8192, help="samples in a heap"
    )
    options.add_argument(
        "--packet", type=packet_size, default=1472, help="bytes in a packet"
    )
    options.add_argument(
        "--burst",
        type=positive(int),
        default=65536,
        help="the burst_size; default: 65536",
    )
    options.add_argument(
        "--no-gso",
        dest="gso",
        action="store_false",
        help="packets one by one; this process keeps up with about 200 MB/s of them",
    )
    options.add_argument(
        "--loopback",
        action="store_true",
        help="needs no root, which a private network (a veth pair) needs",
    )
    return options.parse_args(argv)


def main(argv=None):
    args = parse(argv)
    status = 0
    try:
        network = open_network(args)
        print(HEAD, end="")
        for rate in args.rates:
            pace = judge(*measure(args, rate, network), args, rate)
            print(line(pace), flush=True)
            for trouble in pace.broken():
                print(f"         {trouble}", flush=True)
                status = 1
    except (OSError, ValueError, SenderError) as error:
        sys.exit(f"pacing.py: {error}")
    return status


if __name__ == "__main__":
    sys.exit(run(main))
