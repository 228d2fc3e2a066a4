# Copyright 2026 The gr-spead authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""A flow graph that receives a stream, and spead2 as the sender."""

import socket

import numpy as np
import pmt
import spead2
import spead2.send
from gnuradio import gr, spead
from places import eventually
from streams import wait

TYPES = {
    "int8": np.int8,
    "sc8": (np.int8, 2),
    "int16": np.int16,
    "sc16": (np.int16, 2),
    "int32": np.int32,
    "float": np.float32,
    "complex": np.complex64,
}


class Recorder(gr.sync_block):
    """Records the samples and tags of each input."""

    def __init__(self, output_type="int8", inputs=1, length=1):
        sample = np.dtype(TYPES[output_type])
        count = length * sample.itemsize // sample.base.itemsize
        item = sample if length == 1 else (sample.base, count)
        gr.sync_block.__init__(self, "recorder", [item] * inputs, None)
        self.parts = [[] for _ in range(inputs)]
        self.tags = [[] for _ in range(inputs)]

    def work(self, inputs, _):
        for i, samples in enumerate(inputs):
            self.parts[i].append(samples.copy())
            self.tags[i] += [
                (tag.offset, pmt.symbol_to_string(tag.key), pmt.to_python(tag.value))
                for tag in self.get_tags_in_window(i, 0, len(samples))
            ]
        return len(inputs[0])

    def samples(self, i=0):
        return np.concatenate(self.parts[i]) if self.parts[i] else np.array([], np.int8)


class Receiving:
    """A flow graph of a source and a recorder; it runs inside the `with` statement.

    endpoints: by default a free loopback port
    """

    def __init__(self, endpoints="127.0.0.1:0", **options):
        self.source = spead.source(endpoints, **options)
        output_type = options.get("output_type", "int8")
        signature = self.source.output_signature()
        self.outputs = signature.max_streams()
        sample_bytes = np.dtype(TYPES[output_type]).itemsize
        length = signature.sizeof_stream_item(0) // sample_bytes
        self.recorder = Recorder(output_type, self.outputs, length)
        self.graph = gr.top_block()
        for i in range(self.outputs):
            self.graph.connect((self.source, i), (self.recorder, i))
        self.socket = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)

    def __enter__(self):
        self.graph.start()
        return self

    def __exit__(self, *_):
        self.graph.stop()
        wait(self.graph)

    def wait(self):
        """Wait until the stream has ended."""
        wait(self.graph)

    def wait_for_samples(self, count, output=0):
        eventually(lambda: len(self.samples(output)) >= count)

    def samples(self, output=0):
        return self.recorder.samples(output)

    def tags(self, key, output=0):
        """Offset and value of each tag with this key."""
        return [
            (offset, value)
            for offset, name, value in self.recorder.tags[output]
            if name == key
        ]

    @property
    def port(self):
        return self.source.ports()[0]

    @property
    def stats(self):
        return self.source.stats()

    def send_packets(self, packets, ports=None, sockets=None):
        """Send datagrams in batches that fit in the receive buffer, so none is lost.

        ports: destination port of each packet; by default the first port of the source
        sockets: socket that sends each packet; by default one socket sends all
        """
        in_flight, end = 0, self.processed_packets()
        for i, packet in enumerate(packets):
            sock = sockets[i] if sockets else self.socket
            port = ports[i] if ports else self.port
            sock.sendto(packet, ("127.0.0.1", port))
            in_flight += 2048 + len(packet)  # includes the kernel's overhead per packet
            end += 1
            if in_flight >= 65536 or i + 1 == len(packets):
                eventually(lambda end=end: self.processed_packets() >= end)
                in_flight = 0

    def use_other_port(self):
        """Send from another ephemeral port from now on."""
        self.socket.close()
        self.socket = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)

    def processed_packets(self):
        """The number of packets that the source has accepted or rejected."""
        stats = self.stats
        return stats["packets_received"] + sum(stats["packets_rejected"].values())

    def balanced(self):
        """Whether the counters of each output match its samples and tags."""
        for output in range(self.outputs):
            stats = self.source.stats(output)
            missing, skipped = (
                sum(n for _, n in self.tags(key, output))
                for key in ("missing", "skipped")
            )
            if stats["samples_missing"] != missing + skipped:
                return False
            if stats["samples_out"] != len(self.samples(output)):
                return False
        return True


