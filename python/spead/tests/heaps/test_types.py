# Copyright 2026 The gr-spead authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Each sample type arrives unchanged; floats are rounded as numpy rounds them."""

import itertools

import numpy as np
import pytest
from gnuradio import spead
from inputs import TYPES
from places import NEEDS_BUFFER
from receiving import destination
from streams import balanced, run, send, source

PARTS = {"int8": 1, "sc8": 2, "int16": 1, "sc16": 2, "int32": 1}
WIDTH = {
    **{"int8": np.int8, "sc8": np.int8, "int16": np.int16, "sc16": np.int16},
    "int32": np.int32,
}
# in samples; the packet sizes also split samples of two numbers between packets
HEAPS = (1, 7, 4099)
PACKETS = (200, 203, 1472)


def integers(kind, n, seed=1):
    """Random numbers of all values, of shape (n,) or (n, 2)."""
    width = np.iinfo(WIDTH[kind])
    shape = (n,) if PARTS[kind] == 1 else (n, 2)
    generator = np.random.default_rng(seed)
    return generator.integers(width.min, width.max, shape, WIDTH[kind], endpoint=True)


def as_items(kind, samples):
    """The samples as GNU Radio items, one for each."""
    return np.ascontiguousarray(samples).reshape(-1).view(TYPES[kind])


def expected_heaps(samples, size, tail="short"):
    heaps = [samples[i : i + size] for i in range(0, len(samples), size)]
    if heaps and len(heaps[-1]) < size:
        if tail == "drop":
            heaps.pop()
        if tail == "pad":
            missing = np.zeros((size - len(heaps[-1]), *samples.shape[1:]))
            heaps[-1] = np.concatenate([heaps[-1], missing]).astype(samples.dtype)
    return heaps


def check(heaps, expected):
    assert len(heaps) == len(expected)
    for heap, content in zip(heaps, expected, strict=True):
        assert heap.samples.shape == content.shape
        assert heap.samples.dtype.kind == content.dtype.kind
        assert heap.samples.dtype.itemsize == content.dtype.itemsize
        assert np.array_equal(heap.samples, content)


