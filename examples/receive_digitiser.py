#!/usr/bin/env python3
# Copyright 2026 The gr-spead authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Receive the two polarisations of a MeerKAT digitiser, as the F-engine does: a group
of spead2's chunk streams places each heap by its timestamp and by its polarisation, the
lowest bit of the digitiser ID."""

import argparse
import contextlib
import json
import sys

from digitiser_stream import DigitiserStream
from place_heaps import Layout
from receive import integer, positive
from udp_socket import bound_socket, endpoints, listening


class Files:
    """A file for each polarisation, PREFIX.0 and PREFIX.1; missing heaps are zeros."""

    def __init__(self, prefix, stack):
        self.files = []
        for polarisation in range(2):
            file = open(f"{prefix}.{polarisation}", "wb")  # noqa: SIM115
            self.files.append(stack.enter_context(file))

    def write(self, chunk, stream):
        """Write the heaps of a chunk from the first to the last that have come."""
        step = stream.layout.heap_samples
        first = max((stream.first - chunk.timestamp) // step, 0)
        end = (stream.last - chunk.timestamp) // step + 1
        heap = (chunk.timestamp - stream.first) // step + first
        for file, heaps in zip(self.files, chunk.heaps, strict=True):
            file.seek(heap * stream.layout.heap_bytes)
            file.write(heaps[first:end])


def integers(text):
    return tuple(integer(part) for part in text.split(","))


def parse(argv):
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument(
        "endpoints",
        nargs="+",
        metavar="ADDRESS[+N]:PORT[,...]",
        help="addresses of this host or multicast groups, N more of them; port 0 for"
        " any that is free; each argument gets a thread of its own, a comma list one",
    )
    parser.add_argument(
        "--interface", default="", help="for multicast: its name or its IPv4 address"
    )
    parser.add_argument("--heap-samples", metavar="N", type=positive, default=4096)
    parser.add_argument("--sample-bits", metavar="N", type=positive, default=8)
    parser.add_argument(
        "--digitiser-ids", metavar="ID,ID", type=integers, help="reject all others"
    )
    parser.add_argument("--status", metavar="N", type=integer, help="reject any other")
    parser.add_argument(
        "--lossless",
        action="store_true",
        help="a thread that is ahead waits for the others, however long",
    )
    parser.add_argument("--max-heaps", metavar="N", type=positive, help="then end")
    parser.add_argument(
        "--timeout",
        metavar="S",
        type=float,
        help="end after S seconds without a packet",
    )
    parser.add_argument(
        "--expect-heaps", metavar="N", type=positive, help="of each polarisation"
    )
    parser.add_argument(
        "--save", metavar="PREFIX", help="write the payload to PREFIX.0 and PREFIX.1"
    )
    parser.add_argument("--json", metavar="FILE", help="write the summary")
    return parser.parse_args(argv)


def receive(streams, args):
    """Receive from lists of bound sockets to the end; the summary, as a dict."""
    layout = Layout(
        heap_samples=args.heap_samples,
        sample_bits=args.sample_bits,
        digitiser_ids=args.digitiser_ids,
        status=args.status,
    )
    with contextlib.ExitStack() as stack:
        files = Files(args.save, stack) if args.save else None
        stream = stack.enter_context(DigitiserStream(streams, layout, args.lossless))
        try:
            for chunk in stream.chunks(args.timeout, args.max_heaps):
                if files:
                    files.write(chunk, stream)
        except KeyboardInterrupt:
            pass
    summary = stream.summary()
    if args.expect_heaps:
        lacking = [args.expect_heaps - heaps for heaps in summary["received"]]
        summary["missing"] = list(map(max, lacking, summary["missing"]))
        summary["complete"] &= not any(summary["missing"])
    return summary


def report(summary):
    """Print the summary."""
    for polarisation, (received, missing) in enumerate(
        zip(summary["received"], summary["missing"], strict=True)
    ):
        print(f"polarisation {polarisation}: {received:,} heaps, {missing:,} missing")
    for reason, heaps in summary["rejected"].items():
        print(f"rejected for {reason}: {heaps:,} heaps")
    print(
        "{late:,} late, {twice:,} twice, {descriptors:,} of descriptors,"
        " {ends:,} ends of stream".format(**summary)
    )


def main(argv=None):
    args = parse(argv)
    with contextlib.ExitStack() as stack:
        try:
            summary_file = args.json and stack.enter_context(open(args.json, "w"))
            streams = [
                [
                    stack.enter_context(bound_socket(*endpoint, args.interface))
                    for endpoint in endpoints(text)
                ]
                for text in args.endpoints
            ]
            for sock in (sock for sockets in streams for sock in sockets):
                print(f"listening on {listening(sock)}", flush=True)
            summary = receive(streams, args)
        except (OSError, ValueError) as error:
            sys.exit(f"receive_digitiser.py: {error}")
        if summary_file:
            json.dump(summary, summary_file, indent=2)
    report(summary)
    return 0 if summary["complete"] else 1


if __name__ == "__main__":
    sys.exit(main())
