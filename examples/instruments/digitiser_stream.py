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

MAX_CHUNKS = 8  # at a time: how far apart, in time, heaps may arrive
INTERVAL = 0.1  # seconds between looks at whether it is over


class Chunk(NamedTuple):
    """Heaps of both polarisations and of consecutive times; valid until the next one.

    timestamp: of the first column, in ticks
    present: whether the heap has come, bool, shape (2, heaps)
    heaps: the payload, uint8, shape (2, heaps, heap bytes); zeros where none has come
    """

    timestamp: int
    present: np.ndarray
    heaps: np.ndarray


class DigitiserStream:
    """Places heaps by timestamp and by polarisation, which is digitiser ID & 1.

    It is a group of chunk streams of spead2, one for each list of bound sockets in
    `streams`, each with a thread of its own. One that is far ahead of another makes the
    other's heaps late; if `lossless`, it waits for the other instead. An end-of-stream
    heap in any of its sockets ends a stream for good, as in the F-engine. Timestamps
    must not wrap. To be used as a context manager:

        with DigitiserStream([[socket]]) as stream:
            for chunk in stream.chunks(timeout=1.0): ...
        print(stream.summary())
    """

    def __init__(self, streams, layout=None, lossless=False):
        self.layout = layout or Layout()
        self.received = np.zeros(2, np.int64)  # heaps of each polarisation
        self.first = self.last = None  # timestamps
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
        for chunk in self._group.data_ringbuffer:  # up to the end that was asked for
            self._group.add_free_chunk(chunk)
        self._group.stop()

    def chunks(self, timeout=None, max_heaps=None):
        """Yield chunks, those with heaps in them, in the order of time.

        Ends when each stream has had an end-of-stream heap; after `timeout` seconds
        without a packet; when `max_heaps` or some more have been placed; after end().
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
                if chunk.present.any():  # otherwise one that only leads to the first
                    yield self._account(chunk)
            finally:
                self._group.add_free_chunk(chunk)

    def end(self):
        """Let the streams end where they are; chunks() still yields what they have.

        Not by stop(), which throws that away, and holds the lock of the interpreter
        while it waits for a thread that may be in need of it, to place a heap.
        """
        if not self._ending:
            self._ending = True
            for member in self._group:
                member.add_buffer_reader(b"")  # its end is that of the stream

    def _packets(self):
        return sum(member.stats.packets for member in self._group)

    def _placed(self):
        return [placer.placed for placer in self._placers]

    def _account(self, chunk):
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
        """What has come so far, as a dict; each list is for the two polarisations.

        missing: heaps between the first and the last timestamp that have not come
        rejected: heaps that were not placed, for each reason
        late: heaps that came when their chunk was gone
        twice: heaps that came again
        descriptors, ends: heaps that tell of the stream; not counted elsewhere
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
            "twice": int(placed.sum()) - sum(received) - late,
            "descriptors": sum(placer.descriptors for placer in self._placers),
            "ends": sum(placer.ends for placer in self._placers),
            "first_timestamp": self.first,
            "last_timestamp": self.last,
        }
