# Copyright 2026 The gr-spead authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Streams with time tags, and where their samples are by the timestamps that leave."""

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
    """A tag of a time: an exact number of seconds since 1970."""
    seconds = int(time)
    fraction = float(time - seconds)
    value = pmt.make_tuple(pmt.from_uint64(seconds), pmt.from_double(fraction))
    return gr.tag_utils.python_to_tag((offset, pmt.intern(key), value))


class tagged_source(source):
    """Samples in pieces of the test's choice, with tags."""

    def __init__(self, samples, tags, piece=None):
        source.__init__(self, samples)
        self.piece = piece or len(samples)
        self.tags = sorted(tags, key=lambda t: t.offset)
        self.given = 0

    def start(self):
        self.given = 0
        return source.start(self)

    def work(self, inputs, outputs):
        done = self.at
        made = source.work(self, inputs, [outputs[0][: self.piece]])
        while self.given < len(self.tags) and self.tags[self.given].offset < self.at:
            given = self.tags[self.given]
            self.add_item_tag(0, given.offset, given.key, given.value)
            self.given += 1
        assert done <= self.at
        return made


class Heaps:
    """What arrived: the sample at each tick, which heaps, and that none came twice."""

    def __init__(self, sock, step=HEAP):
        self.timestamps = []
        self.at = {}
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
            assert items[0x02] == len(samples)  # heaps of one packet
            timestamp = items[0x1600]
            assert timestamp % step == 0
            self.timestamps.append(timestamp)
            self.at[timestamp] = samples
        assert self.timestamps == sorted(set(self.timestamps))

    def line(self, start, n, step=HEAP):
        """The samples of ticks, None where there are none."""
        found = []
        for tick in range(start, start + n):
            heap = self.at.get(tick // step * step)
            place = tick % step
            gone = heap is None or place >= len(heap)
            found.append(None if gone else int(heap[place]))
        return found


OPTIONS = {
    "heap_samples": HEAP,
    "descriptors": "none",
    "sample_rate": MHZ,
    "sync_time": str(SYNC),
}


def samples(n):
    """Never 0, so that zeros that are filled in show; the place shows by the value."""
    return (np.arange(n) % 127 + 1).astype(np.int8)


def send_tagged(sock, n, tags, piece=None, rate=MHZ, **options):
    """Tags are pairs of an offset and a place in samples since the synchronisation."""
    made = [tag(offset, SYNC + Fraction(place) / rate) for offset, place in tags]
    sink = spead.sink(destination(sock), **{**OPTIONS, **options})
    run(sink, tagged_source(samples(n), made, piece))
    stats = sink.stats()
    assert stats["samples_in"] == stats["samples_sent"] + stats["samples_dropped"] == n
    return SimpleNamespace(stats=stats, heaps=Heaps(sock))


def expected(n, offset=0):
    return samples(n)[offset:].tolist()
