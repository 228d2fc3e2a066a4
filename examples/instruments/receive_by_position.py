#!/usr/bin/env python3
# Copyright 2026 The gr-spead authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Receive two polarisations as mkrecv at Effelsberg does: items by their position in
the packet, heaps of one size, heap counter 1 ignored. Ends at the first end-of-stream
heap (mkrecv aborts there) or at Ctrl-C."""

import contextlib
import dataclasses
import itertools
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
from common import receiver_program
from common.arguments import option, positive

from instruments import positional_receiver
from instruments.dada import Header, read_header
from instruments.heap_groups import Positions


class PayloadFiles:
    """Writes the payload of each stream to PREFIX.0, PREFIX.1, ..."""

    def __init__(self, prefix, streams, stack):
        self.files = receiver_program.payload_files(prefix, streams, stack)

    def write(self, timestamp, heaps):
        for file, heap in zip(self.files, heaps, strict=True):
            file.write(heap)


class DadaFile:
    """Writes a recording: the header with the first timestamp, then the heaps."""

    def __init__(self, path, header, stack):
        self.file = stack.enter_context(open(path, "wb"))  # noqa: SIM115
        self.header = header

    def write(self, timestamp, heaps):
        if self.header:
            times = {"SAMPLE_CLOCK_START": str(timestamp), "OBS_OFFSET": "0"}
            self.file.write(Header({**self.header.fields, **times}).to_bytes())
            self.header = None
        for heap in heaps:
            self.file.write(heap)


def default_header(positions):
    """The header of a recording if --header gives none."""
    return Header(
        {
            "HEADER": "DADA",
            "HDR_VERSION": "1.0",
            "HDR_SIZE": "4096",
            "NBIT": str(8 * positions.heap_bytes // positions.step),
            "NDIM": "1",
            "NPOL": str(len(positions.values)),
            "HEAP_SIZE": str(positions.heap_bytes),
            "IDX1_ITEM": str(positions.timestamp),
            "IDX1_STEP": str(positions.step),
            "IDX2_ITEM": str(positions.stream),
            "IDX2_MASK": hex(positions.mask),
            "IDX2_LIST": ",".join(map(str, positions.values)),
        }
    )


def parse(argv):
    parser = receiver_program.parser(__doc__)
    option(
        parser,
        "--header FILE",
        str,
        "header of mkrecv that describes the stream"
        " (default: two polarisations, heaps of 4096 samples of 8 bits)",
    )
    option(
        parser, "--heap-bytes N", positive, "bytes in a heap (default: header or 4k)"
    )
    option(parser, "--step TICKS", positive, "ticks in a heap (default: header or 4k)")
    option(parser, "--save PREFIX", str, "write the payload to PREFIX.0 and PREFIX.1")
    option(parser, "--dada FILE", str, "write a DADA recording")
    return parser.parse_args(argv)


def receive(streams, args):
    """Receive from lists of bound sockets to the end; return the summary, a dict."""
    header = read_header(args.header) if args.header else None
    positions = Positions.from_header(header or Header({}))
    changes = {"heap_bytes": args.heap_bytes, "step": args.step}
    positions = dataclasses.replace(
        positions, **{name: value for name, value in changes.items() if value}
    )
    with contextlib.ExitStack() as stack:
        outputs = []
        if args.save:
            outputs.append(PayloadFiles(args.save, len(positions.values), stack))
        if args.dada:
            header = header or default_header(positions)
            outputs.append(DadaFile(args.dada, header, stack))

        def write(timestamp, heaps):
            for output in outputs:
                output.write(timestamp, heaps)

        sockets = list(itertools.chain(*streams))
        receiver_program.print_endpoints(sockets)
        return positional_receiver.receive(
            sockets, positions, write, args.timeout, args.max_heaps
        )


def main(argv=None):
    summary = receiver_program.run("receive_by_position.py", parse(argv), receive)
    return receiver_program.report(summary, "stream", "packets")


if __name__ == "__main__":
    sys.exit(main())
