# Copyright 2026 The gr-spead authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""A receiver of chunks, as telescopes use spead2, places the heaps of the sink."""

import ctypes
import threading

import numpy as np
import spead2
import spead2.recv
from places import BOUND, NEEDS_BUFFER
from streams import noise, send

HEAP_SAMPLES = 8192
HEAPS = 50
HEAPS_PER_CHUNK = 10


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
    """Equivalent to scipy.LowLevelCallable(function), without scipy.

    Keep a reference to the function for as long as spead2 may call it.
    """
    new_capsule = ctypes.pythonapi.PyCapsule_New
    new_capsule.restype = ctypes.py_object
    new_capsule.argtypes = ctypes.c_void_p, ctypes.c_char_p, ctypes.c_void_p
    return (new_capsule(ctypes.cast(function, ctypes.c_void_p), SIGNATURE, None),)


@CALLBACK
def place(data, _):
    """Place a heap by its timestamp, if it has one and is of full length."""
    timestamp, length = data[0].items[0], data[0].items[1]
    if timestamp < 0 or length != HEAP_SAMPLES:
        return
    index = timestamp // HEAP_SAMPLES
    data[0].chunk_id = index // HEAPS_PER_CHUNK
    data[0].heap_index = index % HEAPS_PER_CHUNK
    data[0].heap_offset = data[0].heap_index * HEAP_SAMPLES


@NEEDS_BUFFER
def test_a_chunk_receiver_places_heaps_by_timestamp(sock):
    """Such receivers read the items of the first packet of a heap that arrives."""
    samples = noise(HEAP_SAMPLES * HEAPS)
    chunks = HEAPS // HEAPS_PER_CHUNK
    data_ring = spead2.recv.ChunkRingbuffer(chunks)
    free_ring = spead2.recv.ChunkRingbuffer(chunks)
    stream = spead2.recv.ChunkRingStream(
        spead2.ThreadPool(),
        spead2.recv.StreamConfig(max_heaps=4),
        spead2.recv.ChunkStreamConfig(
            items=[0x1600, spead2.HEAP_LENGTH_ID],
            max_chunks=2,
            place=low_level_callable(place),
        ),
        data_ring,
        free_ring,
    )
    for _ in range(chunks):
        stream.add_free_chunk(
            spead2.recv.Chunk(
                data=np.zeros(HEAP_SAMPLES * HEAPS_PER_CHUNK, np.int8),
                present=np.zeros(HEAPS_PER_CHUNK, np.uint8),
            )
        )
    stream.add_udp_reader(socket=sock)
    guard = threading.Timer(BOUND, stream.stop)
    guard.start()
    send(sock, samples, descriptors="none")

    received = {}
    for chunk in data_ring:
        assert chunk.present.all()
        received[chunk.chunk_id] = np.array(chunk.data)
    guard.cancel()
    assert sorted(received) == list(range(chunks))
    got = np.concatenate([received[i] for i in range(chunks)])
    np.testing.assert_array_equal(got, samples)
