# Copyright 2026 The gr-spead authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Packed integers of 10 and 12 bits, against numpy and spead2 in both directions."""

import itertools

import numpy as np
import pytest
import spead2.send
from flow_graphs import packed
from gnuradio import spead
from inputs import run_all
from received_streams import Receiving, check_whole, joined, received, spead2_packets
from receiving import arrived, datagrams, is_end
from streams import send

BITS = [10, 12]


def full_scale(bits):
    return 2 ** (bits - 1) - 1


def numbers(count, bits, seed=1):
    """Random numbers of all values."""
    highest = full_scale(bits)
    generator = np.random.default_rng(seed)
    return generator.integers(-highest - 1, highest, count, np.int16, endpoint=True)


def flow_graph_samples(values, kind, bits):
    """Numbers as samples of a flow graph; floats have a full scale of 1.0."""
    if kind in ("float", "complex"):
        values = (values / np.float32(full_scale(bits))).astype(np.float32)
        return values.view(np.complex64) if kind == "complex" else values
    return values.reshape(-1, 2) if kind == "sc16" else values


def items(values, kind, bits):
    """The same as items of a flow graph, where a pair of integers is one item."""
    samples = flow_graph_samples(values, kind, bits)
    return samples.view(np.int32).ravel() if kind == "sc16" else samples


