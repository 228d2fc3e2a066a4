#!/usr/bin/env python3
# Copyright 2026 The gr-spead authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Measure the latency from the last sample of a heap to the heap's last packet.

A source hands over samples piece by piece, as a device would, and writes the time into
the last samples of each heap. The kernel's receive timestamp of the last packet, on
loopback, minus that time is the latency: from block to block, in the sink, and of the
sending. At a rate, a heap larger than burst_size also takes its time at that rate.
"""

import argparse
import sys

import numpy as np
from arguments import megabytes, packet_size, positive, several
from sender_process import Sender, SenderError
from stamped_socket import StampedSocket

SECONDS = 1.4  # of samples in each row of the table
MIN_HEAPS = 20
WARM_UP = 5  # heaps that are not counted, while memory is touched for the first time
MARGIN = 1.1  # the pace, times the rate of the samples
TIME_SAMPLES = 8  # of 8 bits, which hold the time

# Item IDs of SPEAD.
HEAP_LENGTH, HEAP_OFFSET, PAYLOAD_LENGTH = 2, 3, 4


def immediate_items(packet, address_bits):
    """The values of the immediate items, by ID, and the offset of the payload."""
    payload = 8 + 8 * int.from_bytes(packet[6:8], "big")
    items = {}
    for at in range(8, payload, 8):
        pointer = int.from_bytes(packet[at : at + 8], "big")
        item_id = pointer >> address_bits & (1 << 63 - address_bits) - 1
        if pointer >> 63:
            items[item_id] = pointer & (1 << address_bits) - 1
    return items, payload


def hand_over_time(packet, address_bits=40):
    """The time in ns in the last samples of a heap; None in its other packets."""
    items, payload = immediate_items(packet, address_bits)
    length = items[PAYLOAD_LENGTH]
    if not items[HEAP_LENGTH] or items[HEAP_OFFSET] + length != items[HEAP_LENGTH]:
        return None
    if length < TIME_SAMPLES:
        raise SenderError("the time is in two packets; use other --heap-sizes")
    end = payload + length
    return int.from_bytes(packet[end - TIME_SAMPLES : end], sys.byteorder)


def measure(args, heap, rate, heaps):
    """Sends heaps, paced at `rate` if it is not 0; the latencies in ns."""
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
        Sender({"destinations": sock.address, **sink}, hand_over=samples) as sender,
    ):
        while (message := sock.receive(buffer)) or sender.running:
            if not message:
                continue
            handed_over = hand_over_time(memoryview(buffer)[: message.size])
            if handed_over is not None:
                latencies.append(message.time - handed_over)
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
    # a latency that occurred, even if there are few
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
        help="8 at least, default: 1024,8192,65536",
    )
    add(
        "--heaps",
        type=positive(int),
        help=f"of each size, default: for {SECONDS} s, at least {MIN_HEAPS}",
    )
    add("--rate", metavar="MB/S", type=megabytes, default="1", help="default: 1")
    add(
        "--piece",
        metavar="SAMPLES",
        type=positive(int),
        default=1024,
        help="that the source hands over at once, 8 at least, default: 1024",
    )
    add("--packet", type=packet_size, default=1472, help="bytes in a packet")
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
        sys.exit(f"latency.py: {error}")
