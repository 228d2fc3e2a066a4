#!/usr/bin/env python3
# Copyright 2026 The gr-spead authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Receive SPEAD heaps over UDP with spead2: check, save and plot the samples."""

import argparse
import json
import logging
import select
import sys
import time

import spead2
import spead2.recv
from common.arguments import integer, positive
from common.endpoints import SOCKET_BUFFER, bound_socket


class Continuity:
    """Follows the timestamps, each of which is to be one step after the one before."""

    def __init__(self, step, bits=48):
        self.step = step
        self.wrap = 1 << bits
        self.first = self.last = None
        self.heaps = self.missing = self.duplicates = self.backward = 0

    def add(self, timestamp):
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


def open_stream(sock, heap_samples=None):
    """A spead2 stream of the heaps that arrive at the socket."""
    ring_heaps = 64
    if heap_samples:
        ring_heaps = min(max(SOCKET_BUFFER // heap_samples, 4), 4096)
    stream = spead2.recv.Stream(
        spead2.ThreadPool(),
        spead2.recv.StreamConfig(max_heaps=4),
        spead2.recv.RingStreamConfig(heaps=ring_heaps),
    )
    stream.add_udp_reader(socket=sock, max_size=65507)
    return stream


def heaps_of(stream, timeout=None):
    """Yield heaps up to the end of the stream, or of `timeout` seconds without one.

    Yields None now and then, at least once a second, while no heap is there.
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
            patience = 1.0
            if timeout is not None:
                patience = min(last + timeout - time.monotonic(), 1.0)
            if patience <= 0:
                return
            readable.poll(patience * 1000)
            yield None
        else:
            last = time.monotonic()
            yield heap


class Decoder:
    """Finds the timestamp and the samples in a heap."""

    def __init__(self, timestamp_id, samples_id):
        self.timestamp_id = timestamp_id
        self.samples_id = samples_id
        self.items = spead2.ItemGroup()

    def decode(self, heap):
        """The pair of both, or None for a heap that holds only something else."""
        self.items.update(heap)
        wanted = {self.timestamp_id, self.samples_id}
        if not wanted.issubset(item.id for item in heap.get_items()):
            return None
        if not wanted.issubset(self.items.ids()):
            self._assume_descriptors(heap.flavour)
            self.items.update(heap)
        timestamp = self.items[self.timestamp_id].value
        return int(timestamp), self.items[self.samples_id].value.ravel()

    def _assume_descriptors(self, flavour):
        """For a receiver that joins late, and for streams without descriptors."""
        timestamp_format = [("u", flavour.heap_address_bits)]
        for item_id, name, shape, item_format in (
            (self.timestamp_id, "timestamp", (), timestamp_format),
            (self.samples_id, "samples", (None,), [("i", 8)]),
        ):
            if item_id not in self.items:
                self.items.add_item(item_id, name, "", shape=shape, format=item_format)


class Receiver:
    """Takes heaps in and keeps the account."""

    def __init__(self, args):
        self.decoder = Decoder(args.timestamp_id, args.samples_id)
        self.heap_samples = args.heap_samples
        self.step = args.step
        self.expect_heaps = args.expect_heaps
        self.expect_samples = args.expect_samples
        self.continuity = None
        self.samples = 0
        self.begin = self.end = self.reported = time.monotonic()
        self.reported_samples = 0
        self.file = open(args.save, "wb") if args.save else None  # noqa: SIM115
        self.spectrogram = None
        if args.spectrogram:
            # Here, for receivers without matplotlib and without a picture.
            from common.spectrogram import Spectrogram

            self.spectrogram = Spectrogram()

    @property
    def heaps(self):
        return self.continuity.heaps if self.continuity else 0

    @property
    def missing(self):
        return self.continuity.missing if self.continuity else 0

    def add(self, heap):
        decoded = self.decoder.decode(heap)
        if decoded is None:
            return
        timestamp, samples = decoded
        self.end = time.monotonic()
        if self.continuity is None:
            self.begin = self.end
            self.heap_samples = self.heap_samples or len(samples)
            bits = heap.flavour.heap_address_bits
            self.continuity = Continuity(self.step or self.heap_samples, bits)
        self.continuity.add(timestamp)
        self.samples += len(samples)
        if self.file:
            self.file.write(samples)
        if self.spectrogram:
            self.spectrogram.add(samples)

    def percent(self):
        if self.expect_heaps:
            return 100 * self.heaps / self.expect_heaps
        if self.expect_samples:
            return 100 * self.samples / self.expect_samples
        return None

    def report(self):
        """Print a line of progress, once a second."""
        now = time.monotonic()
        seconds = now - self.reported
        if seconds < 1:
            return
        rate = (self.samples - self.reported_samples) / seconds / 1e6
        self.reported, self.reported_samples = now, self.samples
        line = f"{self.heaps:12,} heaps {rate:9.2f} MB/s {self.missing:9,} missing"
        if self.percent() is not None:
            line += f" {self.percent():6.1f} %"
        print(line, flush=True)

    def summary(self, stats):
        # What is expected and did not come may also be missing at either end, where
        # there is no gap between timestamps.
        missing = self.missing
        if self.expect_heaps:
            missing = max(missing, self.expect_heaps - self.heaps)
        if self.expect_samples:
            lacking = self.expect_samples - self.samples
            missing = max(missing, -(-lacking // (self.heap_samples or lacking or 1)))
        incomplete = stats.incomplete_heaps_evicted + stats.incomplete_heaps_flushed
        seconds = self.end - self.begin
        return {
            "complete": self.heaps > 0 and missing == 0 and incomplete == 0,
            "heaps": self.heaps,
            "missing": missing,
            "incomplete": incomplete,
            "duplicates": self.continuity.duplicates if self.continuity else 0,
            "backward": self.continuity.backward if self.continuity else 0,
            "first_timestamp": self.continuity.first if self.continuity else None,
            "last_timestamp": self.continuity.last if self.continuity else None,
            "samples": self.samples,
            "percent": self.percent(),
            "seconds": seconds,
            "megabytes_per_second": self.samples / seconds / 1e6 if seconds else 0.0,
        }


def udp_port(text):
    value = int(text)
    if not 0 <= value <= 65535:
        raise argparse.ArgumentTypeError(f"{value} is not within 0 to 65535")
    return value


def parse(argv):
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("port", type=udp_port, help="0 for any that is free")
    parser.add_argument("--bind", metavar="ADDRESS", default="127.0.0.1")
    parser.add_argument(
        "--heap-samples", type=positive, help="default: samples of the first heap"
    )
    parser.add_argument(
        "--step", type=integer, help="ticks from heap to heap; default: heap samples"
    )
    parser.add_argument("--timestamp-id", type=integer, default=0x1600)
    parser.add_argument("--samples-id", type=integer, default=0x3300)
    parser.add_argument("--save", metavar="FILE", help="write the samples, raw")
    parser.add_argument("--spectrogram", metavar="PNG", help="draw the samples")
    parser.add_argument("--sample-rate", metavar="HZ", type=float, help="for its axes")
    parser.add_argument("--max-heaps", metavar="N", type=positive, help="then end")
    parser.add_argument(
        "--timeout", metavar="S", type=float, help="end after S seconds without a heap"
    )
    expect = parser.add_mutually_exclusive_group()
    expect.add_argument("--expect-samples", metavar="N", type=positive)
    expect.add_argument("--expect-heaps", metavar="N", type=positive)
    parser.add_argument("--json", metavar="FILE", help="write the summary")
    return parser.parse_args(argv)


def receive(sock, args):
    """Receive to the end; the summary, as a dict."""
    receiver = Receiver(args)
    stream = open_stream(sock, args.heap_samples)
    try:
        for heap in heaps_of(stream, args.timeout):
            if heap is not None:
                receiver.add(heap)
            receiver.report()
            if receiver.heaps == args.max_heaps:
                break
    except KeyboardInterrupt:
        pass
    summary = receiver.summary(stream.stats)
    stream.stop()
    if receiver.file:
        receiver.file.close()
    if receiver.spectrogram:
        receiver.spectrogram.save(args.spectrogram, args.sample_rate)
    return summary


def main(argv=None):
    args = parse(argv)
    # Incomplete heaps are part of the summary, no need to log each.
    logging.getLogger("spead2").setLevel(logging.ERROR)
    report = None
    try:
        if args.json:
            report = open(args.json, "w")  # noqa: SIM115
        with bound_socket(args.bind, args.port) as sock:
            address, port = sock.getsockname()[:2]
            host = f"[{address}]" if ":" in address else address
            print(f"listening on {host}:{port}", flush=True)
            summary = receive(sock, args)
    except OSError as error:
        sys.exit(f"receive.py: {error}")
    if report:
        with report:
            json.dump(summary, report, indent=2)
    print(
        "{heaps:,} heaps received, {missing:,} missing, {incomplete:,} incomplete, "
        "{duplicates:,} twice, {backward:,} steps back; {samples:,} samples "
        "in {seconds:.2f} s, {megabytes_per_second:.2f} MB/s".format(**summary)
    )
    return 0 if summary["complete"] else 1


if __name__ == "__main__":
    sys.exit(main())
