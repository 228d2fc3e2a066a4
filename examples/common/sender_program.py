# Copyright 2026 The gr-spead authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Options, test signal, progress and exit status of the sending programs.

Their flow graphs have the SPEAD sink in the attribute `sink`.
"""

import argparse
import os
import stat
import sys
import time

from gnuradio import analog, blocks, gr

from common.arguments import option, positive, positive_rate, rate, size
from common.progress import run_to_end

# At lower rates, a throttle sleeps for too long: Ctrl-C cannot interrupt it.
MIN_TONE_RATE = 1000


def recording_size(path, skip=0):
    """Bytes of a regular file after a header. Errors name the file."""
    status = os.stat(path)
    if not stat.S_ISREG(status.st_mode):
        raise ValueError(f"{path} is not a regular file")
    if status.st_size <= skip:
        raise ValueError(
            f"{path} has {status.st_size} bytes, no data after a header of {skip}"
        )
    if not os.access(path, os.R_OK):
        raise ValueError(f"{path} is not readable")
    return status.st_size - skip


def radio_parser(description, sample_rate):
    """An ArgumentParser with the options common to all software radios.

    Also returns its group of mutually exclusive options that select the source.
    """
    parser = argparse.ArgumentParser(description=description)
    parser.add_argument("destination", help="host:port, or several, comma-separated")
    source = parser.add_mutually_exclusive_group()
    source.add_argument(
        "--tone",
        action="store_true",
        help="send a tone at a tenth of the sample rate; needs no radio",
    )
    option(parser, "--frequency HZ", rate, "centre frequency", "1420.4M")
    option(
        parser,
        "--sample-rate HZ",
        positive_rate,
        "sample rate, such as 100000000/3",
        sample_rate,
    )
    option(parser, "--heap-samples N", size, "complex samples per heap", "4k")
    option(parser, "--samples N", positive, "end after N complex samples")
    option(parser, "--interface NAME", str, "network interface", "")
    return parser, source


def tone(sample_rate):
    """Blocks of a real-time complex tone at a tenth of the sample rate."""
    if sample_rate < MIN_TONE_RATE:
        raise ValueError(f"--tone needs a sample rate of {MIN_TONE_RATE} or more")
    return [
        analog.sig_source_c(sample_rate, analog.GR_COS_WAVE, sample_rate / 10, 0.5),
        blocks.throttle(gr.sizeof_gr_complex, sample_rate),
    ]


def run(flow_graph, total=None):
    """Run until the stream ends or Ctrl-C, and print a summary.

    total: samples of the whole stream, if known

    Returns the exit status: 1 if heaps were dropped or `total` was not reached.
    """
    begin = time.monotonic()
    run_to_end(flow_graph, flow_graph.sink, total)
    stats, seconds = flow_graph.sink.stats(), time.monotonic() - begin
    sent = stats["samples_sent"]
    print(
        f"{sent:,} samples in {stats['heaps_sent']:,} heaps sent in {seconds:.2f} s,"
        f" {sent / seconds / 1e6:.2f} Msamples/s; {stats['heaps_dropped']:,} heaps"
        f" dropped, {stats['samples_clipped']:,} samples clipped"
    )
    if total and sent < total:
        print(f"{total - sent:,} of {total:,} samples not sent", file=sys.stderr)
        return 1
    # `samples_dropped` may include samples before the first heap, which are no loss.
    return 1 if stats["heaps_dropped"] else 0
