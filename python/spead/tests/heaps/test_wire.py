# Copyright 2026 The gr-spead authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""The packets of the sink equal those of spead2's encoder, byte for byte."""

import pytest
import spead2
import spead2.send
from gnuradio import spead
from places import NEEDS_BUFFER
from receiving import datagrams
from streams import noise, send

TIMESTAMP = ("timestamp", "ticks")
SAMPLES = ("adc_samples", "voltages")
ITEMS = [
    spead.timestamp(name=TIMESTAMP[0], description=TIMESTAMP[1]),
    spead.samples(name=SAMPLES[0], description=SAMPLES[1]),
]


class Reference:
    """The same heaps, encoded by spead2.

    spead2 fills packets up to its limit, whereas the sink splits heaps evenly. With the
    sink's packet size as its limit, spead2 splits them alike.
    """

    def __init__(self, bits):
        self.counter = 0
        self.items = spead2.send.ItemGroup(flavour=spead2.Flavour(4, 64, bits, 0))
        self.items.add_item(0x1600, *TIMESTAMP, shape=(), format=[("u", bits)])
        self.items.add_item(0x3300, *SAMPLES, shape=(None,), format=[("i", 8)])

    def packets(self, heap, packet_size):
        self.counter += 1
        heap.repeat_pointers = True
        # spead2 rounds the limit down, and requires more room than two items need
        limit = max(-(-packet_size // 8) * 8, 80)
        generator = spead2.send.PacketGenerator(heap, self.counter, limit)
        return [bytes(packet) for packet in generator]

    def data(self, timestamp, samples, packet_size, descriptors="none"):
        self.items["timestamp"].value = timestamp
        self.items["adc_samples"].value = samples
        heap = self.items.get_heap(descriptors=descriptors, data="all")
        return self.packets(heap, packet_size)


@NEEDS_BUFFER
@pytest.mark.parametrize("bits", [40, 48])
@pytest.mark.parametrize("heap_samples", [1, 8, 1393, 65536])
@pytest.mark.parametrize("packet_size", [104, 1472, 65504])
@pytest.mark.parametrize("descriptors", ["first_heap", "none"])
def test_packets_equal_spead2s(sock, bits, heap_samples, packet_size, descriptors):
    samples = noise(2 * heap_samples + heap_samples // 2)
    sink = send(
        sock,
        samples,
        heap_samples=heap_samples,
        heap_address_bits=bits,
        max_packet_size=packet_size,
        items=ITEMS,
        descriptors=descriptors,
        descriptor_interval=0,
        pad_packets=False,
        send_stop=False,
        buffer_size=16 << 20,  # all heaps are held: the tail is a short heap
    )
    sent = datagrams(sock, sink.packets_sent())
    assert max(map(len, sent)) <= packet_size
    reference = Reference(bits)
    descriptors_sent = "all" if descriptors == "first_heap" else "none"
    heaps = [
        samples[i : i + heap_samples] for i in range(0, len(samples), heap_samples)
    ]
    expected = reference.data(0, heaps[0], len(sent[0]), descriptors_sent)
    expected += reference.data(heap_samples, heaps[1], sink.packet_size())
    if len(heaps) > 2:
        expected += reference.data(2 * heap_samples, heaps[2], sink.packet_size())
    assert sent == expected


def test_a_padded_packet_is_spead2s_with_null_items(sock):
    samples = noise(8192)
    sink = send(sock, samples, items=ITEMS, descriptors="none", send_stop=False)
    sent = datagrams(sock, sink.packets_sent())
    assert {len(packet) for packet in sent} == {sink.packet_size()}
    reference = Reference(40).data(0, samples, sink.packet_size())
    assert sent[:-1] == reference[:-1]
    nulls = bytes.fromhex("8000000000000000") * 2
    header, payload = reference[-1][:56], reference[-1][56:]
    header = header[:7] + bytes([header[7] + 2]) + header[8:]
    assert sent[-1] == header + nulls + payload


def test_a_stream_may_have_samples_only_with_another_id(sock):
    items = [spead.samples(id=0x4300)]
    sink = send(sock, noise(16), heap_samples=16, items=items, descriptors="none")
    first = datagrams(sock, sink.packets_sent())[0]
    assert first[7] == 5
    assert first[40:48].hex() == "0043000000000000"
