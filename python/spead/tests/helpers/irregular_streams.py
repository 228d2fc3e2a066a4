# Copyright 2026 The gr-spead authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Streams whose heaps do not follow each other as those of the instruments do."""

import itertools
import random

from crafted_packets import (
    addressed,
    data_heap,
    descriptor,
    descriptor_heap,
    end_of_stream,
    immediate,
    packet,
    split_heap,
)
from streams import noise
from telescope_streams import STREAMS

BITS = 48
POLARISATION = 0x3101


def described(*items, shape=(None,), format=(("i", 8),)):
    """A heap of descriptors: of the timestamp, of more items and of the samples."""
    return descriptor_heap(
        [
            descriptor("timestamp", 0x1600, format=[("u", BITS)], bits=BITS),
            *(
                descriptor(name, id, format=[("u", BITS)], bits=BITS)
                for name, id in items
            ),
            descriptor("data", 0x3300, format=format, shape=shape, bits=BITS),
        ],
        2**40,
        BITS,
    )


def heap(counter, timestamp, samples, *items):
    pointers = [immediate(id, value, BITS) for id, value in items]
    return packet(
        counter,
        [immediate(0x1600, timestamp, BITS), *pointers, addressed(0x3300, 0, BITS)],
        samples.tobytes(),
        bits=BITS,
    )


def within_a_time():
    """The first heaps are of the last substreams."""
    stream = STREAMS["64 substreams"][0]
    heaps = stream.packets()[4:200]
    return stream.all_packets(heaps)


def timestamp_behind():
    """The timestamp is in the second packet of a heap, of either polarisation."""
    packets = [described(("pol", POLARISATION), shape=(1000,))]
    for i, pol in itertools.product(range(40), range(2)):
        samples = noise(1000, 2 * i + pol).tobytes()
        packets += split_heap(
            2 * i + pol,
            [
                addressed(0x3300, 0, BITS),
                immediate(POLARISATION, pol, BITS),
                addressed(0x1600, 1000, BITS),
            ],
            samples + (1000 * i).to_bytes(6, "big"),
            600,
            bits=BITS,
        )
    return packets


def wrap_in_payload():
    """Timestamps of 48 bits in the payload wrap; two polarisations need items."""
    return [
        described(("pol", POLARISATION)),
        *(
            packet(
                2 * i + pol,
                [
                    addressed(0x1600, 0, BITS),
                    immediate(POLARISATION, pol, BITS),
                    addressed(0x3300, 6, BITS),
                ],
                ((2**BITS + 100 * (i - 20)) % 2**BITS).to_bytes(6, "big")
                + noise(100, 2 * i + pol).tobytes(),
                bits=BITS,
            )
            for i in range(40)
            for pol in range(2)
        ),
    ]


def wrap_after_many_times():
    times = [(2**BITS + 100 * (i - 290)) % 2**BITS for i in range(300)]
    return [
        described(("pol", POLARISATION)),
        *(
            heap(2 * i + pol, time, noise(100, i), (POLARISATION, pol))
            for i, time in enumerate(times)
            for pol in range(2)
        ),
    ]


def one_after_the_other():
    """A second of one polarisation, then the same second of the other."""
    return [
        described(("pol", POLARISATION)),
        *(
            heap(2 * i + pol, 100 * i, noise(100, i), (POLARISATION, pol))
            for begin in range(0, 300, 100)
            for pol in range(2)
            for i in range(begin, begin + 100)
        ),
    ]


def same_times_again():
    """The sender restarts with its counters, after an end of the stream."""
    stream = wrap_after_many_times()
    return [*stream, end_of_stream(2**40 + 1, BITS), *stream[:200]]


def with_offset(offset, polarisations=2, step=64):
    """The times of polarisations differ by some ticks."""
    return [
        described(("pol", POLARISATION)),
        *(
            heap(
                polarisations * i + pol,
                step * i + offset * pol,
                noise(step, i),
                (POLARISATION, pol),
            )
            for i in range(60)
            for pol in range(polarisations)
        ),
    ]


def with_many_losses(fraction, seed, times=60):
    """Two polarisations, without descriptors."""
    chooser = random.Random(seed)
    return [
        heap(2 * i + pol, 100 * i, noise(100, i), (POLARISATION, pol))
        for i in range(times)
        for pol in range(2)
        if chooser.random() > fraction
    ]


