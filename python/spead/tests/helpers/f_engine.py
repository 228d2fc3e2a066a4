# Copyright 2026 The gr-spead authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""An F-engine with known voltages, for the receivers in examples/several_hosts."""

import time

import numpy as np
from gnuradio import gr, spead
from streams import source, wait

CHANNELS, SUBSTREAMS, PARTS = 64, 8, 4
SPECTRA = 16  # per heap
INTEGRATE = 2  # heaps
HEAP_TICKS = 2 * CHANNELS * SPECTRA
TICKS = INTEGRATE * HEAP_TICKS  # per integrated spectrum
SAMPLE_RATE = 10 * TICKS  # ticks per second
OPTIONS = {
    "of": PARTS,
    "channels": CHANNELS,
    "spectra": SPECTRA,
    "integrate": INTEGRATE,
}
RECEIVER_OPTIONS = OPTIONS | {"substreams": SUBSTREAMS, "sample-rate": SAMPLE_RATE}


def arguments(options):
    return [f"--{name}={value}" for name, value in options.items()]


class Voltages(source):
    """Vectors that repeat; each is released when its tick has come."""

    def __init__(self, samples, first_tick, sync_time):
        super().__init__(samples, repeat=True)
        self.begin = sync_time + first_tick / SAMPLE_RATE

    def work(self, inputs, outputs):
        due = (time.time() - self.begin) * SAMPLE_RATE / (2 * CHANNELS)
        count = min(int(due) - self.offered, len(outputs[0]))
        if count < 1:
            time.sleep(0.01)  # until the next vectors are due
            return 0
        return super().work(inputs, [outputs[0][:count]])


class Engine:
    """A flow graph that sends, inside the `with` statement.

    destinations: of each substream
    first_tick: a multiple of the ticks of an integrated spectrum
    """

    def __init__(self, destinations, first_tick, sync_time, **options):
        self.first_tick = first_tick
        part = CHANNELS // SUBSTREAMS
        chooser = np.random.default_rng(7)
        # numbers, of real and imaginary parts, of 5.5 integrated spectra
        shape = (2, 11 * SPECTRA, 2 * CHANNELS)
        self.samples = chooser.integers(-128, 128, shape, dtype=np.int8)
        self.sink = spead.sink(
            destinations,
            input_type="sc8",
            items=[
                spead.timestamp(),
                spead.immediate(0x4103, "frequency", []),
                spead.samples(0x4300, "feng_raw"),
            ],
            axes=f"frequency={part}/{CHANNELS}, time={SPECTRA}, pol=2",
            timestamp_start=first_tick,
            timestamp_step=HEAP_TICKS,
            heap_address_bits=48,
            descriptors="separate",
            tail="drop",
            **options,
        )
        self.graph = gr.top_block()
        self.sources = [
            Voltages(samples, first_tick, sync_time) for samples in self.samples
        ]
        for pol, block in enumerate(self.sources):
            self.graph.connect(block, (self.sink, pol))

    def __enter__(self):
        self.graph.start()
        return self

    def __exit__(self, *_):
        self.graph.stop()
        wait(self.graph)

    def integrated(self, tick):
        """The power of each channel, summed from a tick on."""
        first = (tick - self.first_tick) // (2 * CHANNELS)
        indices = (first + np.arange(INTEGRATE * SPECTRA)) % self.samples.shape[1]
        squares = self.samples[:, indices].astype(np.int64) ** 2
        return squares.sum(axis=(0, 1)).reshape(CHANNELS, 2).sum(axis=1)
