#!/usr/bin/env python3
# Copyright 2026 The gr-spead authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Measure the latency from sending a packet to the block after the SPEAD source.

A process sends packets over loopback, with the current time in the last samples of
each. The block after the source subtracts that time from the time of its call.
"first" is the latency of the first packet of the stream.
"""

import argparse
import json
import socket
import struct
import subprocess
import sys
import time

import numpy as np
from arguments import megabytes, packet_size, positive, several, size
from gnuradio import gr, spead
from receivers import end_of_stream

HEAD = """\
    heap  packet   rate  packets  missing   first  median  99th percentile  longest
   bytes   bytes   MB/s           samples      us      us               us       us
"""
HEADER_BYTES = 8 * 7
TIME_BYTES = 8


class Packets:
    """Generates SPEAD-64-40 packets that end with the current time."""

    def __init__(self, heap, packet):
        self.heap = heap
        self.payload = min(packet - HEADER_BYTES, heap) // TIME_BYTES * TIME_BYTES
        self.noise = np.random.default_rng(1).bytes(self.payload - TIME_BYTES)
        self.counter = self.offset = 0

    def next(self):
        items = (
            (1, self.counter + 1),
            (2, self.heap),
            (3, self.offset),
            (4, self.payload),
            (0x1600, self.counter * self.heap),
        )
        words = [1 << 63 | item << 40 | value for item, value in items]
        packet = struct.pack(">7Q", 0x5304030500000006, *words, 0x3300 << 40)
        self.offset += self.payload
        if self.offset == self.heap:
            self.counter, self.offset = self.counter + 1, 0
        return packet + self.noise + struct.pack("=q", time.time_ns())


def send(port, heap, packet, rate, seconds):
    packets = Packets(heap, packet)
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as sock:
        begin = time.monotonic()
        count = max(round(rate * seconds / packets.payload), 2)
        # Send whole heaps: the source would count the rest of one as missing.
        packets_per_heap = -(-heap // packets.payload)
        for n in range(-(-count // packets_per_heap) * packets_per_heap):
            due = begin + n * packets.payload / rate
            time.sleep(max(due - time.monotonic(), 0))
            sock.sendto(packets.next(), ("127.0.0.1", port))
        sock.sendto(end_of_stream(), ("127.0.0.1", port))


class Stopwatch(gr.sync_block):
    """Measures the latencies in ns of pieces that end with a time."""

    def __init__(self, piece):
        gr.sync_block.__init__(self, "stopwatch", [np.int8], None)
        self.piece = piece
        self.left = np.zeros(0, np.int8)
        self.latencies = []

    def work(self, inputs, _):
        now = time.time_ns()
        samples = np.concatenate([self.left, inputs[0]])
        whole = len(samples) // self.piece * self.piece
        ends = samples[:whole].reshape(-1, self.piece)[:, -TIME_BYTES:]
        times = np.frombuffer(ends.tobytes(), np.int64)
        self.latencies += (now - times[times != 0]).tolist()
        self.left = samples[whole:]
        return len(inputs[0])


def measure(heap, packet, rate, seconds):
    """Return the latencies in ns and the stats of the source."""
    piece = Packets(heap, packet).payload
    if heap % piece:
        sys.exit(f"receive_latency.py: packets of {piece} samples do not fill {heap}")
    items = [spead.timestamp(), spead.samples()]
    source = spead.source("127.0.0.1:0", items=items)
    stopwatch = Stopwatch(piece)
    graph = gr.top_block()
    graph.connect(source, stopwatch)
    graph.start()
    arguments = json.dumps([source.ports()[0], heap, packet, rate, seconds])
    subprocess.run([sys.executable, __file__, "--send", arguments], check=True)
    graph.wait()
    return np.array(stopwatch.latencies), source.stats()


def parse(argv=None):
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    add = parser.add_argument
    add("--heap", type=size, default="64M", help="bytes, a multiple of the payload")
    add("--packet", type=packet_size, default=1080, help="bytes, with 56 of header")
    add("--rates", metavar="MB/S", type=several(megabytes), default="1,10")
    add("--seconds", type=positive(float), default=3)
    add("--send", type=json.loads, help=argparse.SUPPRESS)
    return parser.parse_args(argv)


def main(argv=None):
    args = parse(argv)
    if args.send:
        return send(*args.send)
    print(HEAD, end="")
    for rate in args.rates:
        latencies, stats = measure(args.heap, args.packet, rate, args.seconds)
        us = latencies / 1e3
        print(
            f"{args.heap:8} {args.packet:7} {rate / 1e6:6.1f} {len(us):8}"
            f" {stats['samples_missing']:8} {us[0]:7.0f} {np.median(us):7.0f}"
            f" {np.percentile(us, 99, method='higher'):16.0f} {us.max():8.0f}",
            flush=True,
        )
    return None


if __name__ == "__main__":
    sys.exit(main())