@pytest.mark.parametrize("bits", BITS)
def test_packets_hold_the_bits_of_the_numbers(sock, bits):
    """Heaps of one packet, like a digitiser's. Numbers out of range are clipped."""
    heaps, heap_samples = 48, 4096
    samples = np.random.default_rng(3).integers(-(2**15), 2**15, heaps * heap_samples)
    samples = np.where(
        np.arange(samples.size) % 50, samples >> (16 - bits), samples
    ).astype(np.int16)
    lowest, highest = -full_scale(bits) - 1, full_scale(bits)
    sink = send(
        sock,
        samples,
        heap_samples=heap_samples,
        input_type="int16",
        wire_type=f"i{bits}",
        descriptors="none",
        max_packet_size=64 + heap_samples * bits // 8,
        send_stop=False,
    )
    clipped = np.clip(samples, lowest, highest)
    sent = b"".join(
        datagram[-heap_samples * bits // 8 :] for datagram in datagrams(sock, heaps)
    )
    assert sent == packed(clipped, bits).tobytes()
    assert sink.samples_clipped() == np.count_nonzero(clipped != samples)


@pytest.mark.parametrize(
    ("kind", "bits"), itertools.product(["int16", "sc16", "float", "complex"], BITS)
)
def test_spead2_receives_packed_numbers(sock, receiver, kind, bits):
    """Packets split groups of numbers."""
    values = numbers(4 * 600, bits)
    pairs = kind in ("sc16", "complex")
    send(
        sock,
        items(values, kind, bits),
        heap_samples=600 // (2 if pairs else 1),
        max_packet_size=333,
        input_type=kind,
        wire_type=f"i{bits}",
        send_stop=False,
    )
    heaps = receiver.next_heaps(4)
    got = np.concatenate([np.ravel(heap.samples) for heap in heaps])
    np.testing.assert_array_equal(got, values)


@pytest.mark.parametrize(
    ("kind", "bits"), itertools.product(["int16", "sc16", "float", "complex"], BITS)
)
def test_packed_numbers_of_spead2_are_received_by_their_descriptors(kind, bits):
    values = numbers(4 * 600, bits, seed=4)
    pairs = kind in ("sc16", "complex")
    group = spead2.send.ItemGroup()
    group.add_item(0x1600, "timestamp", "", shape=(), format=[("u", 40)])
    shape = (None, 2) if pairs else (None,)
    group.add_item(0x3300, "adc_samples", "", shape=shape, format=[("i", bits)])
    heaps = []
    for i, part in enumerate(np.split(values, 4)):
        group["timestamp"].value = i * (300 if pairs else 600)
        group["adc_samples"].value = part.reshape(-1, 2) if pairs else part
        heaps.append(group.get_heap())
    packets = joined(spead2_packets([*heaps, group.get_end()], max_packet_size=256))
    receiving = received(packets, output_type=kind)
    check_whole(receiving, flow_graph_samples(values, kind, bits))


@pytest.mark.parametrize(
    ("kind", "bits"), itertools.product(["int16", "sc16", "float", "complex"], BITS)
)
def test_the_source_receives_what_the_sink_packs(kind, bits):
    """Heaps of 1 to 64 packets. The last one is short."""
    generator = np.random.default_rng(bits + len(kind))
    pairs = 2 if kind in ("sc16", "complex") else 1
    for packets in (1, 2, 7, 64):
        heap_samples = int(generator.integers(40, 250)) * 4 * packets
        values = numbers(pairs * heap_samples * 9 // 2 // 4 * 4, bits, packets)
        with Receiving(output_type=kind) as receiving:
            payload = heap_samples * pairs * bits // 8 // packets
            sink = spead.sink(
                f"127.0.0.1:{receiving.port}",
                heap_samples=heap_samples,
                input_type=kind,
                wire_type=f"i{bits}",
                max_packet_size=max(payload // 8 * 8, 8) + 96,
            )
            run_all(sink, items(values, kind, bits))
            receiving.wait()
        check_whole(receiving, flow_graph_samples(values, kind, bits))


@pytest.mark.parametrize("tail", ["short", "pad", "drop"])
@pytest.mark.parametrize("kind", ["int16", "float"])
def test_zeros_complete_the_last_group_of_a_short_heap(kind, tail):
    """A group of four numbers of 10 bits has five bytes."""
    values = numbers(1000 + 7, 10)
    with Receiving(output_type=kind) as receiving:
        sink = spead.sink(
            f"127.0.0.1:{receiving.port}",
            heap_samples=500,
            input_type=kind,
            wire_type="i10",
            tail=tail,
        )
        run_all(sink, items(values, kind, 10))
        receiving.wait()
    zeros = {"short": 1, "pad": 493, "drop": 0}[tail]
    expected = np.append(
        values[: 1000 if tail == "drop" else None], np.zeros(zeros, np.int16)
    )
    check_whole(receiving, flow_graph_samples(expected, kind, 10))
    assert sink.samples_zero_filled() == zeros
    assert sink.samples_dropped() == (7 if tail == "drop" else 0)


@pytest.mark.parametrize("bits", BITS)
def test_vectors_of_packed_numbers_are_exact(bits):
    """Heaps with axes, whose order the blocks change."""
    axes = "channel=6, time=10, pol=2"
    values = numbers(2 * 6 * 40, bits).reshape(2, -1, 6)
    with Receiving(output_type="int16", axes=axes) as receiving:
        sink = spead.sink(
            f"127.0.0.1:{receiving.port}",
            axes=axes,
            input_type="int16",
            wire_type=f"i{bits}",
            max_packet_size=128,
        )
        run_all(sink, *values)
        receiving.wait()
    for output, vectors in enumerate(values):
        np.testing.assert_array_equal(receiving.samples(output).reshape(-1, 6), vectors)


def test_lost_packets_make_whole_groups_missing(sock):
    """Each sample of the others is exact, at its place."""
    heap_samples, heaps = 1000, 6
    values = numbers(heap_samples * heaps, 10)
    send(
        sock,
        values,
        heap_samples=heap_samples,
        input_type="int16",
        wire_type="i10",
        max_packet_size=256,
    )
    *packets, end = arrived(sock)
    kept = [p for i, p in enumerate(packets) if i % 5 != 3 and not is_end(p)]
    receiving = received([*kept, end], output_type="int16")
    samples = receiving.samples()
    missing = np.zeros(len(samples), bool)
    for offset, count in receiving.tags("missing"):
        assert offset % 4 == count % 4 == 0
        missing[offset : offset + count] = True
    assert 0 < np.count_nonzero(missing) < len(samples) / 3
    assert not samples[missing].any()
    np.testing.assert_array_equal(samples[~missing], values[: len(samples)][~missing])


def test_heaps_that_end_within_a_group_are_refused():
    """Whether their last bytes are samples or padding is not known."""
    group = spead2.send.ItemGroup()
    group.add_item(0x1600, "timestamp", "", shape=(), format=[("u", 40)], value=0)
    group.add_item(0x3300, "adc_samples", "", shape=(None,), format=[("i", 10)])
    group["adc_samples"].value = numbers(4098, 10)
    heaps = [group.get_heap(), group.get_end()]
    receiving = received(joined(spead2_packets(heaps)), output_type="int16")
    assert len(receiving.samples()) == 0
    assert "they have 5123 bytes, and 4 samples take 5" in receiving.stats["status"]
