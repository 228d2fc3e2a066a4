#!/usr/bin/env python3
# Copyright 2026 The gr-spead authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Receive the two polarisations of a MeerKAT digitiser as the F-engine does: chunk
streams of spead2 place each heap by its timestamp and by its polarisation, the lowest
bit of the digitiser ID. Each argument gets a stream with a thread of its own. Ends when
each stream has had an end-of-stream heap, or at Ctrl-C."""

import contextlib
import itertools
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
from common import receiver_program
from common.arguments import integer, integers, option, positive
from common.interrupts import at_interrupt

from instruments.digitiser_stream import DigitiserStream
from instruments.place_heaps import Layout


class PayloadFiles:
    """Writes the payload to PREFIX.0 and PREFIX.1, with zeros for missing heaps."""

    def __init__(self, prefix, stack):
        self.files = receiver_program.payload_files(prefix, 2, stack)

    def write(self, chunk, stream):
        """Write the heaps of a chunk, without those before the first or after the last
        heap of the stream."""
        step = stream.layout.heap_samples
        first = max((stream.first - chunk.timestamp) // step, 0)
        end = (stream.last - chunk.timestamp) // step + 1
        heap = (chunk.timestamp - stream.first) // step + first
        for file, heaps in zip(self.files, chunk.heaps, strict=True):
            file.seek(heap * stream.layout.heap_bytes)
            file.write(heaps[first:end])


def parse(argv):
    parser = receiver_program.parser(__doc__)
    option(parser, "--heap-samples N", positive, "samples, and ticks, in a heap", "4k")
    option(parser, "--sample-bits N", positive, "bits of a packed sample", 8)
    option(
        parser,
        "--digitiser-ids ID,ID",
        integers,
        "accepted digitiser IDs (default: all)",
    )
    option(parser, "--status N", integer, "accepted digitiser status (default: all)")
    parser.add_argument(
        "--lossless",
        action="store_true",
        help="let a stream that is ahead wait for the others",
    )
    option(parser, "--expect-heaps N", positive, "heaps of each polarisation")
    option(parser, "--save PREFIX", str, "write the payload to PREFIX.0 and PREFIX.1")
    return parser.parse_args(argv)


def receive(streams, args):
    """Receive from lists of bound sockets to the end; return the summary, a dict."""
    layout = Layout(
        heap_samples=args.heap_samples,
        sample_bits=args.sample_bits,
        digitiser_ids=args.digitiser_ids,
        status=args.status,
    )
    with contextlib.ExitStack() as stack:
        files = PayloadFiles(args.save, stack) if args.save else None
        stream = stack.enter_context(DigitiserStream(streams, layout, args.lossless))
        stack.enter_context(at_interrupt(stream.end))
        receiver_program.print_endpoints(itertools.chain(*streams))
        for chunk in stream.chunks(args.timeout, args.max_heaps):
            if files:
                files.write(chunk, stream)
    summary = stream.summary()
    if args.expect_heaps:
        lacking = [args.expect_heaps - heaps for heaps in summary["received"]]
        summary["missing"] = list(map(max, lacking, summary["missing"]))
        summary["complete"] &= not any(summary["missing"])
    return summary


def main(argv=None):
    summary = receiver_program.run("receive_digitiser.py", parse(argv), receive)
    return receiver_program.report(summary, "polarisation", "heaps")


if __name__ == "__main__":
    sys.exit(main())
