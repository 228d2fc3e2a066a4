#!/usr/bin/env python3
# Copyright 2026 The gr-spead authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Measure a sink of GNU Radio with default buffers, for senders.py.

`null` measures GNU Radio itself; `udp` measures network.udp_sink, which sends samples
without SPEAD. A throttle block paces udp_sink, which has no rate.
"""

import argparse
import time

from gnuradio import blocks, gr, network

NO_HEADER = 0


def make_sink(args):
    if args.sink == "null":
        return blocks.null_sink(gr.sizeof_char)
    destination = (args.host, args.port)
    return network.udp_sink(
        gr.sizeof_char, 1, *destination, NO_HEADER, args.packet_size, False
    )


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("-b", dest="bytes", type=int, default=1 << 30)
    parser.add_argument("-p", dest="packet_size", type=int, default=1472)
    parser.add_argument(
        "-r", dest="rate", type=float, default=0, help="MB/s; 0: as fast as possible"
    )
    parser.add_argument("sink", choices=["null", "udp"])
    parser.add_argument("host", nargs="?", default="127.0.0.1")
    parser.add_argument("port", nargs="?", type=int, default=7148)
    args = parser.parse_args()

    # Whole packets only: udp_sink does not send a partial last packet.
    samples = -(-args.bytes // args.packet_size) * args.packet_size
    chain = [blocks.null_source(gr.sizeof_char), blocks.head(gr.sizeof_char, samples)]
    if args.rate:
        chain.append(blocks.throttle(gr.sizeof_char, args.rate * 1e6))
    graph = gr.top_block()
    graph.connect(*chain, make_sink(args))
    begin = time.monotonic()
    graph.run()
    print(f"{samples / (time.monotonic() - begin) / 1e6:.2f} MB/s")


if __name__ == "__main__":
    main()
