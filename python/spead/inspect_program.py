# Copyright 2026 The gr-spead authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Show which SPEAD streams arrive at an address, and the spead.source() for them."""

import argparse
import io
import json
import shutil
import signal
import sys
import time

from .spead_python import _inspector
from .stream_report import counted_streams, report
from .suggestion import tried_suggestion


class Screen:
    """Prints each text over the one before it."""

    def __init__(self):
        self._rows = 0

    def show(self, lines, is_last=False):
        """Only the last text may be longer than the terminal."""
        columns, height = shutil.get_terminal_size()
        text, rows = "", 0
        for line in lines:
            line = "".join(c if c.isprintable() else "?" for c in line)
            line_rows = max(1, -(-len(line) // columns))
            if not is_last and rows + line_rows >= height:
                break
            text, rows = f"{text}{line}\n", rows + line_rows
        back = f"\x1b[{self._rows}A\x1b[J" if self._rows else ""
        print(back + text, end="", flush=True)
        self._rows = rows


def main():
    try:
        return run()
    except KeyboardInterrupt:
        return 128 + signal.SIGINT
    except OSError as error:  # the output is closed or full
        return f"spead-inspect: {error}"


def run():
    parser = argparse.ArgumentParser("spead-inspect", description=__doc__)
    parser.add_argument(
        "endpoints", help="239.2.1.150+7:7148, 0.0.0.0:7148 or capture.pcap"
    )
    parser.add_argument("--interface", default="", help="name or address")
    parser.add_argument(
        "--seconds",
        type=float,
        help="how long to listen (default: 6; on a terminal, until Ctrl-C; a capture is"
        " read to its end)",
    )
    parser.add_argument(
        "--explain",
        action="store_true",
        help="also print the first packet of each kind, word by word",
    )
    parser.add_argument("--json", action="store_true", help="print one JSON object")
    args = parser.parse_args()
    if not sys.stdout:
        sys.exit("spead-inspect: the output is closed")
    if isinstance(sys.stdout, io.TextIOWrapper):
        sys.stdout.reconfigure(errors="backslashreplace")
    signal.signal(signal.SIGPIPE, signal.SIG_DFL)  # end quietly, as in "| head"
    try:
        (args.endpoints + args.interface).encode()
        inspector = _inspector(args.endpoints, args.interface)
    except UnicodeEncodeError:
        sys.exit("spead-inspect: names must be UTF-8; rename the capture")
    except (ValueError, RuntimeError) as error:
        sys.exit(f"spead-inspect: {error}")
    live = sys.stdout.isatty() and not args.json and not inspector.is_capture()
    # instruments repeat descriptors every 5 s
    endless = live or inspector.is_capture()
    seconds = args.seconds
    if seconds is None:
        seconds = float("inf") if endless else 6
    screen, begin = Screen(), time.monotonic()
    suggestion, next_trial = None, begin + 1
    try:
        while (left := begin + seconds - time.monotonic()) > 0:
            inspector.receive(min(left, 0.5))
            if inspector.has_ended():
                break
            if live:
                if time.monotonic() >= next_trial:
                    suggestion = tried(inspector, args)
                    wait = 10 if suggestion.receives_everything() else 2
                    next_trial = time.monotonic() + wait
                screen.show(lines(inspector, args, suggestion))
    except KeyboardInterrupt:
        pass
    suggestion = tried(inspector, args)
    if args.json:
        print(json.dumps(as_json(inspector, suggestion, args.explain)))
    else:
        screen.show(lines(inspector, args, suggestion), is_last=True)
    is_received = suggestion.trial and suggestion.trial["heaps_received"]
    return 0 if is_received and not inspector.failures() else 1


def tried(inspector, args):
    interface = "" if inspector.is_capture() else args.interface
    return tried_suggestion(inspector, args.endpoints, interface)


def lines(inspector, args, suggestion):
    return report(
        inspector, suggestion, args.endpoints, inspector.seconds(), args.explain
    )


def as_json(inspector, suggestion, explain):
    kinds = [k | {"first": k["first"].hex()} for k in inspector.packet_kinds()]
    return {
        "seconds": inspector.seconds(),
        "streams": counted_streams(inspector, suggestion),
        "endpoints": inspector.endpoints(),
        "destinations": inspector.destinations(),
        "packets_of_others": inspector.packets_of_others(),
        "rejected": inspector.rejected(),
        "dropped": inspector.dropped(),
        "failures": inspector.failures(),
        "call": "" if suggestion.reason else suggestion.call(),
        "notes": suggestion.notes + suggestion.remarks,
        "reason": suggestion.reason,
        "trial": suggestion.trial,
    } | ({"packet_kinds": kinds} if explain else {})
