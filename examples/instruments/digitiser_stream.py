# Copyright 2026 The gr-spead authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Receives the stream of a digitiser in chunks, as the F-engine of MeerKAT does."""

import collections
import select
import time
from typing import NamedTuple

import numpy as np
import spead2
import spead2.recv

from instruments.place_heaps import Layout, Placer

MAX_CHUNKS = 8  # chunks in progress; heaps of earlier chunks are late
INTERVAL = 0.1  # seconds between checks of the timeout and of max_heaps


class Chunk(NamedTuple):
    """Consecutive heaps of both polarisations; valid until the next chunk.

    timestamp: timestamp of the first heaps, in ticks
    present: whether a heap was received, bool, shape (2, heaps)
    heaps: payload, uint8, shape (2, heaps, heap bytes); zeros if not received
    """

    timestamp: int
    present: np.ndarray
    heaps: np.ndarray


class DigitiserStream:
    """A group of chunk streams of spead2, which place heaps in common chunks.

    with DigitiserStream([[socket]]) as stream:
        for chunk in stream.chunks(timeout=1.0): ...
    print(stream.summary())

    streams: a list of bound sockets for each chunk stream; each has its own thread
    lossless: whether a stream that is ahead waits for the others; otherwise it makes
        their heaps late

    An end-of-stream heap at any of its sockets ends a stream, as in the F-engine.
    Timestamps must not wrap.
    """

    def __init__(self, streams, layout=None, lossless=False):
        self.layout = layout or Layout()
        self.received = np.zeros(2, np.int64)  # heaps of each polarisation
        self.first = self.last = None  # timestamps of received heaps
        self._streams = streams
        self._ending = False
        self._placers = [Placer(self.layout) for _ in streams]
        chunks = MAX_CHUNKS + 2
        eviction = spead2.recv.ChunkStreamGroupConfig.EvictionMode
        self._group = spead2.recv.ChunkStreamRingGroup(
            spead2.recv.ChunkStreamGroupConfig(
                max_chunks=MAX_CHUNKS,
                eviction_mode=eviction.LOSSLESS if lossless else eviction.LOSSY,
            ),
            spead2.recv.ChunkRingbuffer(chunks),
            spead2.recv.ChunkRingbuffer(chunks),
        )
        shape = (2, self.layout.chunk_heaps)
        for _ in range(chunks):
            data = np.zeros((*shape, self.layout.heap_bytes), np.uint8)
            present = np.zeros(shape, np.uint8)
            self._group.add_free_chunk(spead2.recv.Chunk(data=data, present=present))
        config = spead2.recv.StreamConfig(max_heaps=1)
        for placer in self._placers:
            self._group.emplace_back(
                spead2.ThreadPool(), config, placer.config(MAX_CHUNKS)
            )

    def __enter__(self):
        for member, sockets in zip(self._group, self._streams, strict=True):
            for sock in sockets:
                member.add_udp_reader(socket=sock, max_size=65507)
        return self

    def __exit__(self, *_):
        self.end()
        for chunk in self._group.data_ringbuffer:  # until the streams have ended
            self._group.add_free_chunk(chunk)
        self._group.stop()

    def chunks(self, timeout=None, max_heaps=None):
        """Yield chunks in order of time, without those that have no heaps.

        Ends when each stream has had an end-of-stream heap, after `timeout` seconds
        without a packet, after `max_heaps` heaps or a few more, or after end().
        """
        ring = self._group.data_ringbuffer
        ready = select.poll()
        ready.register(ring.data_fd, select.POLLIN)
        packets, last_packet = 0, time.monotonic()
        while True:
            packets, before = self._packets(), packets
            if packets != before:
                last_packet = time.monotonic()
            elif timeout is not None and time.monotonic() >= last_packet + timeout:
                self.end()
            if max_heaps and np.sum(self._placed()) >= max_heaps:
                self.end()
            try:
                chunk = ring.get_nowait()
            except spead2.Stopped:
                return
            except spead2.Empty:
                ready.poll(1000 * INTERVAL)
                continue
            try:
                if chunk.present.any():
                    yield self._count(chunk)
            finally:
                self._group.add_free_chunk(chunk)

    def end(self):
        """End the streams; chunks() still yields the heaps that they have received.

        stop() would drop these heaps. It also waits for threads while it holds the
        interpreter lock, which a thread may need to place a heap.
        """
        if not self._ending:
            self._ending = True
            for member in self._group:
                member.add_buffer_reader(b"")  # a stream ends with its buffer

    def _packets(self):
        return sum(member.stats.packets for member in self._group)

    def _placed(self):
        return [placer.placed for placer in self._placers]

    def _count(self, chunk):
        step = self.layout.heap_samples
        timestamp = chunk.chunk_id * self.layout.chunk_heaps * step
        present = chunk.present.astype(bool)
        columns = np.flatnonzero(present.any(axis=0))
        if self.first is None:
            self.first = timestamp + int(columns[0]) * step
        self.last = timestamp + int(columns[-1]) * step
        self.received += present.sum(axis=1)
        chunk.data[~present] = 0
        return Chunk(timestamp, present, chunk.data)

    def summary(self):
        """The counters so far, as a dict; the lists are for the two polarisations.

        missing: heaps between the first and the last timestamp that were not received
        rejected: heaps that were rejected, for each reason
        late: heaps that arrived too late for their chunk
        duplicates: heaps that arrived again
        descriptors, ends: heaps of descriptors, end-of-stream heaps
        """
        expected = 0
        if self.first is not None:
            expected = (self.last - self.first) // self.layout.heap_samples + 1
        received = self.received.tolist()
        placed = np.sum(self._placed(), axis=0)
        late = sum(member.stats["too_old_heaps"] for member in self._group)
        rejected = collections.Counter()
        for placer in self._placers:
            rejected += placer.rejected
        missing = [expected - heaps for heaps in received]
        return {
            "complete": expected > 0 and not any(missing) and not rejected,
            "received": received,
            "missing": missing,
            "rejected": dict(rejected),
            "late": late,
            "duplicates": int(placed.sum()) - sum(received) - late,
            "descriptors": sum(placer.descriptors for placer in self._placers),
            "ends": sum(placer.ends for placer in self._placers),
            "first_timestamp": self.first,
            "last_timestamp": self.last,
        }
