# Copyright 2026 The gr-spead authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Places the heaps of a digitiser in the chunks of a chunk stream of spead2.

spead2 calls a C function for each heap. Here it is a Python function behind ctypes, so
that nothing has to be compiled. It takes 10 us for a heap: 300 MB/s with heaps of 4096
bytes.
"""

import collections
import ctypes
from dataclasses import dataclass

import spead2.recv
from common import spead_packet


class PlaceData(ctypes.Structure):
    """chunk_place_data of spead2's recv_chunk_stream.h"""

    _fields_ = (
        ("packet", ctypes.c_void_p),
        ("packet_size", ctypes.c_size_t),
        ("items", ctypes.POINTER(ctypes.c_int64)),
        ("chunk_id", ctypes.c_int64),
        ("heap_index", ctypes.c_size_t),
        ("heap_offset", ctypes.c_size_t),
        ("batch_stats", ctypes.c_void_p),
        ("extra", ctypes.c_void_p),
        ("extra_offset", ctypes.c_size_t),
        ("extra_size", ctypes.c_size_t),
    )


CALLBACK = ctypes.CFUNCTYPE(None, ctypes.POINTER(PlaceData), ctypes.c_size_t)
SIGNATURE = b"void (void *, size_t)"


def low_level_callable(function):
    """The same as scipy.LowLevelCallable(function), without scipy.

    Keep a reference to the function as long as spead2 may call it.
    """
    new = ctypes.pythonapi.PyCapsule_New
    new.restype = ctypes.py_object
    new.argtypes = ctypes.c_void_p, ctypes.c_char_p, ctypes.c_void_p
    return (new(ctypes.cast(function, ctypes.c_void_p), SIGNATURE, None),)


@dataclass(frozen=True)
class Layout:
    """Describes the stream of a digitiser, and its chunks.

    heap_samples: samples, and ticks, in a heap; at least 1
    sample_bits: bits of a packed sample; a heap must be a whole number of bytes
    chunk_heaps: heaps of each polarisation in a chunk; at least 1
    digitiser_ids: accepted digitiser IDs (item 0x3101); None for all
    status: accepted digitiser status (item 0x3102); None for all
    """

    heap_samples: int = 4096
    sample_bits: int = 8
    chunk_heaps: int = 256
    digitiser_ids: tuple | None = None
    status: int | None = None

    def __post_init__(self):
        for name in ("heap_samples", "sample_bits", "chunk_heaps"):
            if getattr(self, name) < 1:
                raise ValueError(f"{name} = {getattr(self, name)} is less than 1")
        if self.heap_samples * self.sample_bits % 8:
            raise ValueError(
                f"{self.heap_samples} samples of {self.sample_bits} bits"
                " are not a whole number of bytes"
            )

    @property
    def heap_bytes(self):
        return self.heap_samples * self.sample_bits // 8


class Placer:
    """Places the heaps of one stream, and counts the heaps that it rejects.

    It is stricter than the F-engine of MeerKAT: a heap must be one packet, with all
    immediate items. Only the thread of the stream calls it. Other threads may read:

    placed: a list of heaps for each polarisation
    rejected: a dict of heaps for each reason
    descriptors: heaps of descriptors
    ends: end-of-stream heaps
    """

    ITEMS = (
        spead_packet.TIMESTAMP,
        spead_packet.DIGITISER_ID,
        spead_packet.DIGITISER_STATUS,
        spead_packet.HEAP_LENGTH,
        spead_packet.PAYLOAD_LENGTH,
    )

    def __init__(self, layout):
        self.placed = [0, 0]
        self.rejected = collections.Counter()
        self.descriptors = 0
        self.ends = 0
        self._layout = layout
        self._callback = CALLBACK(self._place)  # spead2 keeps no reference

    def config(self, max_chunks):
        """The configuration of the chunk stream; keep the Placer while it runs."""
        return spead2.recv.ChunkStreamConfig(
            items=list(self.ITEMS),
            max_chunks=max_chunks,
            place=low_level_callable(self._callback),
        )

    def _place(self, pointer, _):
        data = pointer.contents
        layout = self._layout
        timestamp, digitiser_id, status, heap_length, payload_length = data.items[:5]
        if timestamp < 0:
            self._count_without_timestamp(data)
            return
        reason = self._reason(timestamp, digitiser_id, status)
        if heap_length != layout.heap_bytes:
            reason = "heap length"
        elif payload_length != heap_length:
            reason = "several packets"
        if reason:
            self.rejected[reason] += 1
            return
        polarisation = digitiser_id & 1
        chunk, index = divmod(timestamp // layout.heap_samples, layout.chunk_heaps)
        index += polarisation * layout.chunk_heaps
        data.chunk_id = chunk
        data.heap_index = index
        data.heap_offset = index * heap_length
        self.placed[polarisation] += 1

    def _reason(self, timestamp, digitiser_id, status):
        """The reason to reject the immediate items (-1 if absent), or None."""
        layout = self._layout
        if timestamp % layout.heap_samples:
            return "timestamp off the grid"
        if digitiser_id < 0:
            return "no digitiser ID"
        if layout.digitiser_ids and digitiser_id not in layout.digitiser_ids:
            return "digitiser ID"
        if status < 0:
            return "no status"
        if layout.status is not None and status != layout.status:
            return "status"
        return None

    def _count_without_timestamp(self, data):
        packet = spead_packet.parse(ctypes.string_at(data.packet, data.packet_size))
        if packet.is_end_of_stream():
            self.ends += 1
        elif packet.has_descriptors():
            self.descriptors += 1
        else:
            self.rejected["no timestamp"] += 1
