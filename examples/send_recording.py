#!/usr/bin/env python3
# Copyright 2026 The gr-spead authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Send a recording of 8-bit samples as SPEAD heaps over UDP."""

import argparse
import json
import os
import stat
import sys
import threading
import time

from common.arguments import integer, natural, positive
from gnuradio import blocks, gr, spead

BUFFER = 1 << 20  # bytes between blocks; GNU Radio's 64 KiB cost speed


# Options that go to the sink under the same name; left out, its defaults hold.
SINK_OPTIONS = {
    "heap_samples": integer,
    "max_packet_size": integer,
    "heap_address_bits": integer,
    "heap_id_start": integer,
    "heap_id_step": integer,
    "timestamp_start": integer,
    "timestamp_step": integer,
    "rate": float,
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
            # Modulo 256, so that 0 becomes -128 and 255 becomes 127.
            chain.append(blocks.add_const_bb(128))
        if looped:
            chain.append(blocks.head(gr.sizeof_char, self.total))
        for block in chain[:-1]:  # the sink sees to the last
            block.set_min_output_buffer(BUFFER)
        self.sink = spead.sink(destination, **options)
        self.connect(*chain, self.sink)


def recording_size(path, skip):
    """Bytes in the file after the header."""
    status = os.stat(path)
    if not stat.S_ISREG(status.st_mode):
        raise ValueError(f"{path} is not a regular file")
    if status.st_size <= skip:
        raise ValueError(
            f"{path} has {status.st_size} bytes, nothing after a header of {skip}"
        )
    if not os.access(path, os.R_OK):
        raise ValueError(f"{path} is not readable")
    return status.st_size - skip


def parse(argv):
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("file", help="int8 samples, one byte each")
    parser.add_argument("destination", help="host:port")
    parser.add_argument("--skip-header", metavar="BYTES", type=natural, default=0)
    parser.add_argument(
        "--unsigned", action="store_true", help="samples are uint8, 128 being zero"
    )
    length = parser.add_mutually_exclusive_group()
    length.add_argument("--repeat", metavar="N", type=positive, default=1)
    length.add_argument(
        "--total-bytes", metavar="N", type=positive, help="in a loop if need be"
    )
    parser.add_argument("--json", metavar="FILE", help="write the final stats()")
    group = parser.add_argument_group("options of the sink, see its documentation")
    for name, kind in SINK_OPTIONS.items():
        option = "--" + name.replace("_", "-")
        group.add_argument(option, type=kind, default=argparse.SUPPRESS)
    return parser.parse_args(argv)


def build(args):
    options = {key: value for key, value in vars(args).items() if key in SINK_OPTIONS}
    total = args.total_bytes
    if args.repeat > 1:
        total = args.repeat * recording_size(args.file, args.skip_header)
    return SendRecording(
        args.file, args.destination, args.skip_header, total, args.unsigned, options
    )


def run(flow_graph):
    """Run to the end or to Ctrl-C, with a line of progress each second; the seconds."""
    begin = now = time.monotonic()
    sent = 0
    flow_graph.start()
    # An event: Ctrl-C in the join() of a thread would take the thread for ended.
    ended = threading.Event()

    def wait():
        flow_graph.wait()
        ended.set()

    threading.Thread(target=wait).start()
    try:
        while not ended.wait(1):
            stats = flow_graph.sink.stats()
            sent, before = stats["samples_sent"], sent
            now, then = time.monotonic(), now
            percent = 100 * stats["samples_in"] / flow_graph.total
            print(
                f"{percent:6.1f} % {(sent - before) / (now - then) / 1e6:10.2f} MB/s"
                f" {stats['heaps_dropped']:9,} heaps dropped",
                flush=True,
            )
    except KeyboardInterrupt:
        pass
    finally:
        flow_graph.stop()
        ended.wait()
    return time.monotonic() - begin


def exit_status(flow_graph):
    """0 if all of the recording has been sent; otherwise 1, and it says what is not."""
    missing = flow_graph.total - flow_graph.sink.stats()["samples_sent"]
    if missing:
        print(f"{missing:,} of {flow_graph.total:,} bytes not sent", file=sys.stderr)
    return 1 if missing else 0


def main(argv=None):
    args = parse(argv)
    try:
        report = open(args.json, "w") if args.json else None  # noqa: SIM115
        flow_graph = build(args)
    except (OSError, ValueError, RuntimeError) as error:
        sys.exit(f"send_recording.py: {error}")
    seconds = run(flow_graph)
    stats = flow_graph.sink.stats()
    if report:
        with report:
            json.dump(stats, report, indent=2)
    rate = stats["samples_sent"] / seconds / 1e6
    print(f"{stats['samples_sent']:,} samples in {seconds:.2f} s, {rate:.2f} MB/s")
    for name, value in stats.items():
        print(f"{name:>16}: {value}")
    return exit_status(flow_graph)


if __name__ == "__main__":
    sys.exit(main())
