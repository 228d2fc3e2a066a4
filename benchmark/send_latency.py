#!/usr/bin/env python3
# Copyright 2026 The gr-spead authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Measure the latency from the last sample of a heap to the heap's last packet.

A source outputs samples in pieces, like a device, and writes the current time into the
last samples of each heap. The latency is the kernel's receive timestamp of the last
packet, on loopback, minus that time. It includes the scheduler, the sink and the
network stack. With a rate, pacing delays the part of a heap beyond burst_size.
"""

import argparse
import sys

import numpy as np
from arguments import megabytes, packet_size, positive, several
from sender_process import Sender, SenderError
from stamped_socket import StampedSocket

SECONDS = 1.4  # duration of the samples of a row of the table
MIN_HEAPS = 20
WARM_UP = 5  # heaps excluded because of page faults
MARGIN = 1.1  # rate of the sink, relative to the rate of the samples
TIME_SAMPLES = 8  # samples of 8 bits that hold the time

# SPEAD item IDs.
HEAP_LENGTH, HEAP_OFFSET, PAYLOAD_LENGTH = 2, 3, 4


def immediate_items(packet, address_bits):
    """The values of the immediate items by ID, and the offset of the payload."""
    payload = 8 + 8 * int.from_bytes(packet[6:8], "big")
    items = {}
    for offset in range(8, payload, 8):
        pointer = int.from_bytes(packet[offset : offset + 8], "big")
        item_id = pointer >> address_bits & (1 << 63 - address_bits) - 1
        if pointer >> 63:
            items[item_id] = pointer & (1 << address_bits) - 1
    return items, payload


def output_time(packet, address_bits=40):
    """The time in ns from the last packet of a heap; None for other packets."""
    items, payload = immediate_items(packet, address_bits)
    length = items[PAYLOAD_LENGTH]
    if not items[HEAP_LENGTH] or items[HEAP_OFFSET] + length != items[HEAP_LENGTH]:
        return None
    if length < TIME_SAMPLES:
        raise SenderError("two packets share the time; use other --heap-sizes")
    end = payload + length
    return int.from_bytes(packet[end - TIME_SAMPLES : end], sys.byteorder)


def measure(args, heap, rate, heaps):
    """Send heaps, paced at `rate` unless it is 0; return the latencies in ns."""
    samples = {"rate": args.rate, "heap": heap, "heaps": heaps, "piece": args.piece}
    sink = {
        "heap_samples": heap,
        "max_packet_size": args.packet,
        "descriptors": "none",
        "rate": rate,
        "send_stop": False,
    }
    latencies = []
    buffer = bytearray(65536)
    with (
        StampedSocket("127.0.0.1", whole=False) as sock,
        Sender({"destinations": sock.address, **sink}, timed_source=samples) as sender,
    ):
        while (message := sock.receive(buffer)) or sender.running:
            if not message:
                continue
            output = output_time(memoryview(buffer)[: message.size])
            if output is not None:
                latencies.append(message.time - output)
        sender.stats()
    if len(latencies) <= WARM_UP:
        raise SenderError(f"{len(latencies)} of {heaps} heaps arrived")
    return np.array(latencies)


HEAD = """\
    heap       rate  heaps  lost  median  99th percentile  longest
   bytes       MB/s                   us               us       us
"""


def row(heap, rate, latencies, lost):
    pace = f"{rate / 1e6:.1f}" if rate else "none"
    # "higher" returns a measured latency instead of interpolating.
    percentile_99 = np.percentile(latencies, 99, method="higher")
    return (
        f"{heap:8} {pace:>10} {len(latencies):6} {lost:5}"
        f" {np.median(latencies) / 1e3:7.0f} {percentile_99 / 1e3:16.0f}"
        f" {latencies.max() / 1e3:8.0f}"
    )


def parse(argv=None):
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    add = parser.add_argument
    add(
        "--heap-sizes",
        metavar="BYTES",
        type=several(positive(int)),
        default="1024,8192,65536",
        help="at least 8, default: 1024,8192,65536",
    )
    add(
        "--heaps",
        type=positive(int),
        help=f"heaps per size, default: {SECONDS} s of samples, at least {MIN_HEAPS}",
    )
    add(
        "--rate",
        metavar="MB/S",
        type=megabytes,
        default="1",
        help="rate of the samples, default: 1",
    )
    add(
        "--piece",
        metavar="SAMPLES",
        type=positive(int),
        default=1024,
        help="samples per call of the source, at least 8, default: 1024",
    )
    add("--packet", type=packet_size, default=1472, help="bytes per packet")
    return parser.parse_args(argv)


def main(argv=None):
    args = parse(argv)
    print(HEAD, end="")
    for heap in args.heap_sizes:
        heaps = args.heaps or max(round(SECONDS * args.rate / heap), MIN_HEAPS)
        heaps += WARM_UP
        for rate in (0, MARGIN * args.rate):
            latencies = measure(args, heap, rate, heaps)
            counted = latencies[WARM_UP:]
            print(row(heap, rate, counted, heaps - len(latencies)), flush=True)


if __name__ == "__main__":
    try:
        main()
    except SenderError as error:
        sys.exit(f"send_latency.py: {error}")