def numbered(item, times=12):
    """Two antennas with two polarisations each, and an item that numbers the heaps."""
    places = itertools.product(range(times), range(2), range(2))
    return [
        described(("antenna", 0x3102), ("pol", POLARISATION), ("number", item)),
        *(
            heap(
                n,
                100 * i,
                noise(100, i),
                (0x3102, antenna),
                (POLARISATION, pol),
                (item, n),
            )
            for n, (i, antenna, pol) in enumerate(places)
        ),
    ]


def restarted_with_other_items(times=40):
    """The sender of two polarisations restarts; a temperature has changed meanwhile."""
    packets = [described(("pol", POLARISATION), ("temperature", 0x3200))]
    for run in range(2):
        packets += [
            heap(
                2 * i + pol,
                100 * i,
                noise(100, i),
                (POLARISATION, pol),
                (0x3200, 300 + 10 * run + i // 8),
            )
            for i in range(times)
            for pol in range(2)
        ]
    return packets


def counted_apart(senders=8, times=60):
    """Senders that count their own heaps, of which three are lost."""
    packets = [
        (sender, heap(i, 100 * i, noise(100, i), (POLARISATION, sender)))
        for i in range(times)
        for sender in range(senders)
    ]
    for lost in (100, 200, 300):
        del packets[lost]
    return packets


def time_as_counter():
    """The heap counter is the timestamp plus the number of the substream."""
    return [
        described(("part", POLARISATION)),
        *(
            heap(64 * i + part, 64 * i, noise(64, i), (POLARISATION, part))
            for i in range(300)
            for part in range(4)
        ),
    ]


def short_addresses(bits):
    """SPEAD-64-24 and -16, whose heap counters wrap early."""
    return [data_heap(i, 100 * i, noise(100, i), bits=bits) for i in range(50)]


def unnamed_parts():
    """The item that divides an axis has the name of the samples."""
    return [
        described(("data", 0x4103), shape=(4, 25)),
        *(
            heap(4 * i + part, 25 * i, noise(100, i), (0x4103, 4 * part))
            for i in range(30)
            for part in range(4)
        ),
    ]


def wide_integers(bits):
    """Numbers without an output type, in an array of two dimensions."""
    return [
        described(shape=(2, 16), format=[("i", bits)]),
        *(heap(i, 16 * i, noise(4 * bits, i)) for i in range(40)),
    ]


def seconds_and_ticks():
    """An item of a lower ID advances, too, but not from heap to heap."""
    return [
        packet(
            i,
            [
                immediate(0x1000, i // 2, BITS),
                immediate(0x2000, 100 * i, BITS),
                addressed(0x3300, 0, BITS),
            ],
            noise(100, i).tobytes(),
            bits=BITS,
        )
        for i in range(200)
    ]


def padded(shape):
    """Heaps hold more than is described."""
    return [
        described(shape=shape, format=[("i", 16)]),
        *(heap(i, 100 * i, noise(224, i)) for i in range(30)),
    ]


def two_arrays():
    """Heaps of one array and heaps of another, in turn."""
    other = descriptor("other", 0x4300, format=[("i", 16)], shape=(None,), bits=BITS)
    packets = [described(), descriptor_heap([other], 2**40 + 1, BITS)]
    for i in range(40):
        packets.append(heap(2 * i, 100 * i, noise(100, i)))
        pointers = [immediate(0x1600, 100 * i, BITS), addressed(0x4300, 0, BITS)]
        packets.append(packet(2 * i + 1, pointers, bytes(200), bits=BITS))
    return packets


IRREGULAR = {
    "begin within a time": within_a_time(),
    "timestamp behind the samples": timestamp_behind(),
    "timestamps wrap in the payload": wrap_in_payload(),
    "timestamps wrap after many": wrap_after_many_times(),
    "one polarisation after the other": one_after_the_other(),
    "counters are times": time_as_counter(),
    **{
        f"{pols} polarisations {offset} ticks apart": with_offset(offset, pols)
        for offset, pols in [(3, 2), (21, 2), (1, 4), (640, 2)]
    },
    "SPEAD-64-24": short_addresses(24),
    "SPEAD-64-16": short_addresses(16),
    "unnamed parts": unnamed_parts(),
    "64-bit integers with two axes": wide_integers(64),
    "12-bit integers with two axes": wide_integers(12),
    "seconds and ticks": seconds_and_ticks(),
    "padding": padded((100,)),
    "padding with two axes": padded((10, 10)),
    "two arrays": two_arrays(),
}
