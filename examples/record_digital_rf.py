#!/usr/bin/env python3
# Copyright 2026 The gr-spead authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Record a SPEAD stream with Digital RF, each sample at its time. Ends at an
end-of-stream heap, Ctrl-C or --timeout. Missing samples are recorded as zeros; those of
a gap above max_gap are left out."""

import argparse
import sys
from fractions import Fraction

import numpy as np
import pmt
from common.arguments import option, positive_rate, seconds
from common.progress import run_to_end
from common.recordings import seconds_text
from gnuradio import gr

try:
    from gnuradio import spead
    from gr_digital_rf import digital_rf_channel_sink
except ImportError as error:
    sys.exit(f"{error}: install gr-spead, and digital_rf with pip")

TYPES = {  # output_type: type of a number, whether samples are complex
    "int8": (np.int8, False),
    "sc8": (np.int8, True),
    "int16": (np.int16, False),
    "sc16": (np.int16, True),
    "int32": (np.int32, False),
    "float": (np.float32, False),
    "complex": (np.complex64, True),
}
RX_TIME = pmt.intern("rx_time")


class MidSampleTimes(gr.sync_block):
    """Adds half a sample to the times of tags: Digital RF's sink rounds the index of a
    sample down, so that an index that is rounded by a double may be one too low."""

    def __init__(self, item, rate):
        gr.sync_block.__init__(self, "mid_sample_times", [item], [item])
        self.set_tag_propagation_policy(gr.TPP_DONT)
        self.half_sample = 1 / (2 * rate)

    def work(self, inputs, outputs):
        outputs[0][:] = inputs[0]
        for tag in self.get_tags_in_window(0, 0, len(inputs[0]), RX_TIME):
            whole, fraction = pmt.to_python(tag.value)
            time = whole + Fraction(fraction) + self.half_sample
            value = pmt.make_tuple(
                pmt.from_uint64(int(time)), pmt.from_double(float(time % 1))
            )
            self.add_item_tag(0, tag.offset, RX_TIME, value)
        return len(inputs[0])


class RecordDigitalRf(gr.top_block):
    """SPEAD source -> tags in the middle of samples -> Digital RF"""

    def __init__(self, args):
        super().__init__("record_digital_rf", catch_exceptions=True)
        number, is_complex = TYPES[args.type]
        rate, start = args.sample_rate, args.start
        self.source = spead.source(
            args.endpoint,
            output_type=args.type,
            sample_rate=rate,
            sync_time=seconds_text(args.sync_time),
            timestamp_start=None if start is None else seconds_text(start),
            timeout=float(args.timeout),
            interface=args.interface,
        )
        is_pair = is_complex and number != np.complex64
        # The flow graph does not keep Python blocks alive.
        self.times = MidSampleTimes((number, 2) if is_pair else number, rate)
        self.sink = digital_rf_channel_sink(
            args.folder,
            dtype=number,
            subdir_cadence_secs=3600,
            file_cadence_millisecs=1000,
            sample_rate_numerator=rate.numerator,
            sample_rate_denominator=rate.denominator,
            start=int((args.sync_time if start is None else start) * rate),
            is_complex=is_complex,
            is_continuous=False,  # gaps stay gaps
            marching_periods=False,
            min_chunksize=1,  # the last samples are written, too
        )
        self.connect(self.source, self.times, self.sink)


def parse(argv):
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("endpoint", help="address:port, or several, comma-separated")
    parser.add_argument("folder", help="folder of the channel, which is created")
    option(parser, "--sample-rate HZ", positive_rate, "ticks per second, required")
    option(parser, "--sync-time S", seconds, "time of tick 0, in seconds since 1970", 0)
    option(
        parser, "--start S", seconds, "time of the first sample (default: the first)"
    )
    parser.add_argument(
        "--type", choices=TYPES, default="int16", help="samples (default: %(default)s)"
    )
    option(parser, "--timeout S", seconds, "end after this time without packets", "60")
    option(parser, "--interface NAME", str, "network interface", "")
    args = parser.parse_args(argv)
    if args.sample_rate is None:
        parser.error("--sample-rate is required")
    args.sync_time = Fraction(args.sync_time)
    return args


def main(argv=None):
    args = parse(argv)
    try:
        flow_graph = RecordDigitalRf(args)
    except (OSError, ValueError, RuntimeError) as error:
        sys.exit(f"record_digital_rf.py: {error}")
    run_to_end(flow_graph, flow_graph.source)
    stats = flow_graph.source.stats()
    if not stats["samples_out"]:
        sys.exit(f"record_digital_rf.py: {stats['status']}")
    print(f"{stats['samples_out']:,} samples, {stats['samples_missing']:,} missing")
    return 0


if __name__ == "__main__":
    sys.exit(main())
