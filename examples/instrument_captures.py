#!/usr/bin/env python3
# Copyright 2026 The gr-spead authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Write a small capture of each instrument's stream: noise with a drifting tone, packed
as the instrument packs its samples, at a reduced sample rate."""

import argparse
import sys
from pathlib import Path
from typing import Any

import numpy as np
from common.arguments import option, positive
from common.progress import run_to_end
from gnuradio import blocks, gr, spead

NOISE = 0.1  # standard deviation; full scale is 1
CHANNELS = 256
SPECTRA_RATE = 512  # per second
SAMPLE_RATE = 200_000

DIGITISER = {
    "input_type": "float",
    "num_inputs": 2,
    "heap_samples": 4096,
    "max_packet_size": 4168,
    "heap_address_bits": 48,
    "heap_id_start": 2,
    "items": [
        spead.timestamp(),
        spead.immediate(0x3101, "digitiser_id", [0, 1]),
        spead.immediate(0x3102, "digitiser_status", 0),
        spead.samples(0x3300),
    ],
    "tail": "drop",
    "send_stop": False,
    "rate": 2 * SAMPLE_RATE,
}
CHANNELISED = {
    "input_type": "complex",
    "heap_address_bits": 48,
    "descriptors": "separate",
    "tail": "drop",
}
# the destinations, and the options of the sink
CAPTURES: dict[str, tuple[list[str], dict[str, Any]]] = {
    "meerkat_digitiser": (
        ["239.102.0.0+7:7148", "239.102.0.8+7:7148"],
        DIGITISER | {"heap_id_step": 2, "descriptors": "separate"},
    ),
    "meerkat_f_engine": (
        [f"239.102.1.{i}:7148" for i in range(4)],
        CHANNELISED
        | {
            "items": [
                spead.timestamp(),
                spead.immediate(0x4101, "feng_id", 0),
                spead.immediate(0x4103, "frequency", []),
                spead.samples(0x4300, "feng_raw"),
            ],
            "axes": f"frequency=64/{CHANNELS}, time=256, pol=2",
            "timestamp_step": 2 * CHANNELS * 256,
            "heap_id_start": 0,
            "heap_id_step": 64,
            "rate": 4 * CHANNELS * SPECTRA_RATE,
        },
    ),
    "meerkat_beam": (
        [f"239.102.2.{i}:7148" for i in range(4)],
        CHANNELISED
        | {
            "items": [
                spead.timestamp(),
                spead.immediate(0x4103, "frequency", []),
                spead.samples(0x5000, "bf_raw"),
            ],
            "axes": f"frequency=64/{CHANNELS}, time=256",
            "timestamp_step": 2 * CHANNELS * 256,
            "rate": 2 * CHANNELS * SPECTRA_RATE,
        },
    ),
    "effelsberg_packetiser": (
        ["225.0.0.140+3:7148", "225.0.0.144+3:7148"],
        DIGITISER | {"descriptors": "none"},
    ),
    "ska_low_station_beam": (
        ["10.0.0.1:4660"],
        {
            "input_type": "complex",
            "single_packet_heaps": True,
            "max_packet_size": 9000,
            "heap_address_bits": 48,
            "items": [
                spead.immediate(0x3010, "scan_id", 1),
                spead.immediate(0x3000, "channel", 3 << 16 | 100),
                spead.immediate(0x3001, "station", 5 << 16),
                spead.samples(0x3300, "voltages"),
            ],
            "axes": "time=2048, pol=2",
            "descriptors": "none",
            "tail": "drop",
            "send_stop": False,
            "rate": 4 * SAMPLE_RATE,
        },
    ),
}


def noise(generator, shape):
    parts = generator.normal(scale=NOISE, size=(2, *shape))
    return (parts[0] + 1j * parts[1]).astype(np.complex64)


def voltages(generator, seconds):
    """Complex samples; the frequency of the tone rises from 0.1 to 0.4 of the rate."""
    count = seconds * SAMPLE_RATE
    phase = 2 * np.pi * np.cumsum(np.linspace(0.1, 0.4, count))
    tone = NOISE * np.exp(1j * phase).astype(np.complex64)
    return noise(generator, [count]) + tone


def spectra(generator, seconds):
    """Spectra with a strong channel, which rises from 25 to 100."""
    count = seconds * SPECTRA_RATE
    channels = noise(generator, [count, CHANNELS])
    strong = np.linspace(25, 100, count).astype(int)
    channels[np.arange(count), strong] *= 5
    return channels.ravel()


def write_capture(path, name, seconds=10):
    """Write the capture of an instrument; returns the counters of the sink."""
    destinations, options = CAPTURES[name]
    sink = spead.sink(
        [f"{path}?{destination}" for destination in destinations], **options
    )
    generator = np.random.default_rng(1)
    graph = gr.top_block(catch_exceptions=True)
    for i in range(sink.input_signature().min_streams()):
        if options["input_type"] == "float":
            samples = voltages(generator, seconds).real
            source = blocks.vector_source_f(samples)
        elif "frequency" in options["axes"]:
            source = blocks.vector_source_c(
                spectra(generator, seconds), False, CHANNELS
            )
        else:
            source = blocks.vector_source_c(voltages(generator, seconds))
        graph.connect(source, (sink, i))
    run_to_end(graph, sink)
    return sink.stats()


def parse(argv):
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument(
        "folder", nargs="?", type=Path, default=Path(), help="for the captures"
    )
    option(parser, "--seconds N", positive, "duration of each capture", 10)
    return parser.parse_args(argv)


def main(argv=None):
    args = parse(argv)
    for name in CAPTURES:
        path = args.folder / f"{name}.pcap"
        try:
            stats = write_capture(path, name, args.seconds)
        except (OSError, ValueError, RuntimeError) as error:
            sys.exit(f"instrument_captures.py: {error}")
        if stats["packets_dropped"]:
            sys.exit(f"instrument_captures.py: {path} is incomplete")
        print(f"{path}: {stats['heaps_sent']:,} heaps")
    return 0


if __name__ == "__main__":
    sys.exit(main())
