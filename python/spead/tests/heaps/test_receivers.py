# Copyright 2026 The gr-spead authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Typical receivers, written as in spead2's manual, read the stream."""

import threading

import numpy as np
import spead2
import spead2.recv
from place_callback import CALLBACK, low_level_callable
from places import BOUND, NEEDS_BUFFER
from streams import noise, send

HEAP_SAMPLES = 8192
HEAPS = 50


@NEEDS_BUFFER
def test_the_receiver_of_spead2s_tutorial_reads_the_stream(sock):
    """A loop over heaps and an item group, as in spead2's first tutorial."""
    samples = noise(HEAP_SAMPLES * HEAPS)
    stream = spead2.recv.Stream(spead2.ThreadPool())
    stream.add_udp_reader(socket=sock)
    guard = threading.Timer(BOUND, stream.stop)
    guard.start()
    send(sock, samples)

    item_group = spead2.ItemGroup()
    timestamps, received = [], []
    for heap in stream:
        item_group.update(heap)
        timestamps.append(item_group["timestamp"].value)
        received.append(item_group["adc_samples"].value)
    guard.cancel()

    assert timestamps == [HEAP_SAMPLES * i for i in range(HEAPS)]
    np.testing.assert_array_equal(np.concatenate(received), samples)
    assert received[0].dtype == np.int8
    assert item_group["timestamp"].description


HEAPS_PER_CHUNK = 10


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
