#!/usr/bin/env python3
# Copyright 2026 The gr-spead authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Receive and discard SPEAD heaps with spead2 from Python, for receivers.py.

Allocates the heaps from a memory pool. Ends with the end-of-stream heap.
"""

import argparse

import spead2
import spead2.recv

BUFFER = 16 << 20  # socket buffer of the gr-spead source


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("-H", dest="heap", type=int, default=1 << 20)
    parser.add_argument("host")
    parser.add_argument("port", type=int)
    args = parser.parse_args()
    pool = spead2.MemoryPool(min(args.heap, 4096), args.heap + 4096, 64, 64)
    stream = spead2.recv.Stream(
        spead2.ThreadPool(),
        spead2.recv.StreamConfig(memory_allocator=pool),
        spead2.recv.RingStreamConfig(heaps=64),
    )
    stream.add_udp_reader(
        args.port, bind_hostname=args.host, max_size=65507, buffer_size=BUFFER
    )
    for _ in stream:
        pass


if __name__ == "__main__":
    main()
