# Copyright 2026 The gr-spead authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Each sample type arrives unchanged; floats are rounded as numpy rounds them."""

import numpy as np
import pytest
from gnuradio import spead
from inputs import TYPES
from receiving import destination
from streams import run, send, source

WIDTH = {
    **{"int8": np.int8, "sc8": np.int8, "int16": np.int16, "sc16": np.int16},
    "int32": np.int32,
}


def integers(kind, n):
    """Random numbers of all values, of shape (n,) or (n, 2)."""
    width = np.iinfo(WIDTH[kind])
    shape = (n, 2) if kind in ("sc8", "sc16") else (n,)
    generator = np.random.default_rng(1)
    return generator.integers(width.min, width.max, shape, WIDTH[kind], endpoint=True)


WIRE_TYPES = {
    "int8": ["i1", "u1", "i2", "<i4", "f4", "<f8"],
    "sc8": ["i1", "u1", "<i2", "f4"],
    "int16": ["i2", "<i2", "<u2", "i4", "<f4", "f8"],
    "sc16": ["<i2", "u2", "<i4", "f8"],
    "int32": ["<i4", "u4", "<f8"],
    "float": ["f4", "<f4", "f8", "<f8"],
    "complex": ["f4", "<f8", "c8", "<c8", "c16", "<c16"],
}


@pytest.mark.parametrize(
    ("kind", "wire_type"),
    [(kind, wire_type) for kind in TYPES for wire_type in WIRE_TYPES[kind]],
)
def test_values_arrive_as_each_wire_type(sock, receiver, kind, wire_type):
    """Integers of the same size keep their bits, all others their values.

    The packets split some of the samples.
    """
    order = wire_type[0] if wire_type[0] == "<" else ">"
    dtype = np.dtype(order + wire_type.lstrip("<"))
    if kind in WIDTH:
        samples = integers(kind, 4096)
        items = samples.reshape(-1).view(TYPES[kind])
        wraps = dtype.kind == "u"
        sent = samples.view(f"u{samples.itemsize}") if wraps else samples
    else:
        items = np.random.default_rng(3).normal(size=8192).astype(np.float32)
        items = items.view(np.complex64) if kind == "complex" else items
        has_pairs = kind == "complex" and dtype.kind != "c"
        sent = items.view(np.float32).reshape(-1, 2) if has_pairs else items
    send(
        sock,
        items,
        heap_samples=1024,
        max_packet_size=333,
        input_type=kind,
        wire_type=wire_type,
        send_stop=False,
    )
    expected = np.split(sent, len(sent) // 1024)
    heaps = receiver.next_heaps(len(expected))
    for heap, content in zip(heaps, expected, strict=True):
        assert heap.samples.dtype == dtype.newbyteorder("=")
        np.testing.assert_array_equal(heap.samples, content.astype(dtype))


@pytest.mark.parametrize("wire_type", ["i1", "u1", "<i2", "u2", "i4", "u4"])
def test_floats_are_rounded_to_integers_of_each_type(sock, receiver, wire_type):
    """Full scale is the largest integer."""
    limits = np.iinfo(wire_type)
    numbers = np.random.default_rng(5).uniform(-1.1, 1.1, 4096).astype(np.float32)
    numbers[:3] = 0, 1, np.nan
    sink = send(
        sock, numbers, heap_samples=4096, input_type="float", wire_type=wire_type
    )
    highest = np.float32(limits.max)  # not exact with 32 bits
    rounded = np.rint(numbers * highest)
    clipped = ~((rounded >= limits.min) & (rounded <= highest))
    exact = np.nan_to_num(rounded).astype(np.float64)
    expected = np.clip(exact, limits.min, limits.max)
    (heap,) = receiver.next_heaps(1)
    np.testing.assert_array_equal(heap.samples, expected.astype(wire_type))
    assert sink.samples_clipped() == np.count_nonzero(clipped)


def test_samples_are_clipped_and_counted_in_each_run(sock):
    """The largest sample is measured before clipping."""
    sink = spead.sink(destination(sock), input_type="float", scale=100)
    assert sink.largest_sample() == 0
    for numbers, largest, clipped in [
        ([0.5, 0.25], 50, 0),
        ([-2, 1.29, np.nan], 200, 3),
        ([1, 0], 200, 3),
    ]:
        run(sink, source(np.array(numbers, np.float32)))
        assert sink.largest_sample() == largest
        assert sink.samples_clipped() == clipped
