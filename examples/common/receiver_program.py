# Copyright 2026 The gr-spead authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Options, sockets and summaries of the programs that receive."""

import argparse
import contextlib
import json
import sys

from common.arguments import option, positive, seconds
from common.endpoints import bound_socket, endpoint_text, endpoints


def parser(description):
    """An ArgumentParser with the options of all receivers."""
    options = argparse.ArgumentParser(description=description)
    options.add_argument(
        "endpoints",
        nargs="+",
        metavar="[ADDRESS[+N]:]PORT[,...]",
        help="addresses of this host (127.0.0.1 if left out) or multicast groups;"
        " +N adds the N addresses that follow; port 0 takes a free one",
    )
    option(
        options,
        "--interface INTERFACE",
        str,
        "interface of multicast groups, its name or its IPv4 address"
        " (default: the system chooses)",
    )
    option(options, "--max-heaps N", positive, "end after N heaps")
    option(options, "--timeout S", seconds, "end after S seconds without packets")
    option(options, "--json FILE", str, "write the summary as JSON")
    return options


def print_endpoints(sockets):
    """Say that the program receives from the sockets: a sender may start."""
    for sock in sockets:
        print(f"listening on {endpoint_text(*sock.getsockname()[:2])}", flush=True)


def run(name, args, receive):
    """Bind the sockets, call `receive(streams, args)` and return its summary, a dict.

    streams: a list of sockets for each argument of the command line
    """
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
            summary = receive(streams, args)
        except (OSError, ValueError) as error:
            sys.exit(f"{name}: {error}")
        if summary_file:
            json.dump(summary, summary_file, indent=2)
    return summary
