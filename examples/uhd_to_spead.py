#!/usr/bin/env python3
# Copyright 2026 The gr-spead authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Send complex 8-bit samples of a USRP as SPEAD heaps, timestamped by its clock. With
--tone, send a test signal instead, timestamped by the clock of this host."""

import fractions
import sys
import time

import numpy as np
import pmt
from common.arguments import option, seconds
from common.sender_program import radio_parser, run, tone
from gnuradio import blocks, gr, spead


def usrp(args):
    """The radio, with its clock set from this host."""
    from gnuradio import uhd  # optional: the tone needs no UHD

    source = uhd.usrp_source(args.device, uhd.stream_args("fc32", channels=[0]))
    source.set_samp_rate(float(args.sample_rate))
    rate = source.get_samp_rate()
    if rate != float(args.sample_rate):
        raise ValueError(f"sample_rate = {args.sample_rate}: the nearest is {rate}")
    source.set_center_freq(float(args.frequency))
    source.set_gain(args.gain)
    source.set_time_now(uhd.time_spec(time.time()))
    return [source]


class TimeTag(gr.sync_block):
    """Tags the first sample with its time, like a USRP."""

    def __init__(self, seconds):
        gr.sync_block.__init__(self, "time_tag", [np.complex64], [np.complex64])
        self.seconds = fractions.Fraction(seconds)

    def work(self, inputs, outputs):
        if self.nitems_written(0) == 0:
            whole = int(self.seconds)
            rest = float(self.seconds - whole)
            value = pmt.make_tuple(pmt.from_uint64(whole), pmt.from_double(rest))
            self.add_item_tag(0, 0, pmt.intern("rx_time"), value)
        outputs[0][:] = inputs[0]
        return len(outputs[0])


def tagged_tone(args):
    ticks = round(fractions.Fraction(time.time_ns(), 10**9) * args.sample_rate)
    start = ticks / args.sample_rate if args.start is None else args.start
    return [*tone(float(args.sample_rate)), TimeTag(start)]


class UhdToSpead(gr.top_block):
    """source -> (head) -> SPEAD sink"""

    def __init__(self, chain, args):
        super().__init__("uhd_to_spead", catch_exceptions=True)
        # The flow graph does not keep Python blocks alive.
        self.chain = chain
        if args.samples:
            chain.append(blocks.head(gr.sizeof_gr_complex, args.samples))
        self.sink = spead.sink(
            args.destination,
            heap_samples=args.heap_samples,
            heap_address_bits=48,
            input_type="complex",
            sample_rate=(args.sample_rate.numerator, args.sample_rate.denominator),
            sync_time=args.sync_time,
            on_gap=args.on_gap,
            when_full="block" if args.tone else "drop",
            interface=args.interface,
        )
        self.connect(*chain, self.sink)


def parse(argv):
    parser, _ = radio_parser(__doc__, sample_rate="4M")
    option(
        parser, "--device ARGS", str, "UHD device arguments (default: first device)", ""
    )
    option(
        parser,
        "--start S",
        seconds,
        "start time of the tone, in seconds since 1970 (default: now)",
    )
    option(parser, "--gain DB", float, "gain in dB", 30)
    option(
        parser,
        "--sync-time S",
        str,
        "time of tick 0, in seconds since 1970 (default: that of the start, in whole"
        " seconds)",
    )
    parser.add_argument(
        "--on-gap",
        choices=["realign", "zero_fill"],
        default="realign",
        help="what to do if samples are missing (default: %(default)s)",
    )
    args = parser.parse_args(argv)
    if args.sync_time is None:
        # Timestamps since 1970 would exceed 48 bits.
        args.sync_time = str(int(time.time() if args.start is None else args.start))
    return args


def main(argv=None):
    args = parse(argv)
    try:
        flow_graph = UhdToSpead((tagged_tone if args.tone else usrp)(args), args)
    except (ImportError, OSError, ValueError, RuntimeError) as error:
        sys.exit(f"uhd_to_spead.py: {error}")
    print("sync_time:", args.sync_time, flush=True)
    return run(flow_graph)


if __name__ == "__main__":
    sys.exit(main())
