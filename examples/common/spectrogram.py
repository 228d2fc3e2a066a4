# Copyright 2026 The gr-spead authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Spectrogram of a stream of unlimited length."""

import numpy as np
from matplotlib.figure import Figure


class Spectrogram:
    """Computes spectra at regular intervals, in bounded memory.

    When the memory is full, it drops every second spectrum and doubles the interval.
    Samples are an array of integers, or of (real, imaginary) pairs of integers.
    """

    FFT_SIZE = 1024
    SPECTRA = 8192  # 16 MiB
    ROWS = 512  # of the plot; a row is the mean of its spectra

    def __init__(self):
        self.figure = Figure(figsize=(10, 6), layout="constrained")
        self.power = None
        self.is_complex = False
        self.position = 0  # samples added
        self.next_start = 0  # sample at which the next spectrum starts

    def add(self, samples):
        if self.power is None:
            self._allocate(min(self.FFT_SIZE, len(samples)), samples)
        if self.is_complex:
            samples = samples[:, 0] + 1j * samples[:, 1]
        size = len(self.window)
        # No spectrum spans two heaps.
        self.next_start = max(self.next_start, self.position)
        while self.next_start + size <= self.position + len(samples):
            while self.next_start >= self.SPECTRA * self.interval:
                self._drop_every_second()
            index = self.next_start // self.interval
            start = self.next_start - self.position
            windowed = samples[start : start + size] * self.window
            if self.is_complex:
                spectrum = np.fft.fftshift(np.fft.fft(windowed))
            else:
                spectrum = np.fft.rfft(windowed)
            self.power[index] = np.abs(spectrum) ** 2
            self.next_start = (index + 1) * self.interval
        self.position += len(samples)

    def _allocate(self, size, samples):
        self.is_complex = samples.ndim == 2
        self.window = np.hanning(size + 2)[1:-1]
        peak = np.iinfo(samples.dtype).max + 1  # amplitude of a full-scale sine
        self.full_scale = (peak * self.window.sum()) ** 2
        if not self.is_complex:
            self.full_scale /= 4  # the other half is at the negative frequency
        self.interval = size
        bins = size if self.is_complex else size // 2 + 1
        self.power = np.full((self.SPECTRA, bins), np.nan, np.float32)

    def _drop_every_second(self):
        half = self.SPECTRA // 2
        self.power[:half] = self.power[::2]
        self.power[half:] = np.nan
        self.interval *= 2

    def levels(self):
        """Rows of levels in dB of full scale, and the samples per row."""
        if self.power is None:
            return np.full((1, 1), np.nan), 1
        used = min(-(-self.position // self.interval), self.SPECTRA)
        group = -(-used // self.ROWS)
        rows = self.SPECTRA // group
        power = self.power[: rows * group].reshape(rows, group, -1)
        power = np.ma.masked_invalid(power).mean(axis=1).filled(np.nan)
        levels = 10 * np.log10(power / self.full_scale + 1e-15)
        return levels[: -(-used // group)], group * self.interval

    def save(self, path, sample_rate=None):
        axes = self.figure.add_subplot()
        if sample_rate:
            axes.set(xlabel="time / s", ylabel="frequency / MHz")
            time_unit, top = sample_rate, sample_rate / 2e6
        else:
            axes.set(xlabel="sample", ylabel="frequency / sample rate")
            time_unit, top = 1, 0.5
        levels, row_samples = self.levels()
        image = axes.imshow(
            levels.T,
            origin="lower",
            aspect="auto",
            extent=(
                *(0, len(levels) * row_samples / time_unit),
                *(-top if self.is_complex else 0, top),
            ),
        )
        axes.set_xlim(0, max(self.position, 1) / time_unit)
        self.figure.colorbar(image, label="power / dB of full scale")
        self.figure.savefig(path, dpi=120)