@NEEDS_BUFFER
@pytest.mark.parametrize("kind", PARTS)
def test_integers_round_trip(sock, receiver, kind):
    for size, packet, tail in itertools.product(
        HEAPS, PACKETS, ("short", "pad", "drop")
    ):
        for n in (1, size - 1, 3 * size, 3 * size + size // 2 + 1):
            samples = integers(kind, n, seed=n + size)
            sink = send(
                sock,
                as_items(kind, samples),
                heap_samples=size,
                max_packet_size=packet,
                input_type=kind,
                tail=tail,
                send_stop=False,
            )
            expected = expected_heaps(samples, size, tail)
            check(receiver.next_heaps(len(expected)), expected)
            assert balanced(sink.stats())
            assert sink.samples_pending() == 0


@pytest.mark.parametrize("tail", ["", "pad", "drop"])
@pytest.mark.parametrize("kind", ["int16", "sc16"])
def test_little_endian_integers_round_trip(sock, receiver, kind, tail):
    for size, packet in itertools.product(HEAPS, PACKETS):
        samples = integers(kind, 3 * size + size // 2 + 1, seed=size)
        send(
            sock,
            as_items(kind, samples),
            heap_samples=size,
            max_packet_size=max(packet, 300),  # the numpy header is longer
            input_type=kind,
            wire_type="<i2",
            tail=tail,
            send_stop=False,
        )
        expected = expected_heaps(samples, size, tail or "pad")
        heaps = receiver.next_heaps(len(expected))
        check(heaps, expected)
        assert all(heap.samples.dtype == np.dtype("<i2") for heap in heaps)


WIRE_TYPES = {
    "int8": ["u1", "i2", "<i4", "f4", "<f8"],
    "sc8": ["u1", "<i2", "f4"],
    "int16": ["i2", "<u2", "i4", "<f4", "f8"],
    "sc16": ["u2", "<i4", "f8"],
    "int32": ["<i4", "u4", "<f8"],
    "float": ["f4", "<f4", "f8", "<f8"],
    "complex": ["f4", "<f8", "c8", "<c8", "c16", "<c16"],
}


@pytest.mark.parametrize(
    ("kind", "wire_type"), [(kind, each) for kind in TYPES for each in WIRE_TYPES[kind]]
)
def test_values_arrive_as_each_wire_type(sock, receiver, kind, wire_type):
    """Integers of the same size keep their bits, all others their values."""
    order = wire_type[0] if wire_type[0] == "<" else ">"
    dtype = np.dtype(order + wire_type.lstrip("<"))
    if kind in PARTS:
        samples = integers(kind, 4096)
        items = as_items(kind, samples)
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
        input_type=kind,
        wire_type=wire_type,
        send_stop=False,
    )
    expected = expected_heaps(sent, 1024)
    heaps = receiver.next_heaps(len(expected))
    for heap, content in zip(heaps, expected, strict=True):
        assert heap.samples.dtype == dtype.newbyteorder("=")
        np.testing.assert_array_equal(heap.samples, content.astype(dtype))


@pytest.mark.parametrize("wire_type", ["u1", "u2", "i4", "u4"])
def test_floats_are_rounded_to_integers_of_each_type(sock, receiver, wire_type):
    """Full scale is the largest integer."""
    limits = np.iinfo(wire_type)
    numbers = np.random.default_rng(5).uniform(-1.1, 1.1, 4096).astype(np.float32)
    numbers[:3] = 0, 1, np.nan
    sink = send(sock, numbers, input_type="float", wire_type=wire_type, send_stop=False)
    highest = np.float32(limits.max)  # not exact with 32 bits
    rounded = np.rint(numbers * highest)
    clipped = ~((rounded >= limits.min) & (rounded <= highest))
    exact = np.nan_to_num(rounded).astype(np.float64)
    expected = np.clip(exact, limits.min, limits.max)
    (heap,) = receiver.next_heaps(1)
    np.testing.assert_array_equal(heap.samples, expected.astype(wire_type))
    assert sink.samples_clipped() == np.count_nonzero(clipped)


@pytest.mark.parametrize("kind", PARTS)
@pytest.mark.parametrize("n", [33, 10_001, 25_000])
def test_heaps_larger_than_an_eighth_of_the_ring_round_trip(sock, receiver, kind, n):
    """A tail is padded if a packet of it has been sent; a tail of one sample is not."""
    samples = integers(kind, n)
    tail = "short" if n == 10_001 else "pad"
    options = {"heap_samples": 10_000, "max_packet_size": 203, "buffer_size": 16_384}
    sink = send(sock, as_items(kind, samples), input_type=kind, **options)
    expected = expected_heaps(samples, 10_000, tail)
    check(receiver.until_end().heaps, expected)
    assert sink.samples_zero_filled() == sum(map(len, expected)) - n


def reference(samples, scale, bits):
    """The integers that numpy rounds floats to, and how many samples it clips."""
    low, high = -(1 << bits - 1), (1 << bits - 1) - 1
    numbers = samples.view(np.float32).reshape(len(samples), -1)
    with np.errstate(over="ignore", invalid="ignore"):
        scaled = numbers * np.float32(scale)
        rounded = np.rint(scaled)
        whole = np.where(np.isnan(rounded), 0, np.clip(rounded, low, high))
        clipped = ~((rounded >= low) & (rounded <= high))
    whole = whole.astype(f"int{bits}")
    if samples.dtype == np.float32:
        whole = whole[:, 0]
    return whole, np.count_nonzero(clipped.any(axis=1))


INTEGER_TYPES = {8: "i1", 16: ">i2"}


def convert(sock, receiver, samples, scale=1.0, bits=8, **options):
    kind = "float" if samples.dtype == np.float32 else "complex"
    options.setdefault("wire_type", INTEGER_TYPES[bits])
    options["send_stop"] = False  # it would delay each run
    sink = send(sock, samples, input_type=kind, scale=scale, **options)
    scale = scale or 2 ** (bits - 1) - 1
    whole, clipped = reference(samples, scale, bits)
    expected = expected_heaps(whole, options.get("heap_samples", 8192))
    check(receiver.next_heaps(len(expected)), expected)
    assert sink.samples_clipped() == clipped
    assert sink.samples_sent() == len(samples)
    return clipped


@NEEDS_BUFFER
@pytest.mark.parametrize("kind", [np.float32, np.complex64])
@pytest.mark.parametrize("bits", [8, 16])
@pytest.mark.parametrize("scale", [127, 1 / 3, 1e-30])
def test_random_floats_are_rounded_and_clipped(sock, receiver, kind, bits, scale):
    parts = 1 if kind == np.float32 else 2
    generator = np.random.default_rng(7)
    sigma = 2 ** (bits - 1) / 2 / scale
    numbers = generator.normal(0, sigma, 500_000 * parts).astype(np.float32)
    clipped = convert(sock, receiver, numbers.view(kind), scale, bits)
    assert 0 < clipped < 100_000


@pytest.mark.parametrize(("bits", "scale"), [(8, 127), (16, 32767)])
@pytest.mark.parametrize("kind", [np.float32, np.complex64])
def test_full_scale_is_one(sock, receiver, kind, bits, scale):
    """This is the default, and the full scale of SDRs and of GNU Radio's sources."""
    numbers = np.sin(np.arange(2000, dtype=np.float32))
    numbers[:4] = 1, -1, 1.5, -1.5
    clipped = convert(sock, receiver, numbers.view(kind), None, bits)
    assert clipped == (2 if kind == np.float32 else 1)


@pytest.mark.parametrize("kind", [np.float32, np.complex64])
def test_floats_are_converted_to_little_endian_words(sock, receiver, kind):
    numbers = np.sin(np.arange(2 * 4096, dtype=np.float32)).view(kind)
    convert(
        sock,
        receiver,
        numbers,
        None,
        16,
        wire_type="<i2",
        descriptors="separate",
        heap_samples=1024,
        tail="drop",
    )


def limits(bits=8):
    single = np.float32
    high = 2.0 ** (bits - 1)
    halves = [high + half / 2 for half in range(-3, 3)]
    around = [0.0, 0.5, 1.5, *halves, 2.0**31, 1e10]
    tiny = np.finfo(single)
    numbers = []
    for number in (*around, tiny.max, tiny.tiny, tiny.smallest_subnormal):
        here = single(number)
        numbers += [np.nextafter(here, -single(np.inf)), here]
        if number < tiny.max:
            numbers.append(np.nextafter(here, single(np.inf)))
    numbers += [single(np.inf), single(np.nan)]
    numbers = np.array(numbers, single)
    return np.concatenate([numbers, -numbers])


@pytest.mark.parametrize("bits", [8, 16])
@pytest.mark.parametrize("scale", [1, 0.5, 3e38])
@pytest.mark.parametrize("length", [1, 17, 1025])
def test_limits_are_rounded_and_clipped_at_any_position(
    sock, receiver, scale, length, bits
):
    """Kernels treat the middle and the end of a vector differently."""
    numbers = np.resize(limits(bits), 2 * length)
    convert(sock, receiver, numbers, scale, bits)
    convert(sock, receiver, numbers.view(np.complex64), scale, bits)
    pairs = np.array(list(itertools.product(limits(bits), repeat=2)), np.float32)
    convert(sock, receiver, pairs.reshape(-1).view(np.complex64)[length:], scale, bits)


def test_largest_sample_is_measured_before_clipping(sock):
    sink = spead.sink(destination(sock), input_type="float", scale=100)
    assert sink.largest_sample() == 0
    for numbers, largest in [([0.5, 0.25], 50), ([-2, np.nan], 200), ([1, 0], 200)]:
        run(sink, source(np.array(numbers, np.float32)))
        assert sink.largest_sample() == largest


def test_clipped_samples_are_counted_across_runs(sock):
    sink = spead.sink(destination(sock), input_type="float", num_inputs=1)
    samples = np.array([1.01, 0, -1.02], np.float32)
    for count in (2, 4, 6):
        run(sink, source(samples))
        assert sink.samples_clipped() == count
