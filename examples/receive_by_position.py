#!/usr/bin/env python3
# Copyright 2026 The gr-spead authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Receive polarisations as mkrecv of Effelsberg does: from UDP packets in which items
are found by their position, with heaps of one size; heap counter 1 is ignored."""

import argparse
import contextlib
import dataclasses
import json
import sys

from dada import Header, read_header
from heap_groups import Positions
from positional_receiver import receive
from receive import positive
from udp_socket import bound_socket, endpoints, listening


class Files:
    """PREFIX.0, PREFIX.1, ...: the payload of each stream."""

    def __init__(self, prefix, streams, stack):
        self.files = []
        for stream in range(streams):
            file = open(f"{prefix}.{stream}", "wb")  # noqa: SIM115
            self.files.append(stack.enter_context(file))

    def write(self, timestamp, heaps):
        for file, heap in zip(self.files, heaps, strict=True):
            file.write(heap)


class DadaFile:
    """A recording: the given header with the time of its first samples, then groups."""

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
    """What a recording says of the stream if there is no other header to tell it."""
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
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument(
        "endpoints",
        nargs="+",
        metavar="ADDRESS[+N]:PORT[,...]",
        help="addresses of this host or multicast groups, N more of them; port 0 for"
        " any that is free",
    )
    parser.add_argument(
        "--interface", default="", help="for multicast: its name or its IPv4 address"
    )
    parser.add_argument(
        "--header", metavar="FILE", help="describes the stream, as those of mkrecv do"
    )
    parser.add_argument(
        "--heap-bytes", metavar="N", type=positive, help="default: 4096"
    )
    parser.add_argument(
        "--step", metavar="N", type=positive, help="ticks; default: 4096"
    )
    parser.add_argument("--max-heaps", metavar="N", type=positive, help="then end")
    parser.add_argument(
        "--timeout",
        metavar="S",
        type=float,
        help="end after S seconds without a packet",
    )
    parser.add_argument("--save", metavar="PREFIX", help="write PREFIX.0, PREFIX.1")
    parser.add_argument("--dada", metavar="FILE", help="write a recording")
    parser.add_argument("--json", metavar="FILE", help="write the summary")
    return parser.parse_args(argv)


def report(summary):
    """Print the summary."""
    for stream, (received, missing) in enumerate(
        zip(summary["received"], summary["missing"], strict=True)
    ):
        print(f"stream {stream}: {received:,} heaps, {missing:,} missing")
    for reason, packets in summary["rejected"].items():
        print(f"rejected for {reason}: {packets:,} packets")
    print("{late:,} late, {twice:,} twice, {ends:,} ends of stream".format(**summary))


def main(argv=None):
    args = parse(argv)
    with contextlib.ExitStack() as stack:
        try:
            header = read_header(args.header) if args.header else None
            positions = Positions.from_header(header or Header({}))
            if args.heap_bytes:
                positions = dataclasses.replace(positions, heap_bytes=args.heap_bytes)
            if args.step:
                positions = dataclasses.replace(positions, step=args.step)
            outputs = []
            if args.save:
                outputs.append(Files(args.save, len(positions.values), stack))
            if args.dada:
                header = header or default_header(positions)
                outputs.append(DadaFile(args.dada, header, stack))
            summary_file = args.json and stack.enter_context(open(args.json, "w"))
            sockets = [
                stack.enter_context(bound_socket(*endpoint, args.interface))
                for text in args.endpoints
                for endpoint in endpoints(text)
            ]

            def write(timestamp, heaps):
                for output in outputs:
                    output.write(timestamp, heaps)

            for sock in sockets:
                print(f"listening on {listening(sock)}", flush=True)
            summary = receive(sockets, positions, write, args.timeout, args.max_heaps)
        except (OSError, ValueError) as error:
            sys.exit(f"receive_by_position.py: {error}")
        if summary_file:
            json.dump(summary, summary_file, indent=2)
    report(summary)
    return 0 if summary["complete"] else 1


if __name__ == "__main__":
    sys.exit(main())
