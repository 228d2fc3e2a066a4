#!/usr/bin/env python3
# Copyright 2026 The gr-spead authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Receive UDP with GNU Radio's network.udp_source until killed, for receivers.py."""

import argparse

from gnuradio import blocks, gr, network

NO_HEADER = 0


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("-p", dest="packet_size", type=int, default=1472)
    parser.add_argument("host")
    parser.add_argument("port", type=int)
    args = parser.parse_args()
    graph = gr.top_block()
    source = network.udp_source(
        gr.sizeof_char, 1, args.port, NO_HEADER, args.packet_size, False, False, False
    )
    graph.connect(source, blocks.null_sink(gr.sizeof_char))
    graph.run()


if __name__ == "__main__":
    main()
