#!/usr/bin/env python3
# Copyright 2026 The gr-spead authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Send a recording as SPEAD heaps over UDP: SigMF (.sigmf-meta, .sigmf-data, .sigmf),
WAV (.wav, .w64), or raw samples (any other name)."""

import argparse
import dataclasses
import fractions
import inspect
import json
import math
import re
import sys
from collections.abc import Callable
from typing import Any

import numpy as np
from common.arguments import integer, option, positive, rate, seconds, size
from common.interrupts import end_at_closed_pipe
from common.recordings import (
    SAMPLE_TYPES,
    is_sigmf,
    is_wav,
    raw_recording,
    seconds_since_1970,
    seconds_text,
    sigmf_recording,
    wav_recording,
)
from common.sender_program import run
from common.stream_plan import StreamPlan
from gnuradio import blocks, gr, spead

BUFFER = 1 << 20  # bytes between blocks; the default of 64 KiB is slower

FULL_SCALE_16 = 1 << 15  # of 16-bit samples that are sent as floats would be


def ticks_or_time(text):
    """An integer, or a time such as 2023-11-14T22:13:20Z as seconds in a Fraction."""
    try:
        return seconds_since_1970(text) if "T" in text else integer(text)
    except ValueError:
        raise argparse.ArgumentTypeError(
            f"{text!r} is neither an integer nor a time YYYY-MM-DDThh:mm:ss[.s]Z"
        ) from None


# Options passed to the sink under the same name.
SINK_OPTIONS: dict[str, Callable[[str], Any]] = {
    "heap_samples": positive,
    "wire_type": str,
    "scale": float,
    "max_packet_size": size,
    "heap_address_bits": int,
    "heap_id_start": integer,
    "heap_id_step": integer,
    "timestamp_start": ticks_or_time,
    "timestamp_step": size,
    "rate": lambda text: float(rate(text)),
    "when_full": str,
    "tail": str,
    "descriptors": str,
    "interface": str,
    "ttl": int,
    "affinity": int,
}

# Appended to the texts of the sink.
PROGRAM_TEXTS = {
    "wire_type": "Samples of 16 bits are sent as i1 like floats of full scale 32768:"
    " multiplied by scale / 32768, which is 127 / 32768 by default, and rounded.",
    "timestamp_start": "With --sync-time also a time such as 2023-11-14T22:13:20.5Z.",
}


def input_type(recording, wire_type):
    """Input type of the sink, which sends integers only as types that keep them."""
    kept = recording.type.input_type
    if wire_type.lstrip("<>") == "i1":
        return {"int16": "float", "sc16": "complex"}.get(kept, kept)
    return kept


def file_blocks(recording, sink_type, loop):
    """Blocks that read a recording and convert it to the input type of the sink."""
    sample_bytes = recording.type.file_bytes
    length = recording.samples * sample_bytes
    # The source reads bytes, because a header may have any length.
    chain = [blocks.file_source(1, recording.path, loop, recording.offset, length)]
    item_bytes = 1
    if "u8" in recording.type_name:
        chain.append(blocks.add_const_bb(128))  # modulo 256: 0 becomes -128
    if recording.type_name.endswith("16_be"):
        item_bytes = 2
        chain += [blocks.stream_to_vector(1, 2), blocks.endian_swap(2)]
    if sample_bytes > item_bytes:
        chain.append(blocks.stream_to_vector(item_bytes, sample_bytes // item_bytes))
    if sink_type != recording.type.input_type:
        chain.append(
            blocks.interleaved_short_to_complex(True, False, FULL_SCALE_16)
            if sink_type == "complex"
            else blocks.short_to_float(1, FULL_SCALE_16)
        )
    for block in chain[:-1]:  # the sink sets the buffer of the last block
        block.set_log_level("warn")  # hides an info line per buffer
        items = BUFFER // block.output_signature().sizeof_stream_item(0)
        block.set_min_output_buffer(items)
    return chain


class SendRecording(gr.top_block):
    """file -> (offset binary to int8) -> (bytes to samples) -> (floats) -> sink"""

    def __init__(self, recording, destination, options, loop=False, realtime=False):
        super().__init__("send_recording", catch_exceptions=True)
        self.total = None if loop else recording.samples
        if realtime:
            options = options | {"burst_size": 1}
        sink_type = input_type(recording, options["wire_type"])
        self.sink = spead.sink(destination, input_type=sink_type, **options)
        self.plan = StreamPlan(
            recording, options, self.sink.packet_size(), ipv6="[" in destination
        )
        if realtime:
            # A throttle block would send in bursts of a whole buffer.
            self.sink.set_rate(float(self.plan.heap_rate() * self.plan.udp_bytes))
        self.connect(*file_blocks(recording, sink_type, loop), self.sink)


def open_recording(args):
    """Open a recording; the suffix of the file selects the format.

    With --type, a WAV file is read as raw samples, if its header is wrong.
    """
    path = args.file
    raw = not is_sigmf(path) and (args.type or not is_wav(path))
    if args.capture is not None and not is_sigmf(path):
        raise ValueError(f"--capture is for SigMF recordings only, not {path}")
    if is_sigmf(path) and (args.type or args.skip_header):
        raise ValueError(f"--type and --skip-header are not for SigMF: {path}")
    if args.skip_header and not raw:
        raise ValueError(f"--skip-header of {path} needs --type")
    if is_sigmf(path):
        recording = sigmf_recording(path, args.capture)
    elif raw:
        if not args.type:
            raise ValueError(
                f"{path} is neither SigMF nor WAV by its name; raw samples need --type,"
                " such as ri8 or ci16_le"
            )
        recording = raw_recording(path, args.type, args.skip_header)
    else:
        recording = wav_recording(path)
    if args.sample_rate:
        recording = dataclasses.replace(recording, sample_rate=args.sample_rate)
    if isinstance(args.timestamp_start, fractions.Fraction):
        recording = dataclasses.replace(recording, start=args.timestamp_start)
    return recording


def first_timestamp(recording, sync_time, options):
    """Ticks from the sync time to the start of the recording, to the nearest tick."""
    if recording.start is None:
        raise ValueError(
            f"--sync-time: {recording.path} has no start time; set it, such as"
            " --timestamp-start 2023-11-14T22:13:20Z"
        )
    if recording.sample_rate is None:
        raise ValueError("--sync-time needs a sample rate: --sample-rate")
    if recording.start < sync_time:
        raise ValueError(
            f"--sync-time {seconds_text(sync_time)} is later than the start of the"
            f" recording, {seconds_text(recording.start)}"
        )
    bits = options["heap_address_bits"]
    if bits not in (40, 48):
        raise ValueError("--heap-address-bits must be 40 or 48")
    tick_rate = recording.sample_rate
    if options["timestamp_step"] == 0:
        raise ValueError("--sync-time needs a --timestamp-step above 0")
    if options["timestamp_step"] is not None:
        tick_rate *= fractions.Fraction(
            options["timestamp_step"], options["heap_samples"]
        )
    ticks = round((recording.start - sync_time) * tick_rate)
    last = (1 << bits) - 1
    if ticks > last:
        earliest = math.ceil(recording.start - last / tick_rate)
        remedy = f"set at least {seconds_text(min(earliest, recording.start))}"
        if bits < 48 and ticks < 1 << 48:
            remedy += ", or --heap-address-bits 48"
        raise ValueError(
            f"--sync-time {seconds_text(sync_time)}: the first timestamp would be"
            f" {ticks}, above the {bits}-bit maximum of {last}; {remedy}"
        )
    return ticks


def check_level(recording, options):
    """Reject a recording that would be scaled and all rounded to 0."""
    if input_type(recording, options["wire_type"]) not in ("float", "complex"):
        return
    wire = np.dtype(options["wire_type"] or "i1")
    if wire.kind not in "iu":
        return
    is_integer = recording.type.input_type in ("int16", "sc16")
    byte_order = ">" if recording.type_name.endswith("_be") else "<"
    dtype = np.dtype(byte_order + ("i2" if is_integer else "f4"))
    full_scale = np.iinfo(wire).max
    scale = options["scale"] or full_scale
    length = recording.samples * recording.type.file_bytes
    peak = 0
    for begin in range(0, length, BUFFER):
        count = min(BUFFER, length - begin) // dtype.itemsize
        numbers = np.fromfile(
            recording.path, dtype, count, offset=recording.offset + begin
        ).astype("f4", copy=False)
        if is_integer:
            numbers /= FULL_SCALE_16
        peak = np.fmax.reduce(np.abs(numbers), initial=peak)  # fmax ignores NaN
        if peak * scale > 0.5:
            return
    if peak:
        raise ValueError(
            f"{recording.path}: with scale = {scale:g}, the peak of {peak:.3g} and all"
            f" other samples are rounded to 0; raise --scale, up to"
            f" {full_scale / float(peak):.3g}"
        )


def sink_help():
    """Text and default of each option, by name, from the docstrings of the sink."""
    texts = re.findall(r"^(\w+): (.+(?:\n    .+)*)", spead.sink.__doc__, re.M)
    parameters = inspect.signature(spead.sink).parameters
    return {name: (text, parameters[name].default) for name, text in texts}


def parse(argv):
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("file", help="recording; its suffix selects the format")
    parser.add_argument("destination", help="host:port, or several, comma-separated")
    parser.add_argument(
        "--type",
        choices=SAMPLE_TYPES,
        metavar="TYPE",
        help="SigMF type of the samples of a raw file, or of a WAV file that is read as"
        f" one: {', '.join(SAMPLE_TYPES)} (default: none)",
    )
    option(parser, "--skip-header BYTES", size, "header bytes of a raw file to skip", 0)
    option(
        parser,
        "--capture N",
        int,
        "index of the capture of a SigMF recording (default: the only one)",
    )
    option(
        parser,
        "--sample-rate HZ",
        rate,
        "samples per second (default: from the recording)",
    )
    option(
        parser,
        "--sync-time S",
        seconds,
        "time of timestamp 0, in seconds since 1970; needs the start time of the"
        " recording, which SigMF contains and --timestamp-start sets (default: the"
        " first timestamp is --timestamp-start)",
    )
    parser.add_argument(
        "--loop", action="store_true", help="repeat the recording until Ctrl-C"
    )
    parser.add_argument(
        "--realtime",
        action="store_true",
        help="send at the sample rate (default: as fast as possible)",
    )
    parser.add_argument(
        "--plan",
        action="store_true",
        help="print sizes, rates and when counters wrap, without sending",
    )
    option(parser, "--json FILE", str, "write the final counters as JSON")
    group = parser.add_argument_group("options of the sink")
    texts = sink_help()
    for name, kind in SINK_OPTIONS.items():
        text, default = texts[name]
        text = " ".join([text, PROGRAM_TEXTS.get(name, "")])
        group.add_argument(
            "--" + name.replace("_", "-"),
            type=kind,
            default=default,
            help=f"{text} (default: {default!r})".replace("%", "%%"),
        )
    args = parser.parse_args(argv)
    if args.sample_rate == 0:
        parser.error("--sample-rate must be above 0")
    if args.plan and args.json:
        parser.error("--plan and --json are mutually exclusive")
    if args.realtime and args.rate:
        parser.error("--realtime and --rate are mutually exclusive")
    has_time = isinstance(args.timestamp_start, fractions.Fraction)
    if has_time and args.sync_time is None:
        parser.error("--timestamp-start: a time needs --sync-time")
    if args.sync_time is not None and args.timestamp_start and not has_time:
        parser.error("--timestamp-start: with --sync-time, it must be a time")
    return args


def print_lines(pairs):
    for name, value in pairs:
        print(f"{name:>20}: {value}")


def build(args):
    recording = open_recording(args)
    if args.realtime and recording.sample_rate is None:
        raise ValueError("--realtime needs a sample rate: --sample-rate")
    options = {name: getattr(args, name) for name in SINK_OPTIONS}
    if args.sync_time is not None:
        options["timestamp_start"] = first_timestamp(recording, args.sync_time, options)
    graph = SendRecording(
        recording, args.destination, options, args.loop, args.realtime
    )
    check_level(recording, options)
    return graph


def main(argv=None):
    args = parse(argv)
    try:
        flow_graph = build(args)
        report = open(args.json, "w") if args.json else None  # noqa: SIM115
    except (OSError, ValueError, RuntimeError) as error:
        sys.exit(f"send_recording.py: {error}")
    if args.plan:
        end_at_closed_pipe()
        print_lines(flow_graph.plan.lines())
        return 0
    status = run(flow_graph, flow_graph.total)
    stats = flow_graph.sink.stats()
    if report:
        with report:
            json.dump(stats, report, indent=2)
    print_lines(stats.items())
    return status


if __name__ == "__main__":
    sys.exit(main())
