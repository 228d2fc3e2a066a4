#!/usr/bin/env python3
# Copyright 2026 The gr-spead authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Receive the channelised voltages of a MeerKAT F-engine, and draw the spectrum and the
waterfall of both polarisations."""

import argparse
import sys

from common.arguments import in_options, option, positive, seconds
from common.progress import run_to_end
from common.waterfall import Spectra, draw
from gnuradio import blocks, gr, spead


class Receiver(gr.top_block):
    """SPEAD source -> power -> spectra of each polarisation"""

    def __init__(self, args):
        super().__init__("receive_f_engine", catch_exceptions=True)
        part = args.channels // args.substreams
        self.source = spead.source(
            args.endpoint,
            output_type="complex",
            axes=f"frequency={part}/{args.channels}, time={args.spectra}, pol=2",
            timestamp_step=2 * args.channels * args.spectra,  # of a digitiser
            timeout=float(args.timeout),
            interface=args.interface,
        )
        self.pols = [Spectra(args.channels) for _ in range(2)]
        for i, spectra in enumerate(self.pols):
            power = blocks.complex_to_mag_squared(args.channels)
            self.connect((self.source, i), power, spectra)


def parse(argv):
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("endpoint", help="address:port, or several, comma-separated")
    parser.add_argument("picture", help="file for the picture, such as spectra.png")
    option(parser, "--channels N", positive, "channels", 256)
    option(parser, "--substreams N", positive, "substreams", 4)
    option(parser, "--spectra N", positive, "spectra per heap", 256)
    option(parser, "--timeout S", seconds, "end after this time without packets", "60")
    option(parser, "--interface NAME", str, "network interface", "")
    args = parser.parse_args(argv)
    if args.channels % args.substreams:
        parser.error("--channels must be a multiple of --substreams")
    return args


def main(argv=None):
    args = parse(argv)
    try:
        flow_graph = Receiver(args)
    except (OSError, ValueError, RuntimeError) as error:
        sys.exit(f"receive_f_engine.py: {error}")
    run_to_end(flow_graph, flow_graph.source)
    stats = flow_graph.source.stats()
    if not stats["samples_out"]:
        axes = "--channels, --substreams and --spectra"
        sys.exit(f"receive_f_engine.py: {in_options(stats['status'], axes=axes)}")
    pols = flow_graph.pols
    draw(args.picture, polarisation_0=pols[0], polarisation_1=pols[1])
    spectra = pols[0].spectra
    missing = stats["samples_missing"] / stats["samples_out"]
    print(f"{spectra:,} spectra, {missing:.2%} of the samples missing: {args.picture}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
