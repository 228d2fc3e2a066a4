#!/usr/bin/env python3
# Copyright 2026 The gr-spead authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Send a DADA recording of an EDD packetiser again, as the stream that was recorded."""

import argparse
import sys

import numpy as np
from common.arguments import option, rate
from common.dada import Recording
from common.sender_program import run
from gnuradio import gr, spead

HEADER = 72  # bytes of a packet before its payload


class PolarisationSource(gr.sync_block):
    """The heaps of one polarisation of a recording.

    blocks.deinterleave would stop at the last heap of the shorter polarisation.
    """

    def __init__(self, recording, polarisation):
        gr.sync_block.__init__(self, "polarisation", None, [np.int8])
        self.heaps = recording.data[polarisation :: recording.polarisations]
        self.heap = 0
        self.set_output_multiple(recording.heap_bytes)

    def work(self, _, outputs):
        room = len(outputs[0]) // self.heaps.shape[1]
        part = self.heaps[self.heap : self.heap + room]
        outputs[0][: part.size] = part.ravel()
        self.heap += len(part)
        return part.size or -1  # -1: done


class EffelsbergPacketiser(gr.top_block):
    """A source for each polarisation -> SPEAD sink"""

    def __init__(self, recording, destinations, timestamp_start, **options):
        super().__init__("effelsberg_packetiser", catch_exceptions=True)
        heaps, polarisations = len(recording.data), recording.polarisations
        if heaps < polarisations:
            # GNU Radio would stop the sink when an input ends without a sample.
            raise ValueError(
                f"{recording.path} has {heaps} whole heap for {polarisations}"
                " polarisations; each needs one at least"
            )
        self.total = recording.data.size
        self.sink = spead.sink(
            destinations,
            heap_samples=recording.heap_bytes,  # packed samples are sent as bytes
            num_inputs=polarisations,
            max_packet_size=recording.heap_bytes + HEADER,
            heap_address_bits=48,
            heap_id_start=2,  # mkrecv ignores heap counter 1
            items=[
                spead.timestamp(id=0x1600),
                spead.immediate(0x3101, "digitiser_id", list(range(polarisations))),
                spead.immediate(0x3102, "digitiser_status", 0),
                spead.samples(id=0x3300),
            ],
            descriptors="none",
            timestamp_start=timestamp_start,
            timestamp_step=recording.heap_samples,
            tail="drop",
            **options,
        )
        # The flow graph keeps no reference to blocks that are written in Python.
        self.sources = [PolarisationSource(recording, p) for p in range(polarisations)]
        for polarisation, source in enumerate(self.sources):
            self.connect(source, (self.sink, polarisation))


def parse(argv):
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("file", help="a DADA recording")
    parser.add_argument(
        "destinations",
        nargs="*",
        metavar="ADDRESS[+N]:PORT[,...]",
        help="one for each polarisation (default: the groups of the recording)",
    )
    parser.add_argument(
        "--from-offset",
        action="store_true",
        help="start at the timestamp of this file (OBS_OFFSET), not at that of the"
        " observation (SAMPLE_CLOCK_START)",
    )
    option(
        parser, "--rate BYTES/S", rate, "pace, in bytes of UDP payload; 0: no limit", 0
    )
    option(
        parser,
        "--interface INTERFACE",
        str,
        "interface that packets leave by, a name or an address"
        " (default: by the routing table)",
    )
    option(parser, "--ttl HOPS", int, "time to live of multicast packets", 1)
    parser.add_argument(
        "--send-stop",
        action="store_true",
        help="send an end-of-stream heap: receivers of spead2 end, mkrecv aborts",
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
        rate=float(args.rate),
        interface=args.interface or "",
        ttl=args.ttl,
        send_stop=args.send_stop,
    )


def main(argv=None):
    args = parse(argv)
    try:
        flow_graph = build(args)
    except (OSError, ValueError, RuntimeError) as error:
        sys.exit(f"effelsberg_packetiser.py: {error}")
    return run(flow_graph, flow_graph.total)


if __name__ == "__main__":
    sys.exit(main())
