#!/usr/bin/env python3
# Copyright 2026 The gr-spead authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Send complex 8-bit samples of an RTL-SDR as SPEAD heaps. With --file, send a
recording of rtl_sdr instead; with --tone, a test signal."""

import sys

from common.arguments import option
from common.sender_program import radio_parser, recording_size, run, tone
from gnuradio import blocks, gr, spead

SCALE = 128  # SoapySDR divides the samples by it


def dongle(args):
    """The radio, through SoapySDR."""
    from gnuradio import soapy  # optional: the other sources need no SoapySDR

    source = soapy.source("driver=rtlsdr", "fc32", 1, "", "", [""], [""])
    source.set_sample_rate(0, float(args.sample_rate))
    source.set_frequency(0, float(args.frequency))
    source.set_gain_mode(0, args.gain is None)
    if args.gain is not None:
        source.set_gain(0, args.gain)
    return [source]


def recording(args):
    """A file of unsigned I and Q, in which 128 is zero."""
    recording_size(args.file)  # checks the file: its errors name it
    return [
        blocks.file_source(gr.sizeof_char, args.file),
        blocks.add_const_bb(128),  # modulo 256: 0 becomes -128
        blocks.interleaved_char_to_complex(False, SCALE),
    ]


class RtlSdrToSpead(gr.top_block):
    """source -> (head) -> SPEAD sink"""

    def __init__(self, chain, args):
        super().__init__("rtlsdr_to_spead", catch_exceptions=True)
        if args.samples:
            chain.append(blocks.head(gr.sizeof_gr_complex, args.samples))
        self.sink = spead.sink(
            args.destination,
            heap_samples=args.heap_samples,
            input_type="complex",
            scale=SCALE,
            when_full="block" if args.file or args.tone else "drop",
            interface=args.interface,
        )
        self.connect(*chain, self.sink)


def parse(argv):
    parser, source = radio_parser(__doc__, sample_rate="2.4M")
    option(
        source, "--file FILE", str, "send a recording of rtl_sdr (default: the radio)"
    )
    option(parser, "--gain DB", float, "gain in dB (default: automatic)")
    return parser.parse_args(argv)


def build(args):
    if args.tone:
        return RtlSdrToSpead(tone(float(args.sample_rate)), args)
    return RtlSdrToSpead((recording if args.file else dongle)(args), args)


def main(argv=None):
    args = parse(argv)
    try:
        flow_graph = build(args)
    except (ImportError, OSError, ValueError, RuntimeError) as error:
        sys.exit(f"rtlsdr_to_spead.py: {error}")
    return run(flow_graph)


if __name__ == "__main__":
    sys.exit(main())
