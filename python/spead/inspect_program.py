# Copyright 2026 The gr-spead authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Show which SPEAD streams arrive at an address, and the spead.source() for them."""

import argparse
import json
import shutil
import signal
import sys
import time

from . import stream_report
from .spead_python import _inspector

MAX_DESTINATIONS = 4  # shown


def show(text, previous):
    """Print the text, over the previous one if this is a terminal."""
    if previous:
        width = shutil.get_terminal_size().columns
        rows = sum(max(1, -(-len(line) // width)) for line in previous.split("\n"))
        sys.stdout.write(f"\x1b[{rows}A\x1b[J")
    print(text, flush=True)


def main():
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
    parser.add_argument("--json", action="store_true", help="print one JSON object")
    args = parser.parse_args()
    signal.signal(signal.SIGPIPE, signal.SIG_DFL)  # end quietly, as in "| head"
    try:
        inspector = _inspector(args.endpoints, args.interface)
    except (ValueError, RuntimeError) as error:
        sys.exit(f"spead-inspect: {error}")
    live = sys.stdout.isatty() and not args.json and not inspector.is_capture()
    # instruments repeat descriptors every 5 s
    endless = live or inspector.is_capture()
    seconds = args.seconds or (float("inf") if endless else 6)
    begin = time.monotonic()
    text, suggestion, next_trial = "", None, begin + 1
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
                report = report_text(inspector, args, begin, suggestion)
                show(report, text)
                text = report
    except KeyboardInterrupt:
        pass
    suggestion = tried(inspector, args)
    if args.json:
        print(json.dumps(as_json(inspector, suggestion)))
    else:
        show(report_text(inspector, args, begin, suggestion), text)
    is_received = suggestion.trial and suggestion.trial["heaps_received"]
    return 0 if is_received and not inspector.failures() else 1


def tried(inspector, args):
    return stream_report.tried_suggestion(inspector, args.endpoints, args.interface)


def report_text(inspector, args, begin, suggestion):
    streams = inspector.streams()
    elapsed = inspector.capture_seconds() or time.monotonic() - begin
    lines = list(stream_report.lines(streams, inspector.endpoints(), elapsed))
    if destinations := inspector.destinations():
        more = len(destinations) - MAX_DESTINATIONS
        shown = ", ".join(destinations[:MAX_DESTINATIONS])
        lines.append(f"destinations: {shown}{f' and {more} more' if more > 0 else ''}")
    if dropped := inspector.dropped():
        lines.append(
            f"{dropped:,} datagrams were dropped at the socket of this program"
        )
    if others := inspector.packets_of_others():
        lines.append(f"{others:,} packets of more than 1,024 senders are not shown")
    lines += inspector.failures()
    if rejected := inspector.rejected():
        lines.append(f"rejected: {rejected}")
    if not streams:
        rejected = inspector.rejected(), inspector.rejected_sender()
        lines.append(
            stream_report.reason_for_nothing(
                *rejected, [args.endpoints], inspector.is_capture()
            )
        )
        return "\n".join(lines)
    if not suggestion:
        return "\n".join(lines)
    if suggestion.reason:
        return "\n".join([*lines, "", suggestion.reason])
    notes = [suggestion.result(), *suggestion.notes]
    lines += ["", suggestion.call(), *(f"# {note}" for note in notes), ""]
    lines += [f"{label}: {value}" for label, value in suggestion.grc().items()]
    return "\n".join(lines)


def as_json(inspector, suggestion):
    return {
        "streams": inspector.streams(),
        "endpoints": inspector.endpoints(),
        "destinations": inspector.destinations(),
        "rejected": inspector.rejected(),
        "dropped": inspector.dropped(),
        "failures": inspector.failures(),
        "call": "" if suggestion.reason else suggestion.call(),
        "notes": suggestion.notes,
        "reason": suggestion.reason,
        "trial": suggestion.trial,
    }
