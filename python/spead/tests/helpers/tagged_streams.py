# Copyright 2026 The gr-spead authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Streams with time tags, and the position of their samples by timestamp."""

from fractions import Fraction
from types import SimpleNamespace

import numpy as np
import pmt
from gnuradio import gr, spead
from receiving import check_no_more, destination
from streams import run, source

HEAP = 64
SYNC = 1_600_000_000
MHZ = 1_000_000


def tag(offset, time, key="rx_time"):
    """A time tag. `time` is an exact number of seconds since 1970."""
    seconds = int(time)
    fraction = float(time - seconds)
    value = pmt.make_tuple(pmt.from_uint64(seconds), pmt.from_double(fraction))
    return gr.tag_utils.python_to_tag((offset, pmt.intern(key), value))


class tagged_source(source):
    """A source with tags that produces at most `piece` samples per call of work()."""

    def __init__(self, samples, tags, piece=None):
        source.__init__(self, samples)
        self.piece = piece or len(samples)
        self.tags = sorted(tags, key=lambda t: t.offset)
        self.tags_added = 0

    def start(self):
        self.tags_added = 0
        return source.start(self)

    def work(self, inputs, outputs):
        start = self.position
        produced = source.work(self, inputs, [outputs[0][: self.piece]])
        while self.tags_added < len(self.tags):
            next_tag = self.tags[self.tags_added]
            if next_tag.offset >= self.position:
                break
            self.add_item_tag(0, next_tag.offset, next_tag.key, next_tag.value)
            self.tags_added += 1
        assert start <= self.position
        return produced


class Heaps:
    """Receives the heaps of a stream, and checks that they are in order and unique."""

    def __init__(self, sock):
        self.timestamps = []
        self.samples_by_timestamp = {}
        sock.settimeout(5)
        while True:
            packet = sock.recv(65536)
            count = int.from_bytes(packet[6:8], "big")
            words = np.frombuffer(packet, ">u8", count, 8).tolist()
            items = {w >> 40 & 0x7FFFFF: w & (1 << 40) - 1 for w in words}
            if 0x06 in items:
                check_no_more(sock, packet)
                break
            samples = np.frombuffer(packet, np.int8, offset=8 + 8 * count)
            assert items[0x02] == len(samples)  # each heap is one packet
            timestamp = items[0x1600]
            assert timestamp % HEAP == 0
            self.timestamps.append(timestamp)
            self.samples_by_timestamp[timestamp] = samples
        assert self.timestamps == sorted(set(self.timestamps))

    def line(self, start, n):
        """The samples at `n` consecutive ticks; None where a sample is missing."""
        found = []
        for tick in range(start, start + n):
            heap = self.samples_by_timestamp.get(tick // HEAP * HEAP)
            index = tick % HEAP
            is_missing = heap is None or index >= len(heap)
            found.append(None if is_missing else int(heap[index]))
        return found


OPTIONS = {
    "heap_samples": HEAP,
    "descriptors": "none",
    "sample_rate": MHZ,
    "sync_time": str(SYNC),
}


def samples(n):
    """Samples that identify their position. None is 0, the value of filled gaps."""
    return (np.arange(n) % 127 + 1).astype(np.int8)


def send_tagged(sock, n, tags, piece=None, rate=MHZ, **options):
    """Send `n` samples with time tags, and receive their heaps.

    tags: (offset, time) pairs; the times are in samples since the synchronisation
    """
    time_tags = [tag(offset, SYNC + Fraction(time) / rate) for offset, time in tags]
    sink = spead.sink(destination(sock), **{**OPTIONS, **options})
    run(sink, tagged_source(samples(n), time_tags, piece))
    stats = sink.stats()
    assert stats["samples_in"] == stats["samples_sent"] + stats["samples_dropped"] == n
    return SimpleNamespace(stats=stats, heaps=Heaps(sock))


def expected(n, offset=0):
    return samples(n)[offset:].tolist()


def tag_warnings(capfd):
    """Warnings about tags; the destructor of the sink logs those still pending."""
    out = capfd.readouterr()
    lines = (out.out + out.err).splitlines()
    return [
        warning
        for line in lines
        for warning in line.split("; ")
        if "rx_time tag" in warning
    ]
