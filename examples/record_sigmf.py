#!/usr/bin/env python3
# Copyright 2026 The gr-spead authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Record a SPEAD stream as SigMF, in FILE.sigmf-data and FILE.sigmf-meta. Ends at an
end-of-stream heap, Ctrl-C, --timeout or --samples. Missing samples are recorded as
zeros; a discontinuity of the timestamps starts a new capture."""

import argparse
import datetime
import re
import sys
from fractions import Fraction

import pmt
import sigmf
from common.arguments import integer, option, positive, positive_rate, seconds
from common.progress import run_to_end
from gnuradio import blocks, gr, spead

TYPES = {  # SigMF type -> output_type of the source
    "ri8": "int8",
    "ri16_le": "int16",
    "rf32_le": "float",
    "ci8": "sc8",
    "ci16_le": "sc16",
    "cf32_le": "complex",
}


class RecordSigmf(gr.top_block):
    """SPEAD source -> head -> file"""

    def __init__(self, args):
        super().__init__("record_sigmf", catch_exceptions=True)
        self.endpoint = args.endpoint
        options = {}
        if args.sample_rate:
            options["sample_rate"] = args.sample_rate
            options["sync_time"] = round((args.sync_time or 0) * 10**9)
        if args.timestamp_id is not None:
            timestamp = spead.timestamp(args.timestamp_id)
            options["items"] = [timestamp, spead.samples(args.samples_id)]
        self.source = spead.source(
            args.endpoint,
            output_type=TYPES[args.type],
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

    def start(self):
        super().start()
        if ports := self.source.ports():
            endpoint = re.sub(":0$", f":{ports[0]}", self.endpoint)
            print(f"listening on {endpoint}", flush=True)

    def written(self):
        return self.tags.nitems_read(0)

    def captures(self):
        """First sample and time, or None, of each contiguous part."""
        return [
            (tag.offset, sigmf_time(tag.value) if pmt.is_tuple(tag.value) else None)
            for tag in self.tags.current_tags()
        ]


def sigmf_time(rx_time):
    """Format an rx_time tag for SigMF, to the picosecond."""
    whole, fraction = pmt.to_python(rx_time)
    picoseconds = round((whole + Fraction(fraction)) * 10**12)
    whole_seconds = datetime.datetime.fromtimestamp(
        picoseconds // 10**12, datetime.timezone.utc
    )
    return f"{whole_seconds:%Y-%m-%dT%H:%M:%S}.{picoseconds % 10**12:012}Z"


def write_metadata(args, captures):
    fields = {sigmf.DATATYPE_KEY: args.type}
    if args.sample_rate:
        fields[sigmf.SAMPLE_RATE_KEY] = float(args.sample_rate)
    metadata = sigmf.SigMFFile(global_info=fields)
    for first, time in captures:
        known = time is not None and args.sync_time is not None
        metadata.add_capture(first, {sigmf.DATETIME_KEY: time} if known else None)
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
        default="ri8",
        metavar="TYPE",
        help=f"type of the samples: {', '.join(TYPES)} (default: %(default)s)",
    )
    option(parser, "--sample-rate HZ", positive_rate, "sample rate, to compute times")
    option(
        parser, "--sync-time S", seconds, "time of timestamp 0, in seconds since 1970"
    )
    option(
        parser,
        "--timestamp-id ID",
        integer,
        "item ID of the timestamp for a stream without descriptors, such as 0x1600",
    )
    option(
        parser,
        "--samples-id ID",
        integer,
        "item ID of the samples for a stream without descriptors, such as 0x3300",
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
    if (args.timestamp_id is None) != (args.samples_id is None):
        parser.error("--timestamp-id and --samples-id must be given together")
    return args


def main(argv=None):
    args = parse(argv)
    try:
        graph = RecordSigmf(args)
    except (RuntimeError, TypeError, ValueError) as error:
        sys.exit(f"record_sigmf.py: {error}")
    run_to_end(graph, graph.source, args.samples)
    stats = graph.source.stats()
    if not stats["samples_out"]:
        sys.exit("record_sigmf.py: nothing received")
    write_metadata(args, graph.captures())
    print(
        f"{graph.written():,} samples written; {stats['heaps_received']:,} heaps"
        f" received, {stats['samples_missing']:,} samples missing,"
        f" {stats['discontinuities']:,} discontinuities"
    )
    return 1 if stats["samples_missing"] else 0


if __name__ == "__main__":
    sys.exit(main())
