#!/usr/bin/env python3
# Copyright 2026 The gr-spead authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Print the items of each heap that arrives, until Ctrl-C or the end of a capture."""

import argparse
import sys

import pmt
from common.arguments import option
from common.interrupts import at_interrupt, end_at_closed_pipe
from gnuradio import gr, spead


class HeapPrinter(gr.basic_block):
    def __init__(self):
        gr.basic_block.__init__(self, "heap_printer", None, None)
        self.message_port_register_in(pmt.intern("pdus"))
        self.set_msg_handler(pmt.intern("pdus"), self.print_heap)

    def print_heap(self, pdu):
        values = spead.heap_to_numpy(pdu)
        print(f"heap {values.pop('0x1')}")
        for name, value in values.items():
            print(f"  {name} = {value!r}")
        sys.stdout.flush()


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument(
        "endpoints", help="239.2.1.150+7:7149, 127.0.0.1:7149 or capture.pcap"
    )
    option(parser, "--interface NAME", str, "network interface to receive from", "")
    args = parser.parse_args()
    end_at_closed_pipe()
    try:
        source = spead.heap_source(args.endpoints, args.interface)
    except (ValueError, RuntimeError) as error:
        return f"{error}"
    printer = HeapPrinter()
    graph = gr.top_block()
    graph.msg_connect(source, "pdus", printer, "pdus")
    with at_interrupt(graph.stop):
        graph.run()
    return 0


if __name__ == "__main__":
    sys.exit(main())
