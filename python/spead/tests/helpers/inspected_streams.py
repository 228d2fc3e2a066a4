# Copyright 2026 The gr-spead authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Streams for spead-inspect, as the instruments and libraries send them.

Each stream is a list of packets, or of (sender, packet).
"""

import itertools
import random
import struct

import numpy as np
from crafted_packets import (
    addressed,
    data_heap,
    descriptor,
    descriptor_heap,
    immediate,
    packet,
)
from irregular_streams import IRREGULAR
from received_streams import (
    described_heaps,
    joined,
    packets_by_heap,
    spead2_packets,
)
from station_beams import station_beam_packet
from streams import noise
from telescope_streams import STREAMS

HEAP = 1000
PYSPEAD_ORDERS = [  # of the items below
    (4, 0, 5, 1, 3, 2),
    (5, 4, 3, 2, 1, 0),
    (4, 5, 0, 1, 2, 3),
    (0, 4, 1, 5, 2, 3),
    (5, 0, 1, 2, 3, 4),
    (2, 3, 4, 0, 1, 5),
]


def pyspead(order):
    """PySPEAD sends the required items last, in any order."""
    packets = []
    for counter in range(1, 30):
        samples = noise(4096, counter).tobytes()
        words = [
            immediate(1, counter),
            immediate(2, len(samples)),
            immediate(3, 0),
            immediate(4, len(samples)),
            immediate(0x1600, 4096 * counter),
            addressed(0x3300, 0),
        ]
        header = struct.pack(">BBBBHH", 0x53, 4, 3, 5, 0, len(words))
        packets.append(header + b"".join(words[i] for i in order) + samples)
    return packets


def fpga_f_engine():
    """The heap counter is timestamp + (frequency << 8) + feng_id (MeerKAT, 2016)."""
    return [
        packet(
            (time * 2**21 + (frequency << 8)) % 2**40,
            [
                immediate(0x1600, time * 2**21),
                immediate(0x4101, 0),
                immediate(0x4103, frequency),
                addressed(0x4300, 0),
            ],
            noise(HEAP, time).tobytes(),
        )
        for time in range(20)
        for frequency in (0, 256, 512, 1024, 2048, 4096)
    ]


def antennas_and_parts(axes, antennas=4, parts=4):
    """Two items together tell the heaps of a time apart."""
    shape = (10, 100) if axes else (HEAP,)
    packets = [
        descriptor_heap(
            [
                descriptor("timestamp", 0x1600, format=[("u", 40)]),
                descriptor("antenna", 0x4101, format=[("u", 40)]),
                descriptor("frequency", 0x4103, format=[("u", 40)]),
                descriptor("adc_samples", 0x3300, format=[("i", 8)], shape=shape),
            ],
            10**6,
        )
    ]
    for time, antenna, part in itertools.product(
        range(30), range(antennas), range(parts)
    ):
        items = [
            immediate(0x1600, (1 + time) * HEAP),
            immediate(0x4101, antenna),
            immediate(0x4103, part * 10 if axes else part),
            addressed(0x3300, 0),
        ]
        packets.append(packet(len(packets), items, noise(HEAP).tobytes()))
    return packets


def edd_spectrometer():
    """Float spectra of two polarisations, with a noise diode on and off."""
    scalar = {"format": [("u", 48)]}
    items = {
        "timestamp_count": (0x1600, scalar),
        "polarization": (0x3101, scalar),
        "noise_diode_status": (0x3102, scalar),
        "fft_length": (0x1603, scalar),
        "data": (0x3300, {"shape": (1024,), "dtype": np.float32}),
    }
    keys = list(itertools.product(range(20), (0, 1), (0, 1)))
    times, pols, diodes = zip(*keys, strict=True)
    spectra = np.random.default_rng(4).normal(size=(len(keys), 1024))
    columns = [2**20 * t for t in times], pols, diodes, [2048] * len(keys), spectra
    return joined(spead2_packets(described_heaps(items, *columns, bits=48)))


def station_beam(version, is_immediate, channels=1):
    """SKA-Low's beams: one packet a heap; version 2 counts heaps for each channel."""
    generator = np.random.default_rng(1)
    packets = []
    for i, channel in itertools.product(range(60), range(channels)):
        pairs = generator.integers(-128, 128, (2048, 2, 2), np.int8)
        if version == 3:
            packets.append(
                station_beam_packet(100 + i, pairs, channel, is_immediate=is_immediate)
            )
            continue
        samples = (immediate if is_immediate else addressed)(0x3300, 0, 48)
        items = [
            immediate(1, channel << 32 | 100 + i, 48),
            immediate(4, pairs.nbytes, 48),
            immediate(0x1027, 1_700_000_000, 48),
            immediate(0x1600, 2048 * 1080 * i, 48),
            immediate(0x1011, 50_000_000 + 781_250 * channel, 48),
            immediate(0x3000, channel << 16 | 64 + channel, 48),
            immediate(0x3001, 5 << 16, 48),
            samples,
        ]
        header = struct.pack(">BBBBHH", 0x53, 4, 2, 6, 0, len(items))
        packets.append(header + b"".join(items) + pairs.tobytes())
    return packets


def antenna_buffer():
    """SKA-Low's TPM: the timestamp is constant, the heap counter counts."""
    return [
        packet(
            1 + i,
            [immediate(0x1600, 12345), addressed(0x3300, 0)],
            noise(HEAP, i).tobytes(),
        )
        for i in range(50)
    ]


