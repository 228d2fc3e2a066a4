#!/usr/bin/env python3
# Copyright 2026 The gr-spead authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Send a recording of 8-bit samples as SPEAD heaps over UDP."""

import argparse
import json
import re
import sys

from common.arguments import integer, option, positive, rate, size
from common.sender_program import recording_size, run
from gnuradio import blocks, gr, spead

BUFFER = 1 << 20  # bytes between blocks; the default of 64 KiB is slower

# Options that are passed to the sink under the same name.
SINK_OPTIONS = {
    "heap_samples": size,
    "max_packet_size": size,
    "heap_address_bits": int,
    "heap_id_start": integer,
    "heap_id_step": integer,
    "timestamp_start": integer,
    "timestamp_step": size,
    "rate": lambda text: float(rate(text)),
    "when_full": str,
    "tail": str,
    "descriptors": str,
    "interface": str,
    "ttl": int,
    "affinity": int,
}


class SendRecording(gr.top_block):
    """file -> (offset binary to int8) -> (head) -> SPEAD sink"""

    def __init__(self, path, destination, skip, total, unsigned, options):
        super().__init__("send_recording", catch_exceptions=True)
        content = recording_size(path, skip)
        self.total = total or content
        looped = self.total > content
        length = 0 if looped else self.total
        chain = [blocks.file_source(gr.sizeof_char, path, looped, skip, length)]
        if unsigned:
            # Modulo 256: 0 becomes -128, and 255 becomes 127.
            chain.append(blocks.add_const_bb(128))
        if looped:
            chain.append(blocks.head(gr.sizeof_char, self.total))
        for block in chain[:-1]:  # the sink chooses the buffer before it
            block.set_min_output_buffer(BUFFER)
        self.sink = spead.sink(destination, **options)
        self.connect(*chain, self.sink)


def sink_help():
    """The text and the default of each option, from the documentation of the sink."""
    texts = re.findall(r"^(\w+): (.+(?:\n    .+)*)", spead.sink.__doc__, re.M)
    signature = spead.sink.__init__.__doc__.splitlines()[0]
    defaults = dict(re.findall(r"(\w+): [^:]*? = ('[^']*'|[\w.-]+)", signature))
    return {
        name: f"{text} (default: {defaults.get(name)})".replace("%", "%%")
        for name, text in texts
    }


def parse(argv):
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("file", help="int8 samples, one byte each")
    parser.add_argument("destination", help="host:port, or several as the sink takes")
    option(parser, "--skip-header BYTES", size, "bytes before the first sample", 0)
    parser.add_argument(
        "--unsigned", action="store_true", help="samples are uint8, 128 is zero"
    )
    length = parser.add_mutually_exclusive_group()
    option(length, "--repeat N", positive, "how often to send the recording", 1)
    option(
        length,
        "--total-bytes N",
        positive,
        "bytes to send, in a loop (default: all, once)",
    )
    option(parser, "--json FILE", str, "write the final counters as JSON")
    group = parser.add_argument_group("options of the sink")
    texts = sink_help()
    for name, kind in SINK_OPTIONS.items():
        group.add_argument(
            "--" + name.replace("_", "-"),
            type=kind,
            default=argparse.SUPPRESS,
            help=texts[name],
        )
    return parser.parse_args(argv)


def build(args):
    options = {key: value for key, value in vars(args).items() if key in SINK_OPTIONS}
    total = args.total_bytes
    if args.repeat > 1:
        total = args.repeat * recording_size(args.file, args.skip_header)
    return SendRecording(
        args.file, args.destination, args.skip_header, total, args.unsigned, options
    )


def main(argv=None):
    args = parse(argv)
    try:
        report = open(args.json, "w") if args.json else None  # noqa: SIM115
        flow_graph = build(args)
    except (OSError, ValueError, RuntimeError) as error:
        sys.exit(f"send_recording.py: {error}")
    status = run(flow_graph, flow_graph.total)
    stats = flow_graph.sink.stats()
    if report:
        with report:
            json.dump(stats, report, indent=2)
    for name, value in stats.items():
        print(f"{name:>16}: {value}")
    return status


if __name__ == "__main__":
    sys.exit(main())
