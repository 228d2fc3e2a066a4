#!/usr/bin/env python3
# Copyright 2026 The gr-spead authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Receive a part of the channels of a MeerKAT F-engine, and send or save its power, the
sum of both polarisations, integrated. Run one process for each part, on any hosts."""

import argparse
import json
import sys
import time
from fractions import Fraction
from pathlib import Path

sys.path.append(str(Path(__file__).resolve().parents[1]))

import numpy as np
import pmt
from common.arguments import option, positive, positive_rate, seconds, size
from common.endpoints import endpoint_text, endpoints
from common.progress import run_to_end
from gnuradio import blocks, gr, spead

FREQUENCY, POWER = 0x4103, 0x5100  # the first channel of a heap, and its power


class Continuous(gr.sync_block):
    """Ends the flow graph where the samples do not continue from the first tick.

    Later integrations would not line up with those of the other parts.
    """

    def __init__(self, channels, first_tick):
        vector = (np.float32, channels)
        gr.sync_block.__init__(self, "continuous", [vector], [vector])
        self.first_tick = first_tick
        self.error = None

    def work(self, inputs, outputs):
        count = len(inputs[0])
        for tag in self.get_tags_in_window(0, 0, count, pmt.intern("timestamp")):
            tick = pmt.to_python(tag.value)
            if (tag.offset, tick) != (0, self.first_tick):
                self.error = f"the stream continues at tick {tick}: start again"
                count = min(count, tag.offset - self.nitems_read(0))
        outputs[0][:count] = inputs[0][:count]
        return count or -1  # -1: the end


class Part(gr.top_block):
    """SPEAD source -> power -> sum of polarisations -> integration -> block `output`"""

    def __init__(self, args, output):
        super().__init__("receive", catch_exceptions=True)
        channels, heap_channels = (
            args.channels // args.of,
            args.channels // args.substreams,
        )
        first = args.part * channels
        firsts = list(range(first, first + channels, heap_channels))
        self.source = spead.source(
            own_endpoints(args),
            output_type="complex",
            wire_type="i1",
            scale=1,
            items=[
                spead.timestamp(),
                spead.immediate(FREQUENCY, "frequency", firsts),
                spead.samples(0x4300, "feng_raw"),
            ],
            axes=f"frequency={heap_channels}/{channels}, time={args.spectra}, pol=2",
            timestamp_step=heap_ticks(args),
            timestamp_start=args.start,
            timeout=float(args.timeout),
            interface=args.interface,
        )
        self.continuous = Continuous(channels, args.start)
        both = blocks.add_ff(channels)
        for pol in range(2):
            power = blocks.complex_to_mag_squared(channels)
            self.connect((self.source, pol), power, (both, pol))
        chain = [both, self.continuous]
        spectra = args.integrate * args.spectra
        if args.count:  # here, because a flow graph ends only once its buffers are full
            chain.append(blocks.head(gr.sizeof_float * channels, args.count * spectra))
        chain.append(blocks.integrate_ff(spectra, channels))
        self.connect(*chain, output)


def own_endpoints(args):
    """The endpoints of the part: its share of several, or the only one."""
    every = [endpoint_text(*endpoint) for endpoint in endpoints(args.endpoints)]
    if len(every) == 1:
        return every[0]
    if len(every) % args.of:
        raise ValueError(f"{len(every)} endpoints cannot be divided by --of {args.of}")
    share = len(every) // args.of
    return ",".join(every[args.part * share : (args.part + 1) * share])


def heap_ticks(args):
    """Of a digitiser, whose samples are real."""
    return 2 * args.channels * args.spectra


def collector_sink(args):
    """Sends the spectra as heaps whose times and counters follow from their ticks."""
    ticks = args.integrate * heap_ticks(args)
    channels = args.channels // args.of
    return spead.sink(
        args.output,
        input_type="float",
        wire_type="f4",
        items=[
            spead.timestamp(),
            spead.immediate(FREQUENCY, "frequency", args.part * channels),
            spead.samples(POWER, "power"),
        ],
        axes=f"frequency={channels}",
        timestamp_start=args.start,
        timestamp_step=ticks,
        heap_address_bits=48,
        heap_id_start=(args.start // ticks * args.of + args.part) % 2**48,
        heap_id_step=args.of,
        interface=args.interface,
        send_stop=False,  # the other parts go on
    )


def add_stream_options(parser):
    option(parser, "--channels N", positive, "channels of the F-engine", 256)
    option(parser, "--substreams N", positive, "substreams", 4)
    option(parser, "--spectra N", positive, "spectra per heap", 256)
    option(parser, "--integrate N", positive, "heaps per integrated spectrum", 2)
    option(parser, "--start TICK", size, "first tick (default: from --sync-time)")
    option(parser, "--sync-time S", seconds, "time of tick 0, in seconds since 1970")
    option(parser, "--sample-rate HZ", positive_rate, "ticks per second", "2M")
    option(parser, "--delay S", seconds, "start this long after the program", "2")
    option(parser, "--timeout S", seconds, "end after this time without packets", "0")
    option(parser, "--interface NAME", str, "network interface", "")


def check_stream_options(parser, args):
    """Also sets `start`: the first multiple of an integration after the delay."""
    if args.channels % args.substreams or args.substreams % args.of:
        parser.error("--channels must be a multiple of --substreams, and that of --of")
    ticks = args.integrate * heap_ticks(args)
    if args.start is None:
        if args.sync_time is None:
            parser.error("--sync-time or --start is required")
        now = Fraction(time.time_ns(), 10**9)
        begin = (now + args.delay - args.sync_time) * args.sample_rate
        args.start = -(-begin // ticks) * ticks
    if args.start < 0 or args.start % ticks:
        parser.error(
            f"--start {args.start} is not a multiple of an integration, {ticks}"
        )


def parse(argv):
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument(
        "endpoints",
        help="address:port, or those of all parts, such as 239.1.2.0+3:7148",
    )
    parser.add_argument(
        "output",
        help="host:port of collect.py, or a file such as part.npz for --count spectra"
        " and the counters",
    )
    option(parser, "--part K", size, "number of this part, from 0", 0)
    option(parser, "--of N", positive, "number of parts", 1)
    add_stream_options(parser)
    option(parser, "--count N", positive, "end after N integrated spectra")
    option(parser, "--metrics ADDRESS:PORT", str, "serve counters to Prometheus")
    args = parser.parse_args(argv)
    check_stream_options(parser, args)
    if args.part >= args.of:
        parser.error(f"--part {args.part} is not below --of {args.of}")
    if args.output.endswith(".npz") and not args.count:
        parser.error(f"{args.output} needs --count")
    return args


def serve_metrics(at, **blocks):
    if at:
        import metrics  # needs prometheus_client

        ((address, port),) = endpoints(at)
        metrics.serve(address, port, **blocks)


def main(argv=None):
    args = parse(argv)
    is_file = args.output.endswith(".npz")
    channels = args.channels // args.of
    try:
        output = blocks.vector_sink_f(channels) if is_file else collector_sink(args)
        flow_graph = Part(args, output)
        name = f"part{args.part}"
        served = {name: flow_graph.source}
        if not is_file:
            served[f"{name}_spectra"] = output
        serve_metrics(args.metrics, **served)
    except (OSError, ValueError, RuntimeError) as error:
        sys.exit(f"receive.py: {error}")
    print(f"part {args.part} of {args.of} starts at tick {args.start}", flush=True)
    run_to_end(flow_graph, flow_graph.source)
    stats = flow_graph.source.stats()
    if is_file:
        spectra = np.reshape(output.data(), (-1, channels)).astype(np.float32)
        np.savez(args.output, spectra=spectra, counters=json.dumps(stats))
    if flow_graph.continuous.error:
        sys.exit(f"receive.py: {flow_graph.continuous.error}")
    missing = stats["samples_missing"] / max(stats["samples_out"], 1)
    print(f"part {args.part}: {missing:.2%} of the samples missing")
    return 0


if __name__ == "__main__":
    sys.exit(main())
