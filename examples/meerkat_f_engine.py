#!/usr/bin/env python3
# Copyright 2026 The gr-spead authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Send noise and a tone as a MeerKAT F-engine does: GNU Radio's polyphase filter bank
divides two polarisations into channels; each substream has a part of them."""

import argparse
import sys
import time
from fractions import Fraction

from common.arguments import integer, option, positive, positive_rate, seconds
from common.endpoints import endpoint_text, endpoints
from common.sender_program import run
from gnuradio import analog, blocks, gr, spead
from gnuradio.fft import window
from gnuradio.filter import firdes, pfb

ANTENNAS = 64  # of MeerKAT
NOISE = 0.1  # standard deviation at the input; full scale of the output is 1


class FEngine(gr.top_block):
    """(noise + tone -> filter bank) of each polarisation -> SPEAD sink"""

    def __init__(self, args):
        super().__init__("meerkat_f_engine", catch_exceptions=True)
        taps = firdes.low_pass(1, args.channels, 0.5, 0.2, window.WIN_HAMMING)
        rate = float(args.sample_rate)
        outputs = []
        for pol in range(2):
            signal = blocks.add_cc()
            noise = analog.noise_source_c(
                analog.GR_GAUSSIAN, NOISE, 2 * args.feng_id + pol
            )
            tone = analog.sig_source_c(
                1, analog.GR_COS_WAVE, args.tone / args.channels, NOISE
            )
            self.connect(noise, (signal, 0))
            self.connect(tone, (signal, 1))
            chain = [signal, blocks.throttle(gr.sizeof_gr_complex, rate)]
            if args.samples:
                chain.append(blocks.head(gr.sizeof_gr_complex, args.samples))
            bank = pfb.channelizer_ccf(args.channels, taps)
            self.connect(*chain, bank)
            vector = blocks.streams_to_vector(gr.sizeof_gr_complex, args.channels)
            for channel in range(args.channels):
                self.connect((bank, channel), (vector, channel))
            gain = blocks.multiply_const_vcc([args.gain] * args.channels)
            self.connect(vector, gain)
            outputs.append(gain)
        part = args.channels // args.substreams
        destinations = [
            endpoint_text(*endpoint) for endpoint in endpoints(args.destination)
        ]
        if len(destinations) == 1:
            destinations *= args.substreams
        # of a digitiser, whose samples are real
        ticks = 2 * args.channels * args.spectra
        # last, because the rest takes seconds, and the timestamps begin now
        self.sink = spead.sink(
            destinations,
            input_type="complex",
            items=[
                spead.timestamp(),
                spead.immediate(0x4101, "feng_id", args.feng_id),
                spead.immediate(0x4103, "frequency", []),
                spead.samples(0x4300, "feng_raw"),
            ],
            axes=f"frequency={part}/{args.channels}, time={args.spectra}, pol=2",
            timestamp_start=first_timestamp(args, ticks),
            timestamp_step=ticks,
            max_packet_size=args.max_packet_size,
            heap_address_bits=48,
            # no F-engine uses the heap counters of another
            heap_id_start=args.feng_id,
            heap_id_step=ANTENNAS,
            descriptors="separate",
            descriptor_interval=5,
            tail="drop",
            interface=args.interface,
        )
        for pol, output in enumerate(outputs):
            self.connect(output, (self.sink, pol))


def first_timestamp(args, ticks):
    """The first multiple of the ticks of a heap from now on, or 0."""
    if args.sync_time is None:
        return 0
    elapsed = Fraction(time.time_ns(), 10**9) - args.sync_time
    return -(-elapsed * 2 * args.sample_rate // ticks) * ticks


def parse(argv):
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument(
        "destination",
        help="host:port of all substreams, or one for each, such as 239.1.2.0+3:7148",
    )
    option(parser, "--channels N", positive, "channels", 256)
    option(parser, "--substreams N", positive, "substreams", 4)
    option(parser, "--spectra N", positive, "spectra per heap", 256)
    option(parser, "--feng-id N", integer, "number of the antenna", 0)
    option(parser, "--sample-rate HZ", positive_rate, "sample rate", "1M")
    option(
        parser,
        "--sync-time S",
        seconds,
        "timestamps count ticks, of half a sample, since this time, in seconds since"
        " 1970 (default: since the first sample)",
    )
    option(parser, "--tone CHANNEL", float, "channel of the tone", 40)
    option(parser, "--gain G", float, "factor before rounding to 8 bits", 1.0)
    option(parser, "--max-packet-size BYTES", positive, "largest packet", 1472)
    option(parser, "--samples N", positive, "end after N samples per polarisation")
    option(parser, "--interface NAME", str, "network interface", "")
    args = parser.parse_args(argv)
    if args.channels % args.substreams:
        parser.error("--channels must be a multiple of --substreams")
    if args.feng_id not in range(ANTENNAS):
        parser.error(f"--feng-id must be 0 to {ANTENNAS - 1}")
    return args


def main(argv=None):
    args = parse(argv)
    try:
        flow_graph = FEngine(args)
    except (OSError, ValueError, RuntimeError) as error:
        sys.exit(f"meerkat_f_engine.py: {error}")
    return run(flow_graph)


if __name__ == "__main__":
    sys.exit(main())
