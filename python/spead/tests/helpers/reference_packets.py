# Copyright 2026 The gr-spead authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""The streams of real instruments, as the encoder of spead2 makes their packets.

A digitiser of MeerKAT, as katgpucbf's simulator sends it, and a packetiser of
Effelsberg send SPEAD-64-48, heaps of 4096 samples in one packet each, with the items
below. The first has heap counters 2, 4, 6, ... in the order of time and then of
polarisation, and gives those between to its descriptors; the heaps of a polarisation go
round its multicast groups.
"""

from typing import NamedTuple

import numpy as np
import spead2
import spead2.send

FLAVOUR = spead2.Flavour(4, 64, 48, 0)
TIMESTAMP = 0x1600
DIGITISER_ID = 0x3101
DIGITISER_STATUS = 0x3102
ADC_SAMPLES = 0x3300
HEADER = (
    8 + 8 * 8
)  # bytes before the payload: four items of each packet, and those above
HEAP_SAMPLES = 4096
# as spead.immediate() and the like get it: ID, name, description
NAMES = {
    TIMESTAMP: ("timestamp", "Samples since the synchronisation"),
    DIGITISER_ID: (
        "digitiser_id",
        "Serial number of the digitiser and its polarisation",
    ),
    DIGITISER_STATUS: ("digitiser_status", "Saturation and noise diode"),
    ADC_SAMPLES: ("adc_samples", "Samples in order of time"),
}


class SentHeap(NamedTuple):
    """A heap in one packet: of which polarisation, to which of its endpoints."""

    polarisation: int
    endpoint: int
    packet: bytes


class Digitiser:
    """Makes packets of heaps with the items that the arguments of data() name."""

    def __init__(self, names=NAMES):
        self.items = spead2.send.ItemGroup(flavour=FLAVOUR)
        for item_id in (TIMESTAMP, DIGITISER_ID, DIGITISER_STATUS):
            self.items.add_item(item_id, *names[item_id], shape=(), format=[("u", 48)])
        self.items.add_item(
            ADC_SAMPLES, *names[ADC_SAMPLES], shape=(None,), format=[("i", 8)]
        )

    def data(self, counter, timestamp, digitiser_id, status, samples):
        """The packet of a heap; `samples` are its payload, int8 or packed."""
        values = timestamp, digitiser_id, status, np.frombuffer(samples, np.int8)
        for item, value in zip(self.items.values(), values, strict=True):
            item.value = value
        heap = self.items.get_heap(descriptors="none", data="all")
        (packet,) = packets(heap, counter, HEADER + len(memoryview(samples).cast("B")))
        return packet

    def descriptors(self, counter, max_packet_size=1472):
        """The packets of a heap of nothing but descriptors."""
        heap = self.items.get_heap(descriptors="all", data="none")
        return packets(heap, counter, max_packet_size)

    def end(self, counter):
        """The packet of the end-of-stream heap."""
        (packet,) = packets(self.items.get_end(), counter, 1472)
        return packet


def packets(heap, counter, max_packet_size):
    heap.repeat_pointers = True
    # spead2 counts with room for more items than the end of a stream has
    limit = max(-(-max_packet_size // 8) * 8, 80)
    return [bytes(p) for p in spead2.send.PacketGenerator(heap, counter, limit)]


def heaps(samples, count, heap_bytes):
    """Payloads of both polarisations, from samples(seed, bytes) with seeds 1 and 2."""
    both = [samples(seed, count * heap_bytes) for seed in (1, 2)]
    return np.array(both).reshape(2, count, heap_bytes)


def meerkat(payloads, ids):
    """Yield the SentHeaps of a digitiser, in the order of its simulator.

    payloads: of shape (polarisations, heaps, bytes of a heap)
    ids: of each polarisation, whose lowest bit is the polarisation
    """
    digitiser = Digitiser()
    counter = 2
    for index in range(payloads.shape[1]):
        for polarisation, digitiser_id in enumerate(ids):
            samples = payloads[polarisation, index]
            timestamp = HEAP_SAMPLES * index
            packet = digitiser.data(counter, timestamp, digitiser_id, 0, samples)
            yield SentHeap(polarisation, index % 8, packet)
            counter += 2


def effelsberg(recording):
    """Yield the SentHeaps of a packetiser from the heaps of a dada.Recording."""
    digitiser = Digitiser()
    for index, heap in enumerate(recording.data):
        group, polarisation = divmod(index, recording.polarisations)
        timestamp = recording.sample_clock_start + recording.heap_samples * group
        packet = digitiser.data(2 + index, timestamp, polarisation, 0, heap)
        yield SentHeap(polarisation, group % 4, packet)
