# Copyright 2026 The gr-spead authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Record a SPEAD stream, with its times, losses and items, as HDF5 or SigMF. Ends at an
end-of-stream heap, at the end of a capture, Ctrl-C, SIGTERM, SIGHUP, --timeout,
--samples or --seconds."""

import argparse
import contextlib
import math
import os
import queue
import re
import shutil
import signal
import sys
import threading
import time
from decimal import Context, Decimal
from fractions import Fraction

from gnuradio import gr

from .described_stream import given_stream, inspected_stream
from .live_figures import LiveFigures
from .recording import Layout, Period, Recorder, time_text
from .sigmf_file import SUFFIXES as SIGMF_SUFFIXES
from .sigmf_file import SigmfFile
from .spead_python import __version__, source

HDF5_SUFFIXES = ".h5", ".hdf5"
BUFFER_BYTES = 64 << 20  # of all outputs, for pauses of the disk
FLUSH_SECONDS = 1
FACTORS = {"k": 10**3, "M": 10**6, "G": 10**9, "T": 10**12}
CLOCK_ERROR = 60  # seconds between the clocks of the sender and of this host


def main(argv=None):
    args = parse(argv)
    for number in ending_signals():
        signal.signal(number, signal.getsignal(signal.SIGINT))
    began = time.time()
    try:
        graph = flow_graph(args)
    except (OSError, RuntimeError, TypeError, ValueError) as error:
        sys.exit(f"spead-record: {error}")
    except KeyboardInterrupt:
        sys.exit("spead-record: nothing received")
    return run(graph, args, began)


def ending_signals():
    """Those at which to complete the file. nohup makes SIGHUP be ignored."""
    ends = [signal.SIGINT, signal.SIGTERM]
    if signal.getsignal(signal.SIGHUP) != signal.SIG_IGN:
        ends.append(signal.SIGHUP)
    return ends


def parse(argv):
    parser = argparse.ArgumentParser("spead-record", description=__doc__)
    add = parser.add_argument
    add("endpoints", help="239.2.1.150+7:7148, 0.0.0.0:7148 or capture.pcap")
    add(
        "-o",
        dest="file",
        metavar="FILE",
        required=True,
        help="file to write: *.h5 or *.hdf5, or *.sigmf-meta for a stream of samples",
    )
    add(
        "--options",
        metavar="TEXT",
        help="options of the source, as spead-inspect prints them, such as"
        " 'output_type=\"sc8\"' (default: from the descriptors)",
    )
    add(
        "--sample-rate", metavar="HZ", type=positive, help="ticks per second, for times"
    )
    add(
        "--sync-time",
        metavar="S",
        type=number,
        help="time of tick 0, in seconds since 1970",
    )
    add(
        "--split",
        metavar="S|SIZE",
        type=split_size,
        help="begin a file at each multiple of S seconds, such as 60 (needs"
        " --sample-rate and --sync-time), or of the ticks of SIZE, such as 2GB",
    )
    add("--start", metavar="TICK", type=int, help="first tick to record")
    end = parser.add_mutually_exclusive_group()
    end.add_argument(
        "--seconds",
        metavar="S",
        type=positive,
        help="end after S seconds of the stream (needs --sample-rate)",
    )
    end.add_argument(
        "--samples", metavar="N", type=count, help="end after N samples or vectors"
    )
    add("--interface", default="", help="name or address")
    add(
        "--timeout",
        metavar="S",
        type=number,
        default=0,
        help="end after S seconds without packets (default: never)",
    )
    args = parser.parse_args(argv)
    suffix = os.path.splitext(args.file)[1]
    if suffix not in HDF5_SUFFIXES + SIGMF_SUFFIXES:
        parser.error(
            f"-o {args.file}: the suffix must be one of"
            f" {', '.join(HDF5_SUFFIXES + SIGMF_SUFFIXES)}"
        )
    if args.sync_time is not None and args.sample_rate is None:
        parser.error("--sync-time needs --sample-rate")
    if args.seconds is not None and args.sample_rate is None:
        parser.error("--seconds needs --sample-rate")
    if args.split and args.split[1] and args.sync_time is None:
        parser.error("--split with seconds needs --sample-rate and --sync-time")
    return args


def number(text):
    """An exact number, at least 0, such as 4.5e6, 4.5M or 100000000/3."""
    digits, factor = text, 1
    if text[-1:] in FACTORS:
        digits, factor = text[:-1], FACTORS[text[-1]]
    if re.fullmatch(r"[\d.]+(e[+-]?\d{1,2}|/0*[1-9]\d*)?", digits):
        with contextlib.suppress(ValueError):
            return Fraction(digits) * factor
    raise argparse.ArgumentTypeError(
        f"{text!r} is not a number of at least 0, such as 1000000, 1M or 100000000/3"
    )


def positive(text):
    value = number(text)
    if not value:
        raise argparse.ArgumentTypeError(f"{text!r} must be above 0")
    return value


def split_size(text):
    """A number of seconds or of bytes, and whether it is seconds."""
    return positive(text.removesuffix("B")), not text.endswith("B")


def count(text):
    value = positive(text)
    if value.denominator > 1:
        raise argparse.ArgumentTypeError(f"{text!r} is not a whole number")
    return int(value)


def flow_graph(args):
    open_file = file_type(args.file)
    folder = os.path.dirname(args.file) or "."
    if not os.access(folder, os.W_OK | os.X_OK):
        raise ValueError(f"cannot write to the folder {folder}")
    if not args.split:
        check_is_new(args.file)
    if args.options is None:
        stream = inspected_stream(args.endpoints, args.interface, args.timeout)
    else:
        stream = given_stream(args.endpoints, args.options)
    return RecordingGraph(stream, args, open_file)


def file_type(path):
    """The class that writes this file."""
    if os.path.splitext(path)[1] in SIGMF_SUFFIXES:
        return SigmfFile
    try:
        from .hdf5_file import Hdf5File
    except ImportError as error:
        raise ValueError(
            f"{error}: HDF5 needs the Python package h5py: apt install python3-h5py"
        ) from None
    return Hdf5File


def check_is_new(path):
    stem, suffix = os.path.splitext(path)
    is_sigmf = suffix in SIGMF_SUFFIXES
    for file in [stem + s for s in SIGMF_SUFFIXES[:2]] if is_sigmf else [path]:
        if os.path.exists(file):
            raise ValueError(f"{file} exists: remove it, or give another -o")


class RecordingGraph(gr.top_block):
    """SPEAD source -> recorder"""

    def __init__(self, stream, args, open_file):
        super().__init__("spead_record", catch_exceptions=True)
        options = {"timeout": float(args.timeout), "interface": args.interface}
        options |= stream.options
        if args.sample_rate is not None:
            options["sample_rate"] = args.sample_rate
        if args.sync_time is not None:
            options["sync_time"] = exact_text(args.sync_time)
        if args.start is not None:
            options["timestamp_start"] = args.start
        source._check(stream.endpoints, **options)  # those of --options may be wrong
        self.stream = stream = stream._replace(options=options)
        self.layout = layout = Layout(stream)
        if open_file is SigmfFile and (layout.shape or layout.outputs > 1):
            raise ValueError(
                "vectors and several outputs need a file of HDF5, such as -o FILE.h5"
            )
        options.setdefault("buffer_size", BUFFER_BYTES // layout.outputs)
        self.source = stream.make_source(stream.endpoints, **options)
        program = f"spead-record {__version__}"
        self.recorder = Recorder(
            layout,
            args.file,
            lambda path: open_file(path, layout, stream, program),
            period(args, layout),
            rows(args, layout),
        )
        for output in range(layout.outputs):
            self.connect((self.source, output), (self.recorder, output))


def exact_text(seconds):
    """A decimal fraction with all its digits, which a float would round."""
    digits = Context(prec=50)
    return (
        f"{digits.divide(Decimal(seconds.numerator), Decimal(seconds.denominator)):f}"
    )


def period(args, layout):
    if not args.split:
        return None
    length, is_seconds = args.split
    if is_seconds:
        return Period(length, True)
    unit = layout.ticks_per_row.denominator  # rows that last whole ticks
    unit_bytes = unit * layout.row_bytes * layout.outputs
    if length < unit_bytes:
        raise ValueError(f"--split: {length} bytes is less than {unit_bytes}")
    return Period(length // unit_bytes * layout.ticks_per_row.numerator, False)


def rows(args, layout):
    if args.seconds is None:
        return args.samples
    return math.ceil(args.seconds * layout.tick_rate / layout.ticks_per_row)


def run(graph, args, began):
    """Record until the stream ends; returns the exit status."""
    # a signal handler may call put(), but not the set() of an Event that is waited for
    wake, ended = queue.SimpleQueue[None](), threading.Event()
    is_stopped = False

    def stop(number, _):
        nonlocal is_stopped
        is_stopped = True
        signal.signal(number, signal.SIG_DFL)  # the next one kills the program
        wake.put(None)

    def wait():
        try:
            graph.wait()
        finally:
            ended.set()
            wake.put(None)

    handlers = {n: signal.signal(n, stop) for n in ending_signals()}
    graph.start()
    if args.options is not None and (ports := graph.source.ports()):
        endpoint = re.sub(":0$", f":{ports[0]}", args.endpoints)
        print(f"listening on {endpoint}", flush=True)
    threading.Thread(target=wait, daemon=True).start()
    progress = Progress(os.path.dirname(args.file) or ".")
    while not ended.is_set() and not is_stopped and not graph.recorder.error:
        with contextlib.suppress(queue.Empty):
            wake.get(timeout=FLUSH_SECONDS)
        graph.recorder.flush()
        progress.show(graph.source.stats())
    graph.stop()
    ended.wait()
    graph.recorder.close()
    for number, handler in handlers.items():
        signal.signal(number, handler)
    progress.clear()
    status = report(graph, args, began)
    if graph.recorder.is_damaged:
        # HDF5 would write at the end of the program what is not in order
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(status)
    return status


class Progress:
    """A progress line, rewritten in place. Prints nothing without a terminal."""

    def __init__(self, folder):
        self._folder = folder
        self._figures = LiveFigures(time.monotonic())

    def show(self, stats):
        if sys.stderr.isatty():
            figures = self._figures.update(stats, time.monotonic())
            free = shutil.disk_usage(self._folder).free
            line = (
                f"{figures['rate']}, missing {figures['samples missing']} samples,"
                f" buffer {figures['buffer fill']}, disk {free / 1e9:,.1f} GB left"
            )
            self._write(line[: shutil.get_terminal_size().columns - 1])

    def clear(self):
        if sys.stderr.isatty():
            self._write("")

    def _write(self, line):
        with contextlib.suppress(OSError):  # the terminal is closed
            sys.stderr.write(f"\r{line}\x1b[K")  # clears the rest of the line
            sys.stderr.flush()


def report(graph, args, began):
    """Say what has been recorded; returns the exit status."""
    recorder, stats = graph.recorder, graph.source.stats()
    if not recorder.recorded and not recorder.error:
        print(f"spead-record: {stats['status'] or 'nothing received'}", file=sys.stderr)
        return 1
    layout = graph.layout
    unit = "vectors" if layout.heap_rows else "samples"
    each = " of each output" if layout.outputs > 1 else ""
    files = " to ".join(dict.fromkeys([*recorder.paths[:1], *recorder.paths[-1:]]))
    print(
        f"{recorder.recorded:,} {unit}{each} written; {recorder.missing:,}"
        f" samples missing, {recorder.discontinuities:,} discontinuities; {files}"
    )
    warn_of_wraps(graph, began)
    if recorder.error:
        written = recorder.recorded * layout.outputs * layout.row_samples
        print(
            f"spead-record: {recorder.error}; {stats['samples_out'] - written:,} more"
            " samples arrived",
            file=sys.stderr,
        )
        return 1
    return 0


def warn_of_wraps(graph, began):
    """Warn if timestamps may have wrapped before the recording.

    began: when this program began. If the stream is live, it did so later.
    """
    start = graph.layout.time(graph.recorder.first_tick or 0)
    if start is None:
        return
    bits = graph.stream.heap_address_bits
    wrap = Fraction(2 ** (bits or 40)) / graph.layout.tick_rate
    wraps = int((Fraction(time.time()) - start) / wrap)
    if wraps < 1:
        return
    form = "%Y-%m-%dT%H:%M:%S"
    text = (
        f"the times begin at {time_text(start, form)}, which is wrong if the timestamps"
        f" have wrapped since --sync-time {exact_text(graph.layout.sync_time)}: they"
        f" have {bits or '40 or 48'} bits and wrap every {float(wrap):,.6g} s"
    )
    if not bits:
        text += f" (40 bits) or {float(wrap * 256):,.6g} s (48 bits)"
    elif start + wraps * wrap >= began - CLOCK_ERROR:
        text += (
            f"; if the stream was live, it began at"
            f" {time_text(start + wraps * wrap, form)}: give --sync-time"
            f" {exact_text(round(graph.layout.sync_time + wraps * wrap, 9))}"
        )
    print(f"spead-record: {text}", file=sys.stderr)