def received(packets, **options):
    """Receive packets until the stream ends; returns the flow graph.

    max_delay: 0 by default, which suits packets in order and does not delay the end
    """
    with Receiving(**{"max_delay": 0, **options}) as receiving:
        receiving.send_packets(packets)
        receiving.wait()
    return receiving


def check_whole(receiving, samples, first=0, output=0):
    """Check that all samples arrived once, and that no error is reported.

    Floating-point samples may differ by rounding.
    """
    rounding = 1e-6 if samples.dtype.kind in "fc" else 0
    np.testing.assert_allclose(receiving.samples(output), samples, rtol=rounding)
    assert receiving.tags("timestamp", output) == [(0, first)]
    stats = receiving.source.stats(output)
    for name in ("samples_missing", "samples_duplicate", "discontinuities"):
        assert stats[name] == 0, name
    assert stats["status"] == ""


def joined(lists):
    """Concatenate lists."""
    return [element for items in lists for element in items]


def spead2_packets(heaps, max_packet_size=1472, counter=1, step=1):
    """The packets of each heap, as spead2 generates them."""
    return [
        [
            bytes(p)
            for p in spead2.send.PacketGenerator(
                heap, counter + i * step, max_packet_size
            )
        ]
        for i, heap in enumerate(heaps)
    ]


def spead2_heaps(
    samples,
    heap_samples,
    first=0,
    step=None,
    bits=40,
    descriptors="first",
    extra=(),
    repeat_pointers=False,
    wrap=False,
):
    """spead2 heaps with a timestamp and samples, and the end-of-stream heap.

    descriptors: of which heaps: "first", "every" or "none"
    extra: (id, name, value) of additional immediate items
    repeat_pointers: whether every packet repeats the item pointers of its heap
    wrap: whether timestamps wrap around to 0
    """
    flavour = spead2.Flavour(4, 64, bits)
    group = spead2.send.ItemGroup(flavour=flavour)
    step = heap_samples if step is None else step
    shape = (None, *samples.shape[1:])
    group.add_item(0x1600, "timestamp", "", shape=(), format=[("u", bits)])
    group.add_item(
        0x3300, "adc_samples", "", shape=shape, format=[("i", 8 * samples.itemsize)]
    )
    for id, name, value in extra:
        group.add_item(id, name, "", shape=(), format=[("u", bits)], value=value)
    for i, start in enumerate(range(0, len(samples), heap_samples)):
        timestamp = first + i * step
        is_first = i == 0 and descriptors == "first"
        group["timestamp"].value = timestamp % 2**bits if wrap else timestamp
        group["adc_samples"].value = samples[start : start + heap_samples]
        heap = group.get_heap(
            descriptors="all" if descriptors == "every" or is_first else "none",
            data="all",
        )
        heap.repeat_pointers = repeat_pointers
        yield heap
    yield group.get_end()


def packets_by_heap(samples, heap=1000, counter=1, step=1, packet_size=1472, **options):
    """The packets of each spead2 heap, and of the end-of-stream heap."""
    heaps = spead2_heaps(samples, heap, **options)
    return spead2_packets(heaps, packet_size, counter, step)


def described_heaps(items, *columns, bits=40, bugs=0):
    """Heaps of a spead2 ItemGroup, and the end-of-stream heap.

    items: name -> (id, arguments of add_item())
    columns: one sequence of values per item
    """
    group = spead2.send.ItemGroup(flavour=spead2.Flavour(4, 64, bits, bugs))
    for name, (id, arguments) in items.items():
        group.add_item(id, name, "", **{"shape": (), **arguments})
    for values in zip(*columns, strict=True):
        for item, value in zip(group.values(), values, strict=True):
            item.value = value
        yield group.get_heap()
    yield group.get_end()
