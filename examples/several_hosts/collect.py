#!/usr/bin/env python3
# Copyright 2026 The gr-spead authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Join the spectra that the processes of receive.py send, name the parts that are
missing, and draw the spectrum and the waterfall at the end."""

import argparse
import sys
import time
from pathlib import Path

sys.path.append(str(Path(__file__).resolve().parents[1]))

from common.arguments import option, positive, seconds
from common.progress import run_to_end
from common.waterfall import Spectra, draw
from gnuradio import gr, spead
from receive import FREQUENCY, POWER, serve_metrics

POLL_SECONDS = 0.25
MAX_DELAY = 0.1  # seconds; parts that do not arrive delay the others ten times as long


class Collector(gr.top_block):
    """SPEAD source of all parts -> spectra"""

    def __init__(self, args):
        super().__init__("collect", catch_exceptions=True)
        part = args.channels // args.of
        self.source = spead.source(
            args.endpoint,
            output_type="float",
            wire_type="f4",
            items=[
                spead.timestamp(),
                spead.immediate(
                    FREQUENCY, "frequency", list(range(0, args.channels, part))
                ),
                spead.samples(POWER, "power"),
            ],
            axes=f"frequency={part}/{args.channels}",
            timestamp_step=2 * args.channels * args.spectra * args.integrate,
            max_delay=MAX_DELAY,
            timeout=float(args.timeout),
            end_on_stop=False,
            interface=args.interface,
        )
        self.spectra = Spectra(args.channels)
        self.connect(self.source, self.spectra)


class Parts:
    """Tells which parts arrive, from the counters of a source.

    stats: a function that returns the counters of a part
    silence: seconds without a spectrum after which all parts are missing
    """

    def __init__(self, stats, count, silence):
        self.stats = stats
        self.silence = silence
        self.counters = [(0, 0)] * count
        self.are_present = [None] * count
        self.last_output = time.monotonic()

    def update(self):
        """Returns the numbers of the parts that are missing or present from now on."""
        now = time.monotonic()
        stats = [self.stats(part) for part in range(len(self.counters))]
        counters = [(one["samples_received"], one["samples_missing"]) for one in stats]
        if counters != self.counters:
            self.last_output = now
        is_silent = now - self.last_output > self.silence
        changed = []
        for part, (old, new) in enumerate(zip(self.counters, counters, strict=True)):
            if new == old and not is_silent:
                continue
            is_present = new[0] > old[0]
            if is_present != self.are_present[part]:
                self.are_present[part] = is_present
                changed.append(part)
        self.counters = counters
        return changed


def parse(argv):
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("endpoint", help="address:port to which receive.py sends")
    parser.add_argument("picture", help="file for the picture, such as spectra.png")
    option(parser, "--of N", positive, "number of parts", 1)
    option(parser, "--channels N", positive, "channels of all parts", 256)
    option(parser, "--spectra N", positive, "spectra per heap of the F-engine", 256)
    option(parser, "--integrate N", positive, "heaps per integrated spectrum", 2)
    option(parser, "--silence S", seconds, "time after which all are missing", "2")
    option(parser, "--timeout S", seconds, "end after this time without packets", "0")
    option(parser, "--interface NAME", str, "network interface", "")
    option(parser, "--metrics ADDRESS:PORT", str, "serve counters to Prometheus")
    args = parser.parse_args(argv)
    if args.channels % args.of:
        parser.error("--channels must be a multiple of --of")
    return args


def main(argv=None):
    args = parse(argv)
    try:
        flow_graph = Collector(args)
        serve_metrics(args.metrics, parts=flow_graph.source)
    except (OSError, ValueError, RuntimeError) as error:
        sys.exit(f"collect.py: {error}")
    parts = Parts(flow_graph.source.stats, args.of, float(args.silence))
    channels = args.channels // args.of

    def report():
        for part in parts.update():
            state = "arrives" if parts.are_present[part] else "is missing"
            first = part * channels
            which = f"part {part}, channels {first} to {first + channels - 1},"
            print(time.strftime("%H:%M:%S"), which, state, flush=True)

    run_to_end(flow_graph, flow_graph.source, watch=report, interval=POLL_SECONDS)
    if not flow_graph.spectra.spectra:
        sys.exit(f"collect.py: {flow_graph.source.stats()['status'] or 'no spectra'}")
    draw(args.picture, power=flow_graph.spectra)
    print(f"{flow_graph.spectra.spectra:,} spectra: {args.picture}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
