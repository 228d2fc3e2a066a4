#!/usr/bin/env python3
# Copyright 2026 The gr-spead authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Receive SPEAD heaps over UDP with spead2: check the timestamps, save and plot the
samples. Ends at an end-of-stream heap, Ctrl-C, --timeout or --max-heaps."""

import argparse
import contextlib
import json
import logging
import os
import select
import sys
import time

from common.arguments import integer, option, positive, rate, seconds
from common.endpoints import SOCKET_BUFFER, bound_socket, endpoint_text, endpoints
from common.interrupts import end_at_closed_pipe

try:
    import spead2
    import spead2.recv
except ImportError as error:
    sys.exit(
        f"{error}: run {sys.argv[0]} with .venv/bin/python of scripts/bootstrap, or"
        " install spead2"
    )


class Continuity:
    """Counts missing, duplicate and backward timestamps.

    step: ticks per heap
    bits: width of a timestamp
    """

    def __init__(self, step, bits=48):
        self.step = step
        self.wrap = 1 << bits
        self.first = self.last = None
        self.heaps = self.missing = self.duplicates = self.backward = 0

    def add_timestamp(self, timestamp):
        self.heaps += 1
        if self.last is None:
            self.first = timestamp
        else:
            ahead = (timestamp - self.last) % self.wrap
            if ahead == 0:
                self.duplicates += 1
            elif ahead >= self.wrap // 2:
                self.backward += 1
            else:
                self.missing += (ahead - 1) // self.step
        self.last = timestamp


def open_stream(sockets, heap_samples=None):
    """A spead2 stream that reads from bound sockets."""
    ring_heaps = 64
    if heap_samples:
        ring_heaps = min(max(SOCKET_BUFFER // heap_samples, 4), 4096)
    stream = spead2.recv.Stream(
        spead2.ThreadPool(),
        # spead2 reads many heaps from one socket before the next.
        spead2.recv.StreamConfig(max_heaps=64 * len(sockets) if sockets[1:] else 4),
        spead2.recv.RingStreamConfig(heaps=ring_heaps),
    )
    for sock in sockets:
        stream.add_udp_reader(socket=sock, max_size=65507)
    return stream


def heaps_of(stream, timeout=None):
    """Yield heaps until the stream ends or no heap arrives for `timeout` seconds.

    Yields None at least once a second while no heap arrives.
    """
    readable = select.poll()
    readable.register(stream.fd, select.POLLIN)
    last = time.monotonic()
    while True:
        try:
            heap = stream.get_nowait()
        except spead2.Stopped:
            return
        except spead2.Empty:
            wait = 1.0
            if timeout is not None:
                wait = min(last + timeout - time.monotonic(), 1.0)
            if wait <= 0:
                return
            readable.poll(wait * 1000)
            yield None
        else:
            last = time.monotonic()
            yield heap


class Decoder:
    """Extracts the timestamp and the samples of a heap."""

    def __init__(self, timestamp_id, samples_id):
        self.timestamp_id = timestamp_id
        self.samples_id = samples_id
        self.items = spead2.ItemGroup()

    def decode(self, heap):
        """The timestamp and the samples; None if the heap lacks either.

        Complex samples have a second dimension: real and imaginary part.
        """
        self.items.update(heap)
        wanted = {self.timestamp_id, self.samples_id}
        if not wanted.issubset(item.id for item in heap.get_items()):
            return None
        if not wanted.issubset(self.items.ids()):
            self._assume_descriptors(heap.flavour)
            self.items.update(heap)
        timestamp = self.items[self.timestamp_id].value
        return int(timestamp), self.items[self.samples_id].value

    def _assume_descriptors(self, flavour):
        """Default to 8-bit samples: the stream has no descriptors, or not yet."""
        timestamp_format = [("u", flavour.heap_address_bits)]
        for item_id, name, shape, item_format in (
            (self.timestamp_id, "timestamp", (), timestamp_format),
            (self.samples_id, "samples", (None,), [("i", 8)]),
        ):
            if item_id not in self.items:
                self.items.add_item(item_id, name, "", shape=shape, format=item_format)


class Receiver:
    """Passes the samples to the outputs, and counts heaps and samples."""

    def __init__(self, args, outputs):
        self.args = args
        self.outputs = outputs
        self.decoder = Decoder(args.timestamp_id, args.samples_id)
        self.heap_samples = args.heap_samples
        self.continuity = Continuity(args.step or 1)
        self.samples = self.bytes = 0
        self.begin = self.end = self.reported = time.monotonic()
        self.reported_bytes = 0

    def add_heap(self, heap):
        decoded = self.decoder.decode(heap)
        if decoded is None:
            return
        timestamp, samples = decoded
        self.end = time.monotonic()
        if not self.continuity.heaps:
            self.begin = self.end
            self.heap_samples = self.heap_samples or len(samples)
            bits = heap.flavour.heap_address_bits
            self.continuity = Continuity(self.args.step or self.heap_samples, bits)
        self.continuity.add_timestamp(timestamp)
        self.samples += len(samples)
        self.bytes += samples.nbytes
        for write in self.outputs:
            write(samples)

    def percent(self):
        if self.args.expect_heaps:
            return 100 * self.continuity.heaps / self.args.expect_heaps
        if self.args.expect_samples:
            return 100 * self.samples / self.args.expect_samples
        return None

    def print_progress(self):
        """Print a progress line, at most once a second."""
        now = time.monotonic()
        elapsed = now - self.reported
        if elapsed < 1:
            return
        speed = (self.bytes - self.reported_bytes) / elapsed / 1e6
        self.reported, self.reported_bytes = now, self.bytes
        heaps, missing = self.continuity.heaps, self.continuity.missing
        line = f"{heaps:12,} heaps {speed:9.2f} MB/s {missing:9,} missing"
        if self.percent() is not None:
            line += f" {self.percent():6.1f} %"
        print(line, flush=True)

    def summary(self, stats):
        """The counters as a dict. `stats`: the stats of the spead2 stream."""
        continuity, missing = self.continuity, self.continuity.missing
        # Losses at the beginning or the end leave no gap between timestamps.
        if self.args.expect_heaps:
            missing = max(missing, self.args.expect_heaps - continuity.heaps)
        if self.args.expect_samples:
            lacking = self.args.expect_samples - self.samples
            missing = max(missing, -(-lacking // (self.heap_samples or lacking or 1)))
        incomplete = stats.incomplete_heaps_evicted + stats.incomplete_heaps_flushed
        duration = self.end - self.begin
        return {
            "complete": continuity.heaps > 0 and missing == 0 and incomplete == 0,
            "heaps": continuity.heaps,
            "missing": missing,
            "incomplete": incomplete,
            "duplicates": continuity.duplicates,
            "backward": continuity.backward,
            "first_timestamp": continuity.first,
            "last_timestamp": continuity.last,
            "samples": self.samples,
            "percent": self.percent(),
            "seconds": duration,
            "megabytes_per_second": self.bytes / duration / 1e6 if duration else 0.0,
        }


def parse(argv):
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument(
        "endpoints",
        nargs="+",
        metavar="[ADDRESS[+N]:]PORT[,...]",
        help="addresses of this host (default: 127.0.0.1) or multicast groups;"
        " +N adds the next N addresses; port 0 selects an ephemeral port",
    )
    option(
        parser,
        "--interface INTERFACE",
        str,
        "interface of multicast groups, a name or an IPv4 address"
        " (default: the system chooses)",
    )
    option(parser, "--max-heaps N", positive, "end after N heaps")
    option(parser, "--timeout S", seconds, "end after S seconds without packets")
    option(parser, "--json FILE", str, "write the summary as JSON")
    option(
        parser, "--heap-samples N", positive, "samples per heap (default: first heap)"
    )
    option(
        parser, "--step TICKS", positive, "ticks per heap (default: samples per heap)"
    )
    option(parser, "--timestamp-id ID", integer, "item ID of the timestamp", "0x1600")
    option(parser, "--samples-id ID", integer, "item ID of the samples", "0x3300")
    option(parser, "--save FILE", str, "write the raw samples")
    option(parser, "--spectrogram FILE", picture, "plot to a .png, .pdf or .svg file")
    option(parser, "--sample-rate HZ", rate, "sample rate, for the spectrogram")
    expect = parser.add_mutually_exclusive_group()
    option(expect, "--expect-samples N", positive, "samples in the complete stream")
    option(expect, "--expect-heaps N", positive, "heaps in the complete stream")
    return parser.parse_args(argv)


def picture(path):
    """Check the path of a picture before the stream starts."""
    if not path.lower().endswith((".png", ".pdf", ".svg")):
        raise argparse.ArgumentTypeError(f"{path!r} does not end in .png, .pdf or .svg")
    if not os.path.isdir(os.path.dirname(path) or "."):
        raise argparse.ArgumentTypeError(f"the folder of {path!r} does not exist")
    return path


def print_endpoints(sockets):
    """Announce that the sockets are open: a sender may start now."""
    for sock in sockets:
        print(f"listening on {endpoint_text(*sock.getsockname()[:2])}", flush=True)


def receive(sockets, args):
    """Receive from bound sockets until the stream ends; return summary()."""
    with contextlib.ExitStack() as stack:
        outputs = []
        if args.save:
            outputs.append(stack.enter_context(open(args.save, "wb")).write)
        if args.spectrogram:
            # Imported here: matplotlib is optional.
            from common.spectrogram import Spectrogram

            spectrogram = Spectrogram()
            outputs.append(spectrogram.add)
        receiver = Receiver(args, outputs)
        stream = open_stream(sockets, args.heap_samples)
        print_endpoints(sockets)
        with contextlib.suppress(KeyboardInterrupt):
            for heap in heaps_of(stream, args.timeout):
                if heap is not None:
                    receiver.add_heap(heap)
                receiver.print_progress()
                if receiver.continuity.heaps == args.max_heaps:
                    break
        summary = receiver.summary(stream.stats)
        stream.stop()
    if args.spectrogram:
        spectrogram.save(args.spectrogram, args.sample_rate and float(args.sample_rate))
    return summary


def main(argv=None):
    args = parse(argv)
    end_at_closed_pipe()
    # The summary counts incomplete heaps; spead2 would log each of them.
    logging.getLogger("spead2").setLevel(logging.ERROR)
    with contextlib.ExitStack() as stack:
        try:
            summary_file = args.json and stack.enter_context(open(args.json, "w"))
            sockets = [
                stack.enter_context(bound_socket(host, port, args.interface))
                for text in args.endpoints
                for host, port in endpoints(text)
            ]
            summary = receive(sockets, args)
        except (OSError, ValueError) as error:
            sys.exit(f"spead2_receiver.py: {error}")
        if summary_file:
            json.dump(summary, summary_file, indent=2)
    print(
        "{heaps:,} heaps received, {missing:,} missing, {incomplete:,} incomplete,"
        " {duplicates:,} duplicates, {backward:,} backward; {samples:,} samples"
        " in {seconds:.2f} s, {megabytes_per_second:.2f} MB/s".format(**summary)
    )
    return 0 if summary["complete"] else 1


if __name__ == "__main__":
    sys.exit(main())
