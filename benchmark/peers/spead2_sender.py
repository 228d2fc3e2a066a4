#!/usr/bin/env python3
# Copyright 2026 The gr-spead authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Send SPEAD heaps with spead2 from Python as fast as possible, for senders.py.

Creates the heaps once and sends them repeatedly in batches, updating the timestamps in
place. Prepares one batch while the other is in flight.
"""

import argparse
import asyncio
import time

import numpy as np
import spead2
import spead2.send
import spead2.send.asyncio

BATCH_BYTES = 1 << 20  # larger batches do not fit into the cache
BATCH_HEAPS = 64


def noise(samples):
    return np.random.default_rng(1).integers(-128, 128, samples, np.int8)


def make_heap(timestamp, samples, descriptors):
    group = spead2.send.ItemGroup(flavour=spead2.Flavour(4, 64, 48))
    # With a dtype, spead2 sends the value without a copy, unlike with a 48-bit format.
    items = (0x1600, "timestamp", timestamp), (0x3300, "adc_samples", samples)
    for item_id, name, value in items:
        group.add_item(item_id, name, "", value.shape, value.dtype, value=value)
    return group.get_heap(descriptors=descriptors, data="all")


class Batch:
    """Heaps with their own memory, which spead2 sends in one call."""

    def __init__(self, count, heap_size):
        self.timestamps = [np.zeros((), ">u8") for _ in range(count)]
        self.heaps = [
            spead2.send.HeapReference(make_heap(timestamp, noise(heap_size), "none"))
            for timestamp in self.timestamps
        ]
        self.all = spead2.send.HeapReferenceList(self.heaps)

    def first(self, count):
        """The first heaps of the batch, for the end of the stream."""
        if count == len(self.heaps):
            return self.all
        return spead2.send.HeapReferenceList(self.heaps[:count])


async def send(args):
    """Send the heaps; return the time in s."""
    in_batch = min(max(BATCH_BYTES // args.heap_size, 1), BATCH_HEAPS, args.heaps)
    batches = [Batch(in_batch, args.heap_size) for _ in range(2)]
    config = spead2.send.StreamConfig(
        max_packet_size=args.packet_size,
        max_heaps=2 * in_batch,
        rate=args.rate * 1e6,
    )
    stream = spead2.send.asyncio.UdpStream(
        spead2.ThreadPool(), [(args.host, args.port)], config
    )
    mode = spead2.send.GroupMode.SERIAL
    described = make_heap(np.zeros((), ">u8"), noise(args.heap_size), "all")

    begin = time.monotonic()
    await stream.async_send_heap(described)
    sent = 1
    in_flight = [None, None]
    current = 0
    while sent < args.heaps:
        if in_flight[current] is not None:
            await in_flight[current]
        count = min(in_batch, args.heaps - sent)
        batch = batches[current]
        for index in range(count):
            batch.timestamps[index][...] = (sent + index) * args.heap_size
        in_flight[current] = stream.async_send_heaps(batch.first(count), mode)
        sent += count
        current = 1 - current
    await stream.async_flush()
    return time.monotonic() - begin


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("-n", dest="heaps", type=int, default=1000)
    parser.add_argument("-H", dest="heap_size", type=int, default=1 << 20)
    parser.add_argument("-p", dest="packet_size", type=int, default=1472)
    parser.add_argument(
        "-r", dest="rate", type=float, default=0, help="MB/s; 0: as fast as possible"
    )
    parser.add_argument("host")
    parser.add_argument("port", type=int)
    args = parser.parse_args()
    seconds = asyncio.run(send(args))
    print(f"{args.heaps * args.heap_size / seconds / 1e6:.2f} MB/s")


if __name__ == "__main__":
    main()
