# Copyright 2026 The gr-spead authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Spectrum and waterfall of a stream of unlimited length."""

import numpy as np
from gnuradio import gr
from matplotlib.figure import Figure


class Spectra(gr.sync_block):
    """Adds up spectra of power. Keeps a limited number of rows: when they are full, it
    joins neighbours."""

    ROWS = 1024

    def __init__(self, channels):
        gr.sync_block.__init__(self, "spectra", [(np.float32, channels)], None)
        self.power = np.zeros((self.ROWS, channels))
        self.spectra_per_row = 1
        self.spectra = 0

    def work(self, inputs, _):
        power = inputs[0]
        while self.spectra + len(power) > self.ROWS * self.spectra_per_row:
            half = self.power.reshape(self.ROWS // 2, 2, -1).sum(axis=1)
            self.power[: len(half)], self.power[len(half) :] = half, 0
            self.spectra_per_row *= 2
        rows = (self.spectra + np.arange(len(power))) // self.spectra_per_row
        np.add.at(self.power, rows, power)
        self.spectra += len(power)
        return len(power)

    def levels(self):
        """Rows of power in dB; NaN where all samples are missing."""
        rows = -(-self.spectra // self.spectra_per_row)
        return decibels(self.power[:rows] / self.spectra_per_row)


def decibels(power):
    return 10 * np.log10(np.where(power > 0, power, np.nan))


def draw(path, **columns):
    """Draw spectra, each in a column with its name as the title."""
    figure = Figure(figsize=(10, 6), layout="constrained")
    axes = figure.subplots(
        2, len(columns), sharex=True, height_ratios=[1, 2], squeeze=False
    )
    for i, (name, spectra) in enumerate(columns.items()):
        levels = spectra.levels()
        mean = spectra.power.sum(axis=0) / max(spectra.spectra, 1)
        axes[0, i].plot(decibels(mean))
        axes[0, i].set(title=name.replace("_", " "), ylabel="power / dB")
        axes[1, i].imshow(
            levels,
            aspect="auto",
            extent=(0, levels.shape[1], len(levels) * spectra.spectra_per_row, 0),
            vmin=np.nanpercentile(levels, 1) if np.isfinite(levels).any() else None,
        )
        axes[1, i].set(xlabel="channel", ylabel="spectrum")
    figure.savefig(path, dpi=120)
