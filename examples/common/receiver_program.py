# Copyright 2026 The gr-spead authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""What the receivers of instruments have in common as programs: their command line,
their sockets, the files they write, what they print."""

import argparse
import contextlib
import json
import signal
import sys

from common.arguments import positive
from common.endpoints import bound_socket, endpoints, listening


def parser(description, threads=""):
    """Of the options that each has; `threads` says what becomes of the endpoints."""
    options = argparse.ArgumentParser(description=description)
    options.add_argument(
        "endpoints",
        nargs="+",
        metavar="ADDRESS[+N]:PORT[,...]",
        help="addresses of this host or multicast groups, N more of them; port 0 for"
        " any that is free" + threads,
    )
    options.add_argument(
        "--interface", default="", help="for multicast: its name or its IPv4 address"
    )
    options.add_argument("--max-heaps", metavar="N", type=positive, help="then end")
    options.add_argument(
        "--timeout",
        metavar="S",
        type=float,
        help="end after S seconds without a packet",
    )
    options.add_argument(
        "--save", metavar="PREFIX", help="write the payload to PREFIX.0 and PREFIX.1"
    )
    options.add_argument("--json", metavar="FILE", help="write the summary")
    return options


def payload_files(prefix, streams, stack):
    """PREFIX.0, PREFIX.1, ...: a file for each stream, open as long as the stack."""
    return [
        stack.enter_context(open(f"{prefix}.{stream}", "wb"))
        for stream in range(streams)
    ]


@contextlib.contextmanager
def at_interrupt(end):
    """Ctrl-C calls `end()` meanwhile, instead of an exception amid a heap."""
    before = signal.signal(signal.SIGINT, lambda *_: end())
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)


def run(name, args, receive):
    """Receive with `receive(streams, args)`, which gets a list of bound sockets for
    each of the endpoints, and returns the summary, as a dict; so does this."""
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
            sys.exit(f"{name}: {error}")
        if summary_file:
            json.dump(summary, summary_file, indent=2)
    return summary


def report(summary, stream, rejects):
    """Print a summary: what a stream is called, and what is rejected.

    Returns the exit status, 0 if all has come.
    """
    for number, (received, missing) in enumerate(
        zip(summary["received"], summary["missing"], strict=True)
    ):
        print(f"{stream} {number}: {received:,} heaps, {missing:,} missing")
    for reason, count in summary["rejected"].items():
        print(f"rejected for {reason}: {count:,} {rejects}")
    names = {"descriptors": "of descriptors", "ends": "ends of stream"}
    print(
        ", ".join(
            f"{summary[key]:,} {names.get(key, key)}"
            for key in ("late", "twice", "descriptors", "ends")
            if key in summary
        )
    )
    return 0 if summary["complete"] else 1
