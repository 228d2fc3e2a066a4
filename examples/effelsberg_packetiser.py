#!/usr/bin/env python3
# Copyright 2026 The gr-spead authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Send a DADA recording of an EDD packetiser again, as the stream it was recorded from:
the polarisations that alternate in it, each with its timestamps, to its own groups."""

import argparse
import sys

import numpy as np
from gnuradio import gr, spead
from instruments.dada import Recording
from send_recording import exit_status, run

HEADER = 72  # bytes of a packet before its payload


class PolarisationSource(gr.sync_block):
    """The samples of one polarisation of a recording.

    Not blocks.deinterleave, which waits for as many heaps of the others, while a
    recording may end with any.
    """

    def __init__(self, recording, polarisation):
        gr.sync_block.__init__(self, "polarisation", None, [np.int8])
        self.heaps = recording.data[polarisation :: recording.polarisations]
        self.heap = 0
        self.set_output_multiple(recording.heap_bytes)

    def work(self, _, outputs):
        room = len(outputs[0]) // self.heaps.shape[1]
        part = self.heaps[self.heap : self.heap + room]
        outputs[0][: part.size] = part.view(np.int8).ravel()
        self.heap += len(part)
        return part.size or -1  # -1: done


class EffelsbergPacketiser(gr.top_block):
    """One source for each polarisation -> SPEAD sink"""

    def __init__(self, recording, destinations, timestamp_start, **options):
        super().__init__("effelsberg_packetiser", catch_exceptions=True)
        heaps, polarisations = len(recording.data), recording.polarisations
        if heaps < polarisations:
            # GNU Radio would end the sink for an input that has nothing.
            raise ValueError(
                f"{recording.path} has {heaps} whole heap for {polarisations}"
                " polarisations; each needs one at least"
            )
        self.total = recording.data.size
        self.sink = spead.sink(
            destinations,
            # bytes, however many samples are packed in them
            heap_samples=recording.heap_bytes,
            num_inputs=recording.polarisations,
            max_packet_size=recording.heap_bytes + HEADER,
            heap_address_bits=48,
            heap_id_start=2,  # mkrecv ignores heap counter 1
            items=[
                spead.timestamp(id=0x1600),
                spead.immediate(
                    id=0x3101,
                    name="digitiser_id",
                    value=list(range(recording.polarisations)),
                ),
                spead.immediate(id=0x3102, name="digitiser_status", value=0),
                spead.samples(id=0x3300),
            ],
            descriptors="none",
            timestamp_start=timestamp_start,
            timestamp_step=recording.heap_samples,
            tail="drop",
            **options,
        )
        # kept: the flow graph does not keep blocks that are written in Python
        self.sources = [
            PolarisationSource(recording, polarisation)
            for polarisation in range(recording.polarisations)
        ]
        for polarisation, source in enumerate(self.sources):
            self.connect(source, (self.sink, polarisation))


def parse(argv):
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("file", help="a DADA recording")
    parser.add_argument(
        "destinations",
        nargs="*",
        metavar="ADDRESS[+N]:PORT[,...]",
        help="one for each polarisation; default: the groups of the recording",
    )
    parser.add_argument(
        "--from-offset",
        action="store_true",
        help="start where OBS_OFFSET says that this file does, not at"
        " SAMPLE_CLOCK_START",
    )
    parser.add_argument(
        "--rate", type=float, default=0, help="bytes/s; default: as fast as possible"
    )
    parser.add_argument("--interface", default="", help="a name or an address")
    parser.add_argument("--ttl", type=int, default=1)
    parser.add_argument(
        "--send-stop",
        action="store_true",
        help="send an end-of-stream heap, which ends the receivers of spead2 for good"
        " and aborts mkrecv",
    )
    return parser.parse_args(argv)


def build(args):
    recording = Recording(args.file)
    start = recording.sample_clock_start
    if args.from_offset:
        start += recording.offset
    return EffelsbergPacketiser(
        recording,
        args.destinations or recording.destinations(),
        start,
        rate=args.rate,
        interface=args.interface,
        ttl=args.ttl,
        send_stop=args.send_stop,
    )


def main(argv=None):
    args = parse(argv)
    try:
        flow_graph = build(args)
    except (OSError, ValueError, RuntimeError) as error:
        sys.exit(f"effelsberg_packetiser.py: {error}")
    seconds = run(flow_graph)
    stats = flow_graph.sink.stats()
    print(f"{stats['heaps_sent']:,} heaps in {seconds:.2f} s")
    return exit_status(flow_graph)


if __name__ == "__main__":
    sys.exit(main())
