#!/usr/bin/env python3
# Copyright 2026 The gr-spead authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Record a SPEAD stream as SigMF, in FILE.sigmf-data and FILE.sigmf-meta. Ends at an
end-of-stream heap, Ctrl-C, --timeout or --samples. Missing samples are recorded as
zeros; a discontinuity of the timestamps starts a new capture."""

import argparse
import datetime
import os
import re
import sys
import time
from fractions import Fraction

import pmt
from common.arguments import (
    in_options,
    integer,
    option,
    positive,
    positive_rate,
    seconds,
)
from common.progress import run_to_end
from common.recordings import seconds_text
from gnuradio import blocks, gr

try:
    import sigmf
    from common.described_stream import TYPES, given_stream, inspected_stream
    from gnuradio import spead
except ImportError as error:
    sys.exit(
        f"{error}: run {sys.argv[0]} with .venv/bin/python of scripts/bootstrap, or"
        " install gr-spead and sigmf"
    )

CLOCK_ERROR = 60  # seconds between the clocks of the sender and of this host


class RecordSigmf(gr.top_block):
    """SPEAD source -> head -> file"""

    def __init__(self, stream, args):
        super().__init__("record_sigmf", catch_exceptions=True)
        options = dict(stream.options)
        if args.sample_rate:
            options["sample_rate"] = tick_rate(stream, args)
            options["sync_time"] = seconds_text(round(args.sync_time or Fraction(), 9))
        self.source = spead.source(
            stream.endpoints,
            interface=args.interface,
            timeout=float(args.timeout),
            **options,
        )
        size = self.source.output_signature().sizeof_stream_item(0)
        head = blocks.head(size, args.samples or 2**63 - 1)
        self.connect(
            self.source, head, blocks.file_sink(size, args.file + ".sigmf-data")
        )
        self.tags = blocks.tag_debug(
            size, "", "rx_time" if args.sample_rate else "timestamp"
        )
        self.tags.set_display(False)
        self.tags.set_save_all(True)
        self.connect(head, self.tags)

    def written(self):
        return self.tags.nitems_read(0)

    def captures(self):
        """First sample of each contiguous part, and its seconds since 1970, or None."""
        return [
            (tag.offset, seconds_of(tag.value) if pmt.is_tuple(tag.value) else None)
            for tag in self.tags.current_tags()
        ]


def tick_rate(stream, args):
    step = stream.options.get("timestamp_step", 1)
    return args.sample_rate * Fraction(step, stream.options.get("heap_samples", step))


def seconds_of(rx_time):
    whole, fraction = pmt.to_python(rx_time)
    return whole + Fraction(fraction)


def sigmf_time(seconds):
    """Format a time for SigMF, to the picosecond."""
    picoseconds = round(seconds * 10**12)
    whole_seconds = datetime.datetime.fromtimestamp(
        picoseconds // 10**12, datetime.timezone.utc
    )
    return f"{whole_seconds:%Y-%m-%dT%H:%M:%S}.{picoseconds % 10**12:012}Z"


def warn_of_wraps(stream, args, start, began):
    """Warn if timestamps may have wrapped before the recording.

    began: when this program began. If the stream is live, it did so later.
    """
    bits = stream.heap_address_bits
    wrap = Fraction(2 ** (bits or 40)) / tick_rate(stream, args)
    wraps = int((Fraction(time.time()) - start) / wrap)
    if wraps < 1:
        return
    text = (
        f"core:datetime is {sigmf_time(start)}, which is wrong if the timestamps have"
        f" wrapped since --sync-time {seconds_text(args.sync_time)}: they have"
        f" {bits or '40 or 48'} bits and wrap every {float(wrap):,.6g} s"
    )
    if not bits:
        text += f" (40 bits) or {float(wrap * 256):,.6g} s (48 bits)"
    elif start + wraps * wrap >= began - CLOCK_ERROR:
        text += (
            f"; if the stream was live, it began at {sigmf_time(start + wraps * wrap)}:"
            f" give --sync-time {seconds_text(round(args.sync_time + wraps * wrap, 9))}"
        )
    print(f"record_sigmf.py: {text}", file=sys.stderr)


def write_metadata(stream, args, captures, began):
    fields = {sigmf.DATATYPE_KEY: stream.type}
    if args.sample_rate:
        fields[sigmf.SAMPLE_RATE_KEY] = float(args.sample_rate)
    metadata = sigmf.SigMFFile(global_info=fields)
    for first, start in captures:
        known = start is not None and args.sync_time is not None
        metadata.add_capture(
            first, {sigmf.DATETIME_KEY: sigmf_time(start)} if known else None
        )
    if captures and known:
        warn_of_wraps(stream, args, captures[0][1], began)
    metadata.tofile(args.file + ".sigmf-meta", overwrite=True)


def parse(argv):
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument(
        "endpoint", help="host:port or multicast groups to receive from"
    )
    parser.add_argument("file", help="recording to write, without a suffix")
    parser.add_argument(
        "--type",
        choices=TYPES,
        metavar="TYPE",
        help="type of the samples of a stream without descriptors:"
        f" {', '.join(TYPES)} (default: from the descriptors)",
    )
    option(parser, "--sample-rate HZ", positive_rate, "sample rate, to compute times")
    option(
        parser, "--sync-time S", seconds, "time of timestamp 0, in seconds since 1970"
    )
    option(
        parser,
        "--timestamp-id ID",
        integer,
        "item ID of the timestamp, with --type (default: 0x1600)",
    )
    option(
        parser,
        "--samples-id ID",
        integer,
        "item ID of the samples, with --type (default: 0x3300)",
    )
    option(parser, "--interface NAME", str, "network interface to receive from", "")
    option(parser, "--samples N", positive, "end after N samples")
    option(
        parser,
        "--timeout S",
        seconds,
        "end after S seconds without packets; 0: never",
        0,
    )
    args = parser.parse_args(argv)
    if args.sync_time is not None and args.sample_rate is None:
        parser.error("--sync-time needs --sample-rate")
    if not args.type and (args.timestamp_id or args.samples_id):
        parser.error("--timestamp-id and --samples-id need --type")
    return args


def find_stream(args):
    if args.type:
        ids = args.timestamp_id or 0x1600, args.samples_id or 0x3300
        return given_stream(args.endpoint, args.type, *ids)
    return inspected_stream(args.endpoint, args.interface, args.timeout)


def main(argv=None):
    args = parse(argv)
    began = time.time()
    try:
        stream = find_stream(args)
        graph = RecordSigmf(stream, args)
    except (RuntimeError, TypeError, ValueError) as error:
        sys.exit(f"record_sigmf.py: {error}")
    except KeyboardInterrupt:
        sys.exit("record_sigmf.py: nothing received")
    if args.type and (ports := graph.source.ports()):
        endpoint = re.sub(":0$", f":{ports[0]}", args.endpoint)
        print(f"listening on {endpoint}", flush=True)
    run_to_end(graph, graph.source, args.samples)
    stats = graph.source.stats()
    if not stats["samples_out"]:
        os.remove(args.file + ".sigmf-data")
        reason = in_options(stats["status"], items="--timestamp-id and --samples-id")
        sys.exit(f"record_sigmf.py: {reason}")
    write_metadata(stream, args, graph.captures(), began)
    print(
        f"{graph.written():,} samples written; {stats['heaps_received']:,} heaps"
        f" received, {stats['samples_missing']:,} samples missing,"
        f" {stats['discontinuities']:,} discontinuities"
    )
    return 1 if stats["samples_missing"] else 0


if __name__ == "__main__":
    sys.exit(main())
