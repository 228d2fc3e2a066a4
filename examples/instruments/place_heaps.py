# Copyright 2026 The gr-spead authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Where the heaps of a digitiser belong: what spead2's chunk streams ask for each.

spead2 calls a C function. This one is Python behind ctypes: some 10 us for a heap, or
300 MB/s with 4096 bytes in each, and nothing to compile.
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
    """What scipy.LowLevelCallable makes of a function, without scipy.

    It does not keep the function, which must live as long as it is called.
    """
    new = ctypes.pythonapi.PyCapsule_New
    new.restype = ctypes.py_object
    new.argtypes = ctypes.c_void_p, ctypes.c_char_p, ctypes.c_void_p
    return (new(ctypes.cast(function, ctypes.c_void_p), SIGNATURE, None),)


@dataclass(frozen=True)
class Layout:
    """The stream of a digitiser, and how it is cut into chunks.

    heap_samples: samples of a heap, which are its ticks as well; at least 1
    sample_bits: bits of a sample, packed; a heap holds a whole number of bytes
    chunk_heaps: heaps of a chunk of each polarisation, at least 1
    digitiser_ids: the IDs that are expected (item 0x3101); None for any
    status: the status that is expected (item 0x3102); None for any
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
                " are no whole number of bytes"
            )

    @property
    def heap_bytes(self):
        return self.heap_samples * self.sample_bits // 8


class Placer:
    """Places the heaps of one stream, and counts those that it does not place.

    It asks more than the F-engine of MeerKAT does: one packet for a heap, and all
    immediates in it, which makes it all packets. `config()` is for the stream, whose
    thread alone calls it; others may read the counters:

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
        self._callback = CALLBACK(self._place)  # spead2 does not keep it

    def config(self, max_chunks):
        """Of a spead2 stream that calls this; keep both for as long as it runs."""
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
            self._refuse(data)
            return
        reason = self._fault(timestamp, digitiser_id, status)
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

    def _fault(self, timestamp, digitiser_id, status):
        """What is wrong with the immediates, which are -1 where there is none."""
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

    def _refuse(self, data):
        """A heap without timestamp: good if it tells of the stream, otherwise not."""
        packet = spead_packet.parse(ctypes.string_at(data.packet, data.packet_size))
        if packet.is_end_of_stream():
            self.ends += 1
        elif packet.has_descriptors():
            self.descriptors += 1
        else:
            self.rejected["no timestamp"] += 1
