#!/usr/bin/env python3
# Copyright 2026 The gr-spead authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Send what an RTL-SDR receives as heaps of complex 8-bit samples: the dongle itself, a
recording of one (unsigned I and Q, as rtl_sdr writes it), or a tone in its place."""

import argparse
import sys
import threading

from gnuradio import analog, blocks, gr, spead
from send_recording import recording_size

FULL_SCALE = 128  # of 8-bit samples: the sources give -1 to 1


def dongle(args):
    """The receiver itself, through SoapySDR."""
    from gnuradio import soapy  # only here: the others need no SoapySDR

    source = soapy.source("driver=rtlsdr", "fc32", 1, "", "", [""], [""])
    source.set_sample_rate(0, args.sample_rate)
    source.set_frequency(0, args.frequency)
    source.set_gain_mode(0, args.gain is None)
    if args.gain is not None:
        source.set_gain(0, args.gain)
    return [source]


def recording(args):
    """Samples 0 to 255, of which 128 is zero, made those of 8 bits and a sign."""
    recording_size(args.file, 0)  # or an error that names the file
    return [
        blocks.file_source(gr.sizeof_char, args.file),
        blocks.add_const_bb(128),  # modulo 256
        blocks.interleaved_char_to_complex(False, FULL_SCALE),
    ]


def tone(args):
    """A tenth of the sample rate above the centre, in real time."""
    return [
        analog.sig_source_c(
            args.sample_rate, analog.GR_COS_WAVE, args.sample_rate / 10, 0.5
        ),
        blocks.throttle(gr.sizeof_gr_complex, args.sample_rate),
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
            scale=FULL_SCALE,
            when_full="drop" if args.source == "dongle" else "block",
            descriptor_interval=1,
        )
        self.connect(*chain, self.sink)


def parse(argv):
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("destination", help="host:port")
    source = parser.add_mutually_exclusive_group()
    source.add_argument("--file", help="a recording, as fast as it can be sent")
    source.add_argument("--tone", action="store_true")
    parser.add_argument("--frequency", metavar="HZ", type=float, default=1420.4e6)
    parser.add_argument("--sample-rate", metavar="HZ", type=float, default=2.4e6)
    parser.add_argument("--gain", metavar="DB", type=float, help="default: automatic")
    parser.add_argument("--heap-samples", metavar="N", type=int, default=4096)
    parser.add_argument("--samples", metavar="N", type=int, help="then end")
    args = parser.parse_args(argv)
    args.source = "recording" if args.file else "tone" if args.tone else "dongle"
    return args


def run_to_end(flow_graph):
    """Run to the end or to Ctrl-C, and print what was sent; the exit code."""
    flow_graph.start()
    # An event: Ctrl-C in the join() of a thread would take the thread for ended.
    ended = threading.Event()
    threading.Thread(target=lambda: (flow_graph.wait(), ended.set())).start()
    try:
        ended.wait()
    except KeyboardInterrupt:
        flow_graph.stop()
        ended.wait()
    stats = flow_graph.sink.stats()
    print(
        "{samples_sent:,} samples sent, {samples_dropped:,} dropped,"
        " {samples_clipped:,} clipped".format(**stats)
    )
    # not of samples, for those before the first heap are none of a loss
    return 1 if stats["heaps_dropped"] else 0


def main(argv=None):
    args = parse(argv)
    sources = {"dongle": dongle, "recording": recording, "tone": tone}
    try:
        flow_graph = RtlSdrToSpead(sources[args.source](args), args)
    except (ImportError, OSError, ValueError, RuntimeError) as error:
        sys.exit(f"rtlsdr_to_spead.py: {error}")
    return run_to_end(flow_graph)


if __name__ == "__main__":
    sys.exit(main())
