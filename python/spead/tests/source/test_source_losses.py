# Copyright 2026 The gr-spead authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Packets that are lost, late, repeated or out of order."""

import numpy as np
import pytest
from gnuradio import spead
from places import eventually
from received_streams import Receiving, joined, spead2_heaps, spead2_packets
from streams import noise


def mangled(packets, seed):
    """5 % of the packets dropped, 5 % swapped, 5 % doubled; the first and last stay."""
    random = np.random.default_rng(seed)
    kept = []
    for i, packet in enumerate(packets):
        dice = random.random() if 0 < i < len(packets) - 2 else 1
        if dice >= 0.05:
            kept += [packet] * (2 if dice < 0.1 else 1)
    for i in range(1, len(kept) - 10):
        if random.random() < 0.05:
            k = i + random.integers(1, 7)
            kept[i], kept[k] = kept[k], kept[i]
    return kept


class Model:
    """What a receiver of int8 heaps can know, filled packet by packet."""

    def __init__(self, heap_samples, samples):
        self.heap_samples = heap_samples
        self.samples = np.zeros(samples, np.int8)
        self.times = np.zeros(samples, int)  # that each of them has come

    def take(self, heap, offset, payload):
        at = heap * self.heap_samples + offset
        self.samples[at : at + len(payload)] = payload
        self.times[at : at + len(payload)] += 1


@pytest.mark.parametrize("repeat_pointers", [True, False])
@pytest.mark.parametrize("heap", [500, 4096, 100000])
def test_random_losses(heap, repeat_pointers):
    n = max(20 * heap, 300000) // heap * heap
    samples = noise(n)
    heaps = spead2_packets(
        spead2_heaps(samples, heap, repeat_pointers=repeat_pointers), 1472
    )
    numbered = []
    for k, packets in enumerate(heaps[:-1]):
        at = 0
        for packet in packets:
            header = 8 + 8 * packet[7]
            # descriptors stand in front of the samples of the first heap
            size = len(packet) - header
            numbered.append((k, at, packet))
            at += size
    arriving = mangled(numbered, heap)
    # the items say where a heap belongs: by default they are in its first packet only
    first = {k for k, _, packet in arriving if packet is heaps[k][0]}
    model = Model(heap, n)
    before = sum(len(p) - 8 - 8 * p[7] for p in heaps[0]) - heap
    for k, at, packet in arriving:
        if not repeat_pointers and k not in first:
            continue
        payload = np.frombuffer(packet[8 + 8 * packet[7] :], np.int8)
        at -= before if k == 0 else 0
        skip = max(0, -at)
        model.take(k, at + skip, payload[skip:])

    with Receiving(max_delay=2) as receiving:
        receiving.send_packets([packet for *_, packet in arriving])
        receiving.send_packets(heaps[-1])
        receiving.wait()
    np.testing.assert_array_equal(receiving.samples(), model.samples)
    stats = receiving.stats
    assert stats["samples_out"] == n
    assert stats["samples_received"] == np.count_nonzero(model.times)
    assert stats["samples_missing"] == np.count_nonzero(model.times == 0)
    repeated = np.maximum(model.times - 1, 0).sum()
    assert stats["samples_late"] + stats["samples_duplicate"] == repeated
    assert stats["discontinuities"] == 0
    assert (stats["heaps_incomplete"] > 0) == (heap > 1472)  # of several packets
    assert receiving.balanced()


def test_a_heap_behind_a_lost_end_of_stream_is_not_misplaced():
    """Its first packet, with its timestamp, is lost: its counter alone misleads."""
    samples = noise(20 * 4096)
    before = spead2_packets(spead2_heaps(samples[: 10 * 4096], 4096))
    after = spead2_packets(
        spead2_heaps(samples[10 * 4096 :], 4096, first=10 * 4096), counter=12
    )
    with Receiving() as receiving:
        receiving.send_packets(joined([*before[:9], after[0][1:], *after[1:]]))
        receiving.wait()
    expected = samples.copy()
    expected[9 * 4096 : 11 * 4096] = 0
    np.testing.assert_array_equal(receiving.samples(), expected)
    assert receiving.stats["samples_missing"] == 2 * 4096
    assert receiving.balanced()


