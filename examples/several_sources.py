#!/usr/bin/env python3
# Copyright 2026 The gr-spead authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Receive the channelised voltages of a MeerKAT F-engine with several sources, each
with a thread of its own for a part of the channels. Joins the parts, and writes the
power of each polarisation, integrated over a heap, to FILE.0 and FILE.1 (floats)."""

import argparse
import resource
import sys

from common.arguments import integer, option, positive, seconds
from common.progress import run_to_end
from gnuradio import blocks, gr, spead

FLOAT, COMPLEX = 4, 8  # bytes


class SeveralSources(gr.top_block):
    """SPEAD sources -> joined spectra -> integrated power -> files"""

    def __init__(self, args):
        super().__init__("several_sources", catch_exceptions=True)
        count = len(args.endpoints)
        size = args.channels // count  # channels of a source
        self.sources = [
            self.part(args, endpoint, range(i * size, (i + 1) * size))
            for i, endpoint in enumerate(args.endpoints)
        ]
        for pol in range(2):
            # a vector of each source in turn, which are one vector
            join = blocks.stream_mux(size * COMPLEX, [1] * count)
            for i, source in enumerate(self.sources):
                self.connect((source, pol), (join, i))
            self.connect(
                join,
                blocks.stream_to_vector(size * COMPLEX, count),
                blocks.complex_to_mag_squared(args.channels),
                blocks.integrate_ff(args.spectra, args.channels),
                blocks.file_sink(args.channels * FLOAT, f"{args.file}.{pol}"),
            )

    @staticmethod
    def part(args, endpoint, channels):
        width = args.channels // args.substreams  # channels of a heap
        return spead.source(
            endpoint,
            output_type="complex",
            items=[
                spead.timestamp(),
                spead.immediate(0x4103, "frequency", list(channels[::width])),
                spead.samples(0x4300),
            ],
            axes=f"frequency={width}/{len(channels)}, time={args.spectra}, pol=2",
            timestamp_step=2 * args.channels * args.spectra,  # of a digitiser
            timestamp_start=args.start,
            timeout=float(args.timeout),
            interface=args.interface,
        )


def parse(argv):
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("file", help="prefix of the files")
    parser.add_argument(
        "endpoints",
        nargs="+",
        help="of each source, in the order of the channels: address:port, or several,"
        " comma-separated",
    )
    option(parser, "--start TICK", integer, "first timestamp, to align the sources")
    option(parser, "--channels N", positive, "channels", 1024)
    option(parser, "--substreams N", positive, "substreams", 16)
    option(parser, "--spectra N", positive, "spectra per heap", 256)
    option(parser, "--timeout S", seconds, "end after this time without packets", "60")
    option(parser, "--interface NAME", str, "network interface", "")
    args = parser.parse_args(argv)
    if args.channels % args.substreams or args.substreams % len(args.endpoints):
        parser.error(
            "--channels must be a multiple of --substreams, which must be one of the"
            " number of endpoints"
        )
    if args.start is None and len(args.endpoints) > 1:
        parser.error("several sources need --start")
    return args


def main(argv=None):
    args = parse(argv)
    try:
        flow_graph = SeveralSources(args)
    except (OSError, ValueError, RuntimeError) as error:
        sys.exit(f"several_sources.py: {error}")
    run_to_end(flow_graph, flow_graph.sources[0])
    received = [source.stats() for source in flow_graph.sources]
    used = resource.getrusage(resource.RUSAGE_SELF)
    gigabytes = sum(stats["bytes_received"] for stats in received) / 1e9
    print(
        f"{gigabytes:.3f} GB,"
        f" {sum(stats['samples_missing'] for stats in received)} samples missing,"
        f" {(used.ru_utime + used.ru_stime) / max(gigabytes, 1e-9):.2f} s of CPU time"
        " per GB"
    )
    return 0


if __name__ == "__main__":
    sys.exit(main())
