#!/usr/bin/env python3
# Copyright 2026 The gr-spead authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Receive the visibilities of MeerKAT's correlator, and draw the mean amplitude and the
phase of one baseline over the channels."""

import argparse
import sys

import numpy as np
from common.arguments import in_options, option, positive, seconds, size
from common.progress import run_to_end
from gnuradio import gr, spead
from matplotlib.figure import Figure


class Mean(gr.sync_block):
    """The mean of vectors."""

    def __init__(self, length):
        gr.sync_block.__init__(self, "mean", [(np.complex64, length)], None)
        self.sum = np.zeros(length, np.complex128)
        self.count = 0

    def work(self, inputs, _):
        self.sum += inputs[0].reshape(len(inputs[0]), -1).sum(axis=0)
        self.count += len(inputs[0])
        return len(inputs[0])


class Receiver(gr.top_block):
    """SPEAD source -> mean"""

    def __init__(self, args):
        super().__init__("receive_visibilities", catch_exceptions=True)
        part = args.channels // args.substreams
        self.source = spead.source(
            args.endpoint,
            output_type="complex",
            scale=1,
            axes=f"frequency={part}/{args.channels}, baseline={args.baselines}",
            timestamp_step=args.ticks,
            timeout=float(args.timeout),
            interface=args.interface,
        )
        self.mean = Mean(args.channels * args.baselines)
        self.connect(self.source, self.mean)


def draw(visibilities, title, path):
    figure = Figure(figsize=(10, 6), layout="constrained")
    figure.suptitle(title)
    amplitude, phase = figure.subplots(2, 1, sharex=True)
    amplitude.plot(np.abs(visibilities))
    amplitude.set(ylabel="amplitude / counts")
    phase.plot(np.angle(visibilities, deg=True), ".")
    phase.set(xlabel="channel", ylabel="phase / degrees", ylim=(-180, 180))
    figure.savefig(path, dpi=120)


def parse(argv):
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("endpoint", help="address:port, or several, comma-separated")
    parser.add_argument("picture", help="file for the picture, such as phases.png")
    option(parser, "--channels N", positive, "channels", 1024)
    option(parser, "--substreams N", positive, "substreams", 4)
    option(parser, "--baselines N", positive, "baselines in a heap", 40)
    option(parser, "--baseline N", size, "index of the baseline to draw", 0)
    option(parser, "--ticks N", positive, "ticks from one heap to the next", 1 << 28)
    option(parser, "--timeout S", seconds, "end after this time without packets", "60")
    option(parser, "--interface NAME", str, "network interface", "")
    args = parser.parse_args(argv)
    if args.channels % args.substreams:
        parser.error("--channels must be a multiple of --substreams")
    if args.baseline >= args.baselines:
        parser.error("--baseline must be below --baselines")
    return args


def main(argv=None):
    args = parse(argv)
    try:
        flow_graph = Receiver(args)
    except (OSError, ValueError, RuntimeError) as error:
        sys.exit(f"receive_visibilities.py: {error}")
    run_to_end(flow_graph, flow_graph.source)
    mean = flow_graph.mean
    if not mean.count:
        status = flow_graph.source.stats()["status"]
        axes = "--channels, --substreams and --baselines"
        sys.exit(f"receive_visibilities.py: {in_options(status, axes=axes)}")
    visibilities = (mean.sum / mean.count).reshape(args.channels, args.baselines)
    title = f"baseline {args.baseline}, mean of {mean.count} integrations"
    draw(visibilities[:, args.baseline], title, args.picture)
    print(f"{title}: {args.picture}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