def late_descriptors(before):
    """Two polarisations; descriptors arrive after some packets (MeerKAT: every 5 s)."""
    pols = [
        packets_by_heap(
            noise(50 * HEAP, pol),
            extra=[(0x3101, "pol", 7 + pol)],
            counter=1 + pol,
            step=2,
            descriptors="none",
        )[:-1]
        for pol in range(2)
    ]
    packets = joined(joined(pair) for pair in zip(*pols, strict=True))
    descriptors = [
        descriptor("timestamp", 0x1600, format=[("u", 40)]),
        descriptor("pol", 0x3101, format=[("u", 40)]),
        descriptor("adc_samples", 0x3300, format=[("i", 8)], shape=(None,)),
    ]
    packets.insert(before, descriptor_heap(descriptors, 1001))
    return packets


def two_senders():
    """Nothing but the source address tells the heaps apart."""
    packets = joined(packets_by_heap(noise(20_000)))
    return [(sender, packet) for packet in packets for sender in (0, 1)]


def packed(bits):
    descriptors = [
        descriptor("timestamp", 0x1600, format=[("u", 40)]),
        descriptor("adc_samples", 0x3300, format=[("i", bits)], shape=(None,)),
    ]
    heaps = [data_heap(2 + i, i * 4096, noise(512 * bits)) for i in range(10)]
    return [descriptor_heap(descriptors, 1), *heaps]


def other_dtype(dtype, is_complex):
    shape = (500, 2) if is_complex else (500,)
    items = {
        "timestamp": (0x1600, {"format": [("u", 48)]}),
        "data": (0x3300, {"shape": shape, "dtype": dtype}),
    }
    samples = np.random.default_rng(2).integers(0, 100, (40, *shape)).astype(dtype)
    heaps = described_heaps(items, range(0, 20_000, 500), samples, bits=48)
    return joined(spead2_packets(heaps))


def toggling_flag():
    """A flag with a lower ID than the polarisation changes once."""
    packets = []
    for time, pol in itertools.product(range(60), range(2)):
        items = [
            immediate(0x1600, time * HEAP),
            immediate(0x3000, int(time >= 30)),
            immediate(0x3101, pol),
            addressed(0x3300, 0),
        ]
        packets.append(packet(len(packets), items, noise(HEAP, time).tobytes()))
    return packets


def varying_lengths():
    """Heaps of any length, without gaps; timestamps in a unit of their own."""
    chooser = random.Random(3)
    packets, tick = [], 0
    for i in range(40):
        samples = noise(chooser.choice([300, 600, 1000]), i)
        packets.append(data_heap(1 + i, tick, samples))
        tick += len(samples)
    return [packed(10)[0].replace(b"i\0\0\x0a", b"i\0\0\x08"), *packets]


def counted_in_steps():
    """No timestamp, and heap counters with gaps between them."""
    return [
        packet(64 * i, [addressed(0x3300, 0)], noise(HEAP, i).tobytes())
        for i in range(1, 100)
    ]


def wrapping_timestamps():
    return [
        packet(
            2 * i + pol,
            [
                immediate(0x1600, 2**40 + HEAP * (i - 30)),
                immediate(0x3101, pol),
                addressed(0x3300, 0),
            ],
            noise(HEAP, i).tobytes(),
        )
        for i in range(60)
        for pol in range(2)
    ]


WHOLE = {
    **IRREGULAR,
    "a flag toggles": toggling_flag(),
    "heaps of varying lengths": varying_lengths(),
    "counters in steps of 64": counted_in_steps(),
    "timestamps wrap": wrapping_timestamps(),
    "station beam 3 True 8": station_beam(3, True, 8),
    **{
        f"telescope: {name}": stream.all_packets(stream.packets())
        for name, (stream, *_) in STREAMS.items()
    },
    **{f"PySPEAD {order}": pyspead(order) for order in PYSPEAD_ORDERS},
    "FPGA F-engine": fpga_f_engine(),
    "EDD spectrometer": edd_spectrometer(),
    "antennas and parts": antennas_and_parts(axes=False),
    "antennas and parts with axes": antennas_and_parts(axes=True),
    **{
        f"station beam {version} {mode} {channels}": station_beam(
            version, mode, channels
        )
        for version, mode, channels in [
            (2, True, 1),
            (2, False, 1),
            (2, True, 3),
            (3, True, 1),
            (3, False, 1),
        ]
    },
    "antenna buffer": antenna_buffer(),
    **{f"descriptors after {n}": late_descriptors(n) for n in (1, 30, 90)},
    "two senders": two_senders(),
    **{f"packed {bits}": packed(bits) for bits in (10, 12, 14)},
    "spead2 large heaps": joined(packets_by_heap(noise(500_000), heap=100_000)),
    **{
        f"{dtype} {'complex' if pairs else 'real'}": other_dtype(dtype, pairs)
        for dtype in ("i1", "u1", ">i2", "<i2", ">i4", "<f4", ">f4")
        for pairs in (False, True)
    },
}


def with_losses(packets, seed):
    """Without one packet in a hundred, but at least one, and none of descriptors."""
    chooser = random.Random(seed)
    candidates = range(len(packets) // 4, len(packets) - 2)
    lost = set(chooser.sample(candidates, max(1, len(packets) // 100)))
    return [packet for i, packet in enumerate(packets) if i not in lost]


INSPECTED = {
    **WHOLE,
    **{
        f"{name} with losses": with_losses(packets, seed)
        for seed, (name, packets) in enumerate(WHOLE.items())
        if name != "descriptors after 90"
    },
}
