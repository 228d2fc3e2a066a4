#!/usr/bin/env python3
# Copyright 2026 The gr-spead authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Measure the pacing of the sink: its rate, its bursts, and how it catches up.

Sends at each rate and computes the pace from the kernel's receive timestamps. Then it
pauses the sender, as CPU load might, and measures how the sender catches up.

The longest burst is the maximum of (bytes arrived - 1.05 x rate x time) over all
intervals, which a receiver has to buffer. It may reach twice the burst size: --burst,
or the bytes of 300 us at the rate if that is more.
"""

import argparse
import sys
from array import array
from dataclasses import dataclass

import numpy as np
from arguments import megabytes, packet_size, positive, several
from arrivals import CATCH_UP, Stall, long_run_rate, longest_burst, longest_stall
from private_network import open_loopback, open_private_or_loopback
from sender_process import Sender, SenderError
from stamped_socket import StampedSocket

WARM_UP = 0.1  # s; the token bucket of a new sender is full
BURST_TIME = 300e-6  # s; see burst_size in sink_options.h


@dataclass(frozen=True)
class Pace:
    """The pace at one rate, in bytes and seconds."""

    rate: float
    long_run: float  # rate before the stall
    burst: float  # longest
    arrivals: int
    lost: int  # in packets
    stall: Stall | None

    def row(self):
        error = self.long_run / self.rate - 1
        text = (
            f"{self.rate / 1e6:8g} {self.long_run / 1e6:9.4f}"
            f" {100 * error:+8.4f} % {self.burst:12,.0f}"
            f" {self.arrivals:9} {self.lost:9}"
        )
        if self.stall:
            text += (
                f" {1e3 * self.stall.seconds:8.1f} {self.stall.rate / self.rate:7.4f}"
            )
        return text


HEAD = """\
    rate      long run             longest  arrivals    lost    stall  caught
    MB/s      MB/s      error  burst/bytes           packets       ms   up at
"""


def two_bursts(args, rate):
    """The maximum number of bytes that the sink may send back to back."""
    return 2 * max(args.burst, args.packet, BURST_TIME * rate)


def pace_of(times, sizes, lost, args, rate):
    """The Pace of arrivals."""
    before = (times > times[0] + WARM_UP) & (times < times[0] + args.seconds)
    return Pace(
        rate=rate,
        long_run=long_run_rate(times[before], sizes[before]),
        burst=longest_burst(times, sizes, CATCH_UP * rate),
        arrivals=len(times),
        lost=lost,
        stall=longest_stall(times, sizes, rate, two_bursts(args, rate))
        if args.stall
        else None,
    )


def measure(args, rate, network):
    """Send at a rate; return times and sizes of the arrivals, and the packets lost."""
    with network.far_end():
        sock = StampedSocket(network.host, whole=True)
    sink = {
        "destinations": sock.address,
        "heap_samples": args.heap,
        "max_packet_size": args.packet,
        "burst_size": args.burst,
        "rate": rate,
    }
    times, sizes, packets = array("q"), array("l"), 0
    buffer = bytearray(64)
    with sock, Sender(sink) as sender:
        while (message := sock.receive(buffer)) or sender.running:
            if not message:
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
    arrivals = np.frombuffer(times, np.int64)
    return (arrivals - arrivals[0]) * 1e-9, np.frombuffer(sizes, np.int64), lost


def schedule(sender, args, rate):
    """Schedule the stall and the end of the sender, after the first arrival."""
    if not args.stall:
        sender.after((args.seconds, sender.end))
        return
    # Catching up is only measurable with a backlog above two bursts.
    stall = max(args.stall, 2 * two_bursts(args, rate) / rate)
    sender.after(
        (args.seconds, sender.pause),
        (stall, sender.resume),
        (1.1 * stall / (CATCH_UP - 1), sender.end),
    )


def parse(argv=None):
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    add = parser.add_argument
    add(
        "--rates",
        metavar="MB/S",
        type=several(megabytes),
        default="1,10,100,1000",
        help="rates of UDP payload, default: 1,10,100,1000",
    )
    add("--seconds", type=float, default=12, help="time before the stall, default: 12")
    add("--stall", type=float, default=0.2, help="stall in s, 0: none, default: 0.2")
    add("--heap", type=positive(int), default=8192, help="samples per heap")
    add("--packet", type=packet_size, default=1472, help="bytes per packet")
    add("--burst", type=positive(int), default=65536, help="burst_size, default: 65536")
    add("--loopback", action="store_true", help="use loopback; needs no root")
    return parser.parse_args(argv)


def main(argv=None):
    args = parse(argv)
    network = open_loopback() if args.loopback else open_private_or_loopback("veth")
    print(HEAD, end="")
    for rate in args.rates:
        times, sizes, lost = measure(args, rate, network)
        pace = pace_of(times, sizes, lost, args, rate)
        print(pace.row(), flush=True)


if __name__ == "__main__":
    try:
        main()
    except SenderError as error:
        sys.exit(f"pacing.py: {error}")
