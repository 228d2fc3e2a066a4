#!/usr/bin/env python3
# Copyright 2026 The gr-spead authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Replay a DADA recording of an EDD packetiser as the original SPEAD stream."""

import argparse
import sys

import numpy as np
from common.arguments import option, rate
from common.dada import Recording
from common.sender_program import run
from gnuradio import gr, spead

HEADER = 72  # bytes before the payload of a packet


class PolarisationSource(gr.sync_block):
    """Outputs the heaps of one polarisation of a recording.

    blocks.deinterleave would end with the shorter polarisation and lose its last heap.
    """

    def __init__(self, recording, polarisation):
        gr.sync_block.__init__(self, "polarisation", None, [np.int8])
        self.heaps = recording.data[polarisation :: recording.polarisations]
        self.next_heap = 0
        self.set_output_multiple(recording.heap_bytes)

    def work(self, _, outputs):
        count = len(outputs[0]) // self.heaps.shape[1]
        heaps = self.heaps[self.next_heap : self.next_heap + count]
        outputs[0][: heaps.size] = heaps.ravel()
        self.next_heap += len(heaps)
        return heaps.size or -1  # WORK_DONE


class EffelsbergPacketiser(gr.top_block):
    """One source per polarisation -> SPEAD sink"""

    def __init__(self, recording, destinations, timestamp_start, **options):
        super().__init__("effelsberg_packetiser", catch_exceptions=True)
        heaps, polarisations = len(recording.data), recording.polarisations
        if heaps < polarisations:
            # GNU Radio stops the sink when an input ends without a sample.
            raise ValueError(
                f"{recording.path} has {heaps} whole heap for {polarisations}"
                " polarisations; each needs at least one"
            )
        self.total = recording.data.size
        self.sink = spead.sink(
            destinations,
            heap_samples=recording.heap_bytes,  # sends packed samples as bytes
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
        # The flow graph does not keep Python blocks alive.
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
        help="one per polarisation (default: the groups of the recording)",
    )
    parser.add_argument(
        "--from-offset",
        action="store_true",
        help="start at the first timestamp of this file (OBS_OFFSET), not of the"
        " observation (SAMPLE_CLOCK_START)",
    )
    option(parser, "--rate BYTES/S", rate, "rate limit for UDP payload; 0: no limit", 0)
    option(
        parser,
        "--interface INTERFACE",
        str,
        "outgoing interface, a name or an address (default: from the routing table)",
    )
    option(parser, "--ttl HOPS", int, "time to live of multicast packets", 1)
    parser.add_argument(
        "--send-stop",
        action="store_true",
        help="send an end-of-stream heap: spead2 receivers end, mkrecv aborts",
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