def test_skipped_samples_leave_a_tag():
    samples = noise(10 * 1000)
    heaps = spead2_packets(spead2_heaps(samples, 1000))
    with Receiving(on_missing="skip") as receiving:
        receiving.send_packets(joined(heaps[:4] + heaps[6:]))
        receiving.wait()
    np.testing.assert_array_equal(
        receiving.samples(), np.concatenate([samples[:4000], samples[6000:]])
    )
    assert receiving.tags("missing") == [(4000, 2000)]
    assert receiving.tags("timestamp") == [(0, 0), (4000, 6000)]
    stats = receiving.stats
    assert stats["samples_out"] == stats["samples_received"] == 8000
    assert stats["samples_missing"] == 2000
    assert receiving.balanced()


def test_late_samples_are_counted():
    samples = noise(10 * 1000)
    heaps = spead2_packets(spead2_heaps(samples, 1000))
    with Receiving(max_delay=0) as receiving:
        receiving.send_packets(joined(heaps[:4] + heaps[5:9]))
        eventually(lambda: len(receiving.samples()) == 9000)
        receiving.send_packets(heaps[4])
        receiving.send_packets(joined(heaps[9:]))
        receiving.wait()
    samples[4000:5000] = 0
    np.testing.assert_array_equal(receiving.samples(), samples)
    assert receiving.stats["samples_late"] == 1000
    assert receiving.stats["samples_duplicate"] == 0
    assert receiving.balanced()


def test_a_jump_begins_anew():
    samples = noise(8 * 1000)
    heaps = spead2_packets(spead2_heaps(samples[:4000], 1000))
    further = spead2_packets(
        spead2_heaps(samples[4000:], 1000, first=10**9), counter=50
    )
    with Receiving(max_gap=10**6) as receiving:
        receiving.send_packets(joined(heaps[:-1] + further))
        receiving.wait()
    np.testing.assert_array_equal(receiving.samples(), samples)
    assert receiving.tags("timestamp") == [(0, 0), (4000, 10**9)]
    assert receiving.stats["discontinuities"] == 1
    assert receiving.stats["samples_missing"] == 0


def test_a_gap_larger_than_the_buffer_is_filled():
    gap = 5 * 10**6
    samples = noise(8 * 1000)
    heaps = spead2_packets(spead2_heaps(samples[:4000], 1000))
    further = spead2_packets(
        spead2_heaps(samples[4000:], 1000, first=4000 + gap), counter=50
    )
    with Receiving(buffer_size=262144) as receiving:
        receiving.send_packets(joined(heaps[:-1] + further))
        receiving.wait()
    np.testing.assert_array_equal(
        receiving.samples(),
        np.concatenate([samples[:4000], np.zeros(gap, np.int8), samples[4000:]]),
    )
    assert receiving.stats["samples_missing"] == gap
    assert receiving.balanced()


@pytest.mark.parametrize("bits", [40, 48])
def test_timestamps_wrap(bits):
    samples = noise(100 * 1000)
    first = 2**bits - 50500
    with Receiving(sample_rate=1000) as receiving:
        receiving.send_heaps(
            # cut to the width of the item, as a sender does
            spead2_heaps(samples, 1000, first=first, bits=bits, wrap=True)
        )
        receiving.wait()
    np.testing.assert_array_equal(receiving.samples(), samples)
    assert receiving.tags("timestamp") == [(0, first)]
    assert receiving.stats["samples_missing"] == 0


def test_joining_in_the_middle_of_a_heap():
    samples = noise(3 * 100000)
    heaps = spead2_packets(
        spead2_heaps(samples, 100000, descriptors="none", repeat_pointers=True)
    )
    items = [spead.timestamp(), spead.samples()]
    with Receiving(items=items) as receiving:
        receiving.send_packets(joined([heaps[0][20:], *heaps[1:]]))
        receiving.wait()
    got = receiving.samples()
    np.testing.assert_array_equal(got, samples[-len(got) :])
    assert receiving.tags("timestamp") == [(0, len(samples) - len(got))]
    assert 0 < len(got) % 100000 < 80000
    assert receiving.stats["samples_missing"] == 0
