#!/usr/bin/env python3
# Copyright 2026 The gr-spead authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Measure how long after its last sample a heap has left, at a low rate.

A source hands over samples piece by piece, as a device would, and writes the time into
the last samples of each heap. The kernel says when it received the last packet of the
heap, on loopback. The difference is the latency: GNU Radio's way from block to block,
the sink, and the sending. With a pace, a heap that is larger than burst_size, headers
included, takes as long as the rest of it takes at the pace.

Exits with 1 if, without a pace, more than one heap in a hundred took longer than the
bound.
"""

import sys
from dataclasses import dataclass

import numpy as np
from arguments import at_least, megabytes, packet_size, parser, positive, several
from interrupts import run
from sender_process import Sender, SenderError
from stamped_socket import StampedSocket

SECONDS = 1.4  # of samples in each line of the table
LEAST = 20  # heaps
WARM_UP = 5  # heaps that do not count, while memory is touched for the first time
MARGIN = 1.1  # the pace, times what is to be sent
TIME_SAMPLES = 8  # that the time takes

# Item IDs of SPEAD.
HEAP_LENGTH, HEAP_OFFSET, PAYLOAD_LENGTH = 2, 3, 4


@dataclass(frozen=True)
class Latencies:
    """How late heaps were, in ns; and how many never came."""

    late: np.ndarray
    lost: int

    @property
    def median(self):
        return float(np.median(self.late))

    @property
    def p99(self):
        """That of a heap that was in fact so late, if there are few."""
        return float(np.percentile(self.late, 99, method="higher"))


def immediate_items(packet, address_bits):
    """The values of the item pointers of a packet, by ID, and where its payload is."""
    count = int.from_bytes(packet[6:8], "big")
    items = {}
    for at in range(8, 8 + 8 * count, 8):
        pointer = int.from_bytes(packet[at : at + 8], "big")
        item = pointer >> address_bits & (1 << 63 - address_bits) - 1
        if pointer >> 63:
            items[item] = pointer & (1 << address_bits) - 1
    return items, 8 + 8 * count


def hand_over_time(packet, address_bits=40):
    """What is in the last samples of a heap, in ns; None if they are not in there.

    SenderError if some of them are: then the time is in two packets.
    """
    items, payload = immediate_items(packet, address_bits)
    end = items[HEAP_OFFSET] + items[PAYLOAD_LENGTH]
    if items[HEAP_LENGTH] == 0 or end != items[HEAP_LENGTH]:
        return None
    if items[PAYLOAD_LENGTH] < TIME_SAMPLES:
        raise SenderError(
            f"with heaps of {end} bytes the last packet has {items[PAYLOAD_LENGTH]} "
            f"samples, of which the time takes {TIME_SAMPLES}; try other --heap-sizes"
        )
    at = payload + items[PAYLOAD_LENGTH]
    return int.from_bytes(packet[at - TIME_SAMPLES : at], sys.byteorder)


def measure(args, heap, rate, heaps):
    """Send heaps, paced at `rate` if it is not 0; their Latencies."""
    options = {
        "heap_samples": heap,
        "max_packet_size": args.packet,
        "descriptors": "none",
        "rate": rate,
        "send_stop": False,
    }
    source = {"rate": args.rate, "heap": heap, "heaps": heaps, "piece": args.piece}
    late = []
    buffer = bytearray(65536)
    with (
        StampedSocket("127.0.0.1", whole=False) as sock,
        Sender({"destinations": sock.address, **options}, hand_over=source) as sender,
    ):
        while message := sock.receive(buffer) or sender.running:
            if message is True:
                continue
            handed_over = hand_over_time(memoryview(buffer)[: message.size])
            if handed_over is not None:
                late.append(message.time - handed_over)
        sender.stats()
    if len(late) <= WARM_UP:
        raise SenderError(f"{len(late)} of {heaps} heaps arrived")
    return Latencies(np.array(late[WARM_UP:]), heaps - len(late))


HEAD = """\
    heap       pace  heaps  lost  median  99th percentile  longest
   bytes       MB/s                   us               us       us
"""


def line(heap, rate, found):
    return (
        f"{heap:8} {f'{rate / 1e6:.1f}' if rate else 'none':>10} {len(found.late):6}"
        f" {found.lost:5} {found.median / 1e3:7.0f} {found.p99 / 1e3:16.0f}"
        f" {found.late.max() / 1e3:8.0f}"
    )


def parse(argv):
    options = parser(__doc__)
    options.add_argument(
        "--heap-sizes",
        metavar="BYTES",
        type=several(at_least(int, TIME_SAMPLES), least=1),
        default=[1024, 8192, 65536],
        help="default: 1024,8192,65536",
    )
    options.add_argument(
        "--heaps",
        type=positive(int),
        help=f"of each size; default: for {SECONDS} s, and {LEAST} at least",
    )
    options.add_argument(
        "--rate", metavar="MB/S", type=megabytes, default=1e6, help="default: 1"
    )
    options.add_argument(
        "--piece",
        metavar="SAMPLES",
        type=at_least(int, TIME_SAMPLES),
        default=1024,
        help="that the source hands over at a time; default: 1024",
    )
    options.add_argument(
        "--packet", type=packet_size, default=1472, help="bytes in a packet"
    )
    options.add_argument(
        "--bound", metavar="MS", type=positive(float), default=1, help="default: 1"
    )
    return options.parse_args(argv)


def main(argv=None):
    args = parse(argv)
    status = 0
    print(HEAD, end="")
    try:
        for heap in args.heap_sizes:
            heaps = args.heaps or max(round(SECONDS * args.rate / heap), LEAST)
            for rate in (0, MARGIN * args.rate):
                found = measure(args, heap, rate, heaps + WARM_UP)
                print(line(heap, rate, found), flush=True)
                if not rate and found.p99 > args.bound * 1e6:
                    status = 1
    except (OSError, SenderError) as error:
        sys.exit(f"latency.py: {error}")
    return status


if __name__ == "__main__":
    sys.exit(run(main))
