# Copyright 2026 The gr-spead authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Random streams of spead2 and the sink, over a faulty network.

Each output sample must be the one that was sent for its timestamp, or a zero in a range
that is tagged as missing. SPEAD_TRUTH_SEED selects one seed; SPEAD_TRUTH_RUNS sets the
number of seeds. truth_test.cc is the C++ counterpart, without sockets.
"""

import operator
import os
import random
import socket

import numpy as np
import pytest
import spead2
import spead2.send
from gnuradio import spead
from inputs import connected, packet_of
from places import NEEDS_BUFFER, eventually
from received_streams import Receiving, spead2_heaps, spead2_packets
from receiving import bound_socket, destination, is_end
from streams import source, wait

SELECTOR = 0x3101
SEED = int(os.environ.get("SPEAD_TRUTH_SEED", "0"))
RUNS = int(os.environ.get("SPEAD_TRUTH_RUNS", "30"))


def samples_at(output, ticks):
    """The samples of an output at these ticks, never 0."""
    x = (ticks + np.uint64(output << 60)) * np.uint64(0x9E3779B97F4A7C15)
    x = (x ^ (x >> np.uint64(29))) * np.uint64(0x94D049BB133111EB)
    return ((x >> np.uint64(56)) % np.uint64(255) + np.uint64(1)).astype(np.int8)


class RandomSender:
    """Makes streams: (output, packet) pairs and the end-of-stream packet."""

    def __init__(self, seed):
        self.random = random.Random(seed)
        self.choice = self.random.choice
        self.bits = self.choice([40, 48])
        self.outputs = self.choice([1, 1, 2, 4])
        self.has_own_ports = self.outputs > 1 and self.chance(0.5)
        self.packet_bytes = self.choice([1472, 8972])
        packets = self.choice([1, 1, 2, 5, 20, 100])
        self.heap = packets * (self.packet_bytes - 80) - self.random.randrange(1000)
        if self.chance(0.03):
            self.heap = 2**20
        self.heaps = min(max(300_000 // self.heap // self.outputs, 3), 100)
        self.tick = self.choice([0, 10**9, 2**self.bits - 50_000])
        self.counter = self.choice([1, 1000])
        self.is_faulty = self.chance(0.9)
        self.loss = 10 ** self.random.uniform(-3, -1)
        self.repeated, self.delayed = self.choice([0, 0.01]), self.choice([0, 0.05])
        self.restarts = self.is_faulty and self.chance(0.15)
        self.stream = self.choice([self.spead2_stream, self.sink_stream])
        self.repeats_items = self.chance(0.3)

    def chance(self, probability):
        return self.random.random() < probability

    def receiver_options(self):
        is_selected = self.outputs > 1 and not self.has_own_ports
        is_given = is_selected or self.chance(0.5)
        skips = self.outputs == 1 and self.chance(0.5)
        return {
            "endpoints": ["127.0.0.1:0"] * (self.outputs if self.has_own_ports else 1),
            "num_outputs": self.outputs,
            "items": self.items(is_selected) if is_given else None,
            "max_delay": self.choice([0, 0.02, 0.1, 0.1]),
            "max_gap": self.choice([0, 1000, 10**5, 10**6]),
            "buffer_size": self.choice([0, 0, 262144]),
            "on_missing": "skip" if skips else "zero_fill",
        }

    def items(self, has_values):
        values = [list(range(self.outputs))] if has_values else []
        selector = spead.immediate(SELECTOR, "selector", *values)
        return [spead.timestamp(), selector, spead.samples()]

    def samples(self, output, n):
        ticks = np.arange(n, dtype=np.uint64) + np.uint64(self.tick)
        return samples_at(output, ticks % np.uint64(2**self.bits))

    def restart(self):
        near = self.random.randrange(100_000)
        self.tick += self.choice([0, near, -min(self.tick, near), -self.tick])
        self.counter = self.choice([1, self.counter])

    def spead2_stream(self):
        """Sometimes skips ticks, or inserts a heap with another item."""
        packets = []
        for i in range(self.heaps):
            if self.is_faulty and self.chance(0.03):
                self.tick += self.choice([self.heap, 3 * self.heap, 777, 10**5])
            for output in range(self.outputs):
                if self.is_faulty and self.chance(0.02):
                    packets += self.packets_of(self.other_heap(), output)
                heap, end = spead2_heaps(
                    self.samples(output, self.heap),
                    self.heap,
                    first=self.tick,
                    bits=self.bits,
                    descriptors="none" if i else "first",
                    extra=[(SELECTOR, "selector", output)],
                    repeat_pointers=self.repeats_items,
                    wrap=True,
                )
                packets += self.packets_of(heap, output)
            self.tick += self.heap
        ((_, end),) = self.packets_of(end, 0)
        return packets, end

    def packets_of(self, heap, output):
        (packets,) = spead2_packets([heap], self.packet_bytes, self.counter)
        self.counter += 1
        return [(output, packet) for packet in packets]

    def other_heap(self):
        group = spead2.send.ItemGroup(flavour=spead2.Flavour(4, 64, self.bits))
        weights = np.full(self.heap, 126, np.int8)
        group.add_item(0x4000, "weights", "", weights.shape, np.int8, value=weights)
        return group.get_heap(descriptors="none", data="all")

    def sink_stream(self):
        n = self.heaps * self.heap
        if self.heap < 200_000:  # the sink pads the tail of larger heaps
            n -= self.random.randrange(self.heap)
        packets = []
        with bound_socket() as sock:
            sink = spead.sink(
                destination(sock),
                self.heap,
                num_inputs=self.outputs,
                items=self.items(has_values=True),
                max_packet_size=self.packet_bytes,
                pad_packets=self.chance(0.5),
                heap_address_bits=self.bits,
                heap_id_start=self.counter,
                timestamp_start=self.tick % 2**self.bits,
                rate=100e6,
            )
            inputs = [source(self.samples(i, n)) for i in range(self.outputs)]
            graph = connected(sink, *inputs)
            graph.start()
            while not is_end(packet := sock.recv(65536)):
                heap = packet_of(packet, self.bits).cnt - self.counter
                packets.append((heap % self.outputs, packet))
            wait(graph)
        self.tick += n
        self.counter += self.heaps * self.outputs + 1
        return packets, packet

    def impaired(self, packets):
        """Lose, repeat and delay packets, but never lose the descriptors in front."""
        if not self.is_faulty:
            return packets
        arriving = []
        for i, packet in enumerate(packets):
            if i < 2 or not self.chance(self.loss):
                delay = self.random.randrange(100) if self.chance(self.delayed) else 0
                arriving.append((i + delay, packet))
            if self.chance(self.repeated):
                arriving.append((i + self.random.randrange(100), packet))
        return [packet for _, packet in sorted(arriving, key=operator.itemgetter(0))]


def send(receiving, stream):
    ports = receiving.source.ports()
    packets = [packet for _, packet in stream]
    receiving.send_packets(packets, [ports[i % len(ports)] for i, _ in stream])


def take_over(receiving, stream):
    """Repeat the first half until the source accepts this sender after silence."""
    before = receiving.stats["samples_received"]

    def is_accepted():
        send(receiving, stream[: len(stream) // 2])
        return receiving.stats["samples_received"] > before

    eventually(is_accepted)


def check_samples(receiving, output, bits):
    got = receiving.samples(output)
    stats = receiving.source.stats(output)
    zeros = stats["samples_missing"] - stats["samples_skipped"]
    assert stats["samples_out"] == stats["samples_received"] + zeros
    assert np.count_nonzero(got == 0) == zeros
    tags = receiving.tags("timestamp", output) or [(0, 0)]
    offsets, ticks = np.array(tags, np.uint64).T
    n = np.diff(offsets, append=np.uint64(len(got))).astype(int)
    ticks = np.repeat(ticks - offsets, n) + np.arange(len(got), dtype=np.uint64)
    is_missing = np.zeros(len(got), bool)
    for begin, missing in receiving.tags("missing", output):
        is_missing[begin : begin + missing] = True
    is_right = got == samples_at(output, ticks % np.uint64(2**bits))
    wrong = np.flatnonzero(~is_right & ~(is_missing & (got == 0)))
    assert not len(wrong), f"output {output}: {len(wrong)} samples from {wrong[0]} on"


@NEEDS_BUFFER
@pytest.mark.parametrize(
    "seed", [SEED] if SEED else range(1, RUNS + 1), ids="SPEAD_TRUTH_SEED={}".format
)
def test_every_sample_is_right_for_its_timestamp_or_missing(seed):
    sender = RandomSender(seed)
    with Receiving(**sender.receiver_options()) as receiving:
        stream, end = sender.stream()
        send(receiving, sender.impaired(stream))
        ends = [(receiving.socket, end)]
        if sender.restarts:
            sender.restart()
            stream, end = sender.stream()
            # the other socket stays open: this one must not get its port
            receiving.socket = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
            take_over(receiving, stream)
            send(receiving, sender.impaired(stream))
            ends.append((receiving.socket, end))
        for sock, end in ends * 3:
            for port in receiving.source.ports():
                sock.sendto(end, ("127.0.0.1", port))
        receiving.wait()
    assert receiving.balanced()
    for output in range(sender.outputs):
        check_samples(receiving, output, sender.bits)
    if sender.outputs == 1 and not sender.is_faulty:
        assert receiving.stats["samples_missing"] == 0
