#!/usr/bin/env python3
# Copyright 2026 The gr-spead authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Send what a USRP receives as heaps of complex 8-bit samples with its own time: tags
tell the sink when the first sample was, and when some were lost. With --tone, a signal
and a clock of this program take its place."""

import argparse
import fractions
import sys
import time

import numpy as np
import pmt
from gnuradio import analog, blocks, gr, spead
from rtlsdr_to_spead import FULL_SCALE, run_to_end


def usrp(args):
    """The receiver itself, its clock set to that of this host."""
    from gnuradio import uhd  # only here: a tone needs no UHD

    source = uhd.usrp_source(args.device, uhd.stream_args("fc32", channels=[0]))
    source.set_samp_rate(float(args.sample_rate))
    rate = source.get_samp_rate()
    if rate != float(args.sample_rate):
        raise ValueError(f"sample_rate = {args.sample_rate}: the nearest is {rate}")
    source.set_center_freq(args.frequency)
    source.set_gain(args.gain)
    source.set_time_now(uhd.time_spec(time.time()))
    return [source]


class Clock(gr.sync_block):
    """Tells the time of the first sample, as a USRP does."""

    def __init__(self, seconds):
        gr.sync_block.__init__(self, "clock", [np.complex64], [np.complex64])
        self.seconds = fractions.Fraction(seconds)

    def work(self, inputs, outputs):
        if self.nitems_written(0) == 0:
            whole = int(self.seconds)
            rest = float(self.seconds - whole)
            value = pmt.make_tuple(pmt.from_uint64(whole), pmt.from_double(rest))
            self.add_item_tag(0, 0, pmt.intern("rx_time"), value)
        outputs[0][:] = inputs[0]
        return len(outputs[0])


def tone(args):
    """A tenth of the sample rate above the centre, in real time, from --start on."""
    rate = float(args.sample_rate)
    ticks = round(fractions.Fraction(time.time_ns(), 10**9) * args.sample_rate)
    return [
        analog.sig_source_c(rate, analog.GR_COS_WAVE, rate / 10, 0.5),
        blocks.throttle(gr.sizeof_gr_complex, rate),
        Clock(args.start or ticks / args.sample_rate),
    ]


class UhdToSpead(gr.top_block):
    """source -> (head) -> SPEAD sink"""

    def __init__(self, chain, args):
        super().__init__("uhd_to_spead", catch_exceptions=True)
        self.chain = chain  # kept: the flow graph does not keep blocks of Python
        if args.samples:
            chain.append(blocks.head(gr.sizeof_gr_complex, args.samples))
        self.sink = spead.sink(
            args.destination,
            heap_samples=args.heap_samples,
            heap_address_bits=48,
            input_type="complex",
            scale=FULL_SCALE,
            timestamp_source="rx_time",
            sample_rate=(args.sample_rate.numerator, args.sample_rate.denominator),
            sync_time=args.sync_time,
            on_gap=args.on_gap,
            when_full="block" if args.tone else "drop",
            descriptor_interval=1,
        )
        self.connect(*chain, self.sink)


def parse(argv):
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("destination", help="host:port")
    parser.add_argument("--device", metavar="ARGS", default="", help="as UHD takes it")
    parser.add_argument("--tone", action="store_true", help="no USRP")
    parser.add_argument(
        "--start", metavar="S", type=fractions.Fraction, help="time of the tone; now"
    )
    parser.add_argument("--frequency", metavar="HZ", type=float, default=1420.4e6)
    parser.add_argument(
        "--sample-rate",
        metavar="HZ",
        type=fractions.Fraction,
        default=fractions.Fraction(4_000_000),
        help="exact, such as 100000000/3",
    )
    parser.add_argument("--gain", metavar="DB", type=float, default=30)
    parser.add_argument(
        "--sync-time", metavar="S", default="0", help="time of tick 0, since 1970"
    )
    parser.add_argument(
        "--on-gap", choices=["realign", "zero_fill", "ignore"], default="realign"
    )
    parser.add_argument("--heap-samples", metavar="N", type=int, default=4096)
    parser.add_argument("--samples", metavar="N", type=int, help="then end")
    return parser.parse_args(argv)


def main(argv=None):
    args = parse(argv)
    try:
        flow_graph = UhdToSpead((tone if args.tone else usrp)(args), args)
    except (ImportError, OSError, ValueError, RuntimeError) as error:
        sys.exit(f"uhd_to_spead.py: {error}")
    return run_to_end(flow_graph)


if __name__ == "__main__":
    sys.exit(main())
