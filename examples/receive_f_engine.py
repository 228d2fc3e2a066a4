#!/usr/bin/env python3
# Copyright 2026 The gr-spead authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Receive the channelised voltages of a MeerKAT F-engine, and draw the spectrum and the
waterfall of both polarisations."""

import argparse
import sys

import numpy as np
from common.arguments import in_options, option, positive, seconds
from common.progress import run_to_end
from gnuradio import gr, spead
from matplotlib.figure import Figure


class Spectra(gr.sync_block):
    """Adds up the power of spectra. Keeps a limited number of rows: when they are full,
    it joins neighbours."""

    ROWS = 1024

    def __init__(self, channels):
        gr.sync_block.__init__(self, "spectra", [(np.complex64, channels)], None)
        self.power = np.zeros((self.ROWS, channels))
        self.spectra_per_row = 1
        self.spectra = 0

    def work(self, inputs, _):
        power = np.abs(inputs[0]) ** 2
        while self.spectra + len(power) > self.ROWS * self.spectra_per_row:
            half = self.power.reshape(self.ROWS // 2, 2, -1).sum(axis=1)
            self.power[: len(half)], self.power[len(half) :] = half, 0
            self.spectra_per_row *= 2
        rows = (self.spectra + np.arange(len(power))) // self.spectra_per_row
        np.add.at(self.power, rows, power)
        self.spectra += len(power)
        return len(power)

    def levels(self):
        """Rows of power in dB."""
        rows = -(-self.spectra // self.spectra_per_row)
        return 10 * np.log10(self.power[:rows] / self.spectra_per_row + 1e-12)


class Receiver(gr.top_block):
    """SPEAD source -> spectra of each polarisation"""

    def __init__(self, args):
        super().__init__("receive_f_engine", catch_exceptions=True)
        part = args.channels // args.substreams
        self.source = spead.source(
            args.endpoint,
            output_type="complex",
            axes=f"frequency={part}/{args.channels}, time={args.spectra}, pol=2",
            timestamp_step=2 * args.channels * args.spectra,  # of a digitiser
            timeout=float(args.timeout),
            interface=args.interface,
        )
        self.pols = [Spectra(args.channels) for _ in range(2)]
        for i, spectra in enumerate(self.pols):
            self.connect((self.source, i), spectra)


def draw(pols, path):
    figure = Figure(figsize=(10, 6), layout="constrained")
    axes = figure.subplots(2, 2, sharex=True, height_ratios=[1, 2])
    for i, spectra in enumerate(pols):
        levels = spectra.levels()
        mean = spectra.power.sum(axis=0) / max(spectra.spectra, 1)
        axes[0, i].plot(10 * np.log10(mean + 1e-12))
        axes[0, i].set(title=f"polarisation {i}", ylabel="power / dB")
        axes[1, i].imshow(
            levels,
            aspect="auto",
            extent=(0, levels.shape[1], len(levels) * spectra.spectra_per_row, 0),
            vmin=np.percentile(levels, 1) if levels.size else None,
        )
        axes[1, i].set(xlabel="channel", ylabel="spectrum")
    figure.savefig(path, dpi=120)


def parse(argv):
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("endpoint", help="address:port, or several, comma-separated")
    parser.add_argument("picture", help="file for the picture, such as spectra.png")
    option(parser, "--channels N", positive, "channels", 256)
    option(parser, "--substreams N", positive, "substreams", 4)
    option(parser, "--spectra N", positive, "spectra per heap", 256)
    option(parser, "--timeout S", seconds, "end after this time without packets", "60")
    option(parser, "--interface NAME", str, "network interface", "")
    args = parser.parse_args(argv)
    if args.channels % args.substreams:
        parser.error("--channels must be a multiple of --substreams")
    return args


def main(argv=None):
    args = parse(argv)
    try:
        flow_graph = Receiver(args)
    except (OSError, ValueError, RuntimeError) as error:
        sys.exit(f"receive_f_engine.py: {error}")
    run_to_end(flow_graph, flow_graph.source)
    stats = flow_graph.source.stats()
    if not stats["samples_out"]:
        axes = "--channels, --substreams and --spectra"
        sys.exit(f"receive_f_engine.py: {in_options(stats['status'], axes=axes)}")
    draw(flow_graph.pols, args.picture)
    spectra = flow_graph.pols[0].spectra
    missing = stats["samples_missing"] / stats["samples_out"]
    print(f"{spectra:,} spectra, {missing:.2%} of the samples missing: {args.picture}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
