# Copyright 2026 The gr-spead authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Predicts the packets, rates and durations of a stream before it is sent."""

import fractions

import numpy as np

from common.recordings import seconds_text

ITEMS = 6  # item pointers per packet: four of SPEAD, timestamp, samples
HEADER_BYTES = 8 + 8 * ITEMS
MAX_ITEMS = 255  # per packet
ETHERNET_BYTES = 38  # per packet: preamble 8, header 14, checksum 4, gap 12
IPV4_BYTES, IPV6_BYTES, UDP_BYTES = 20, 40, 8

UNITS = [  # in seconds
    ("years", 31_557_600),
    ("days", 86_400),
    ("h", 3600),
    ("min", 60),
    ("s", 1),
    ("ms", fractions.Fraction(1, 10**3)),
    ("us", fractions.Fraction(1, 10**6)),
]


def duration(seconds):
    """Format a duration with a suitable unit, such as "3.28 ms"."""
    unit, length = next((u for u in UNITS if seconds >= u[1]), UNITS[-1])
    return f"{float(seconds / length):,.2f} {unit}"


class StreamPlan:
    """The layout of a stream whose heaps have a timestamp and samples.

    Ignores descriptors, which lengthen the first heap.

    options: the options of the sink
    packet_size: the packet_size() of the sink
    """

    def __init__(self, recording, options, packet_size, ipv6=False):
        self.recording = recording
        self.options = options
        self.heap_samples = options["heap_samples"]
        self.timestamp_step = options["timestamp_step"]
        if self.timestamp_step is None:
            self.timestamp_step = self.heap_samples
        sample_bytes = recording.type.sent_bytes
        if options["wire_type"]:
            wire = np.dtype(options["wire_type"])
            is_pair = recording.type.is_complex and wire.kind != "c"
            sample_bytes = wire.itemsize * (2 if is_pair else 1)
        self.heap_bytes = self.heap_samples * sample_bytes
        self.packet_size = min(packet_size, HEADER_BYTES + self.heap_bytes)
        payload = self.packet_size - HEADER_BYTES
        self.packets = -(-self.heap_bytes // payload)
        self.udp_bytes = self.packets * HEADER_BYTES + self.heap_bytes
        # The sink pads the last packet of a heap with NULL items of 8 bytes.
        missing = self.packets * payload - self.heap_bytes
        if missing % 8 == 0 and ITEMS + missing // 8 <= MAX_ITEMS:
            self.udp_bytes += missing
        self.ip = "IPv6" if ipv6 else "IPv4"
        ip_bytes = IPV6_BYTES if ipv6 else IPV4_BYTES
        self.wire_bytes = self.udp_bytes + self.packets * (
            UDP_BYTES + ip_bytes + ETHERNET_BYTES
        )

    def heap_rate(self):
        """Heaps per second in real time, or None if the sample rate is unknown."""
        rate = self.recording.sample_rate
        return rate and rate / self.heap_samples

    def lines(self):
        """Yield the lines of --plan as pairs of a name and a text."""
        recording, options = self.recording, self.options
        heap_rate = self.heap_rate()
        heaps, rest = divmod(recording.samples, self.heap_samples)
        if rest and options["tail"] != "drop":
            heaps += 1
        yield "samples", f"{recording.samples:,} of type {recording.type_name}"
        if heap_rate:
            yield "sample rate", f"{float(recording.sample_rate):,.12g} Hz"
            yield "duration", duration(recording.samples / recording.sample_rate)
        if recording.start is not None:
            yield "start", f"{seconds_text(recording.start)} s since 1970"
        yield "first timestamp", f"{options['timestamp_start']:,}"
        yield "heaps", f"{heaps:,} of {self.heap_samples:,} samples"
        if heap_rate:
            yield "duration of a heap", duration(1 / heap_rate)
        yield "packets per heap", f"{self.packets:,}"
        yield "packet size", f"{self.packet_size:,} bytes of UDP payload"
        yield "header", f"{HEADER_BYTES} bytes in each packet"
        pace, rate = "in real time", heap_rate
        if options["rate"]:
            pace, rate = "at --rate", fractions.Fraction(options["rate"])
            rate /= self.udp_bytes
        if rate:
            wire = float(rate * self.wire_bytes)
            yield (
                "wire rate",
                f"{wire / 1e6:.3f} MB/s = {wire * 8 / 1e9:.4f} Gbit/s {pace},"
                f" with UDP, {self.ip} and Ethernet",
            )
        bits = options["heap_address_bits"]
        yield (
            "timestamps wrap",
            self._wrap(
                options["timestamp_start"], self.timestamp_step, bits, heap_rate
            ),
        )
        yield (
            "heap counters wrap",
            self._wrap(
                options["heap_id_start"], options["heap_id_step"], bits, heap_rate
            ),
        )

    @staticmethod
    def _wrap(start, step, bits, heap_rate):
        """When a number that advances by `step` per heap wraps around."""
        if not step:
            return "never"
        heaps = -(-((1 << bits) - start) // step)
        text = f"after {heaps:,} heaps"
        return (
            f"{text}, {duration(heaps / heap_rate)} in real time" if heap_rate else text
        )
