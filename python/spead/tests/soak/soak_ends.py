# Copyright 2026 The gr-spead authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Senders and receivers of the soak: gr-spead or spead2. Receivers check each sample.

The sample of input i at time t is pattern(i, t, 1). Counters exclude packets without a
payload: the sink sends empty datagrams to resolve the next hop.
"""

import contextlib
import logging
import socket
import threading

import numpy as np
import pmt
import spead2
import spead2.recv
import spead2.send
from gnuradio import blocks, gr, spead
from places import BOUND, eventually
from received_streams import spead2_heaps
from soak_network import GROUPS, PORTS
from streams import noise, post, wait
from two_hosts import FAR, NEAR, enlarge_receive_buffer, inside, join

logging.getLogger("spead2").setLevel(logging.ERROR)  # it warns of each bad packet
PERIOD = 1_000_003
NOISE = np.tile(noise(PERIOD), 3)


def pattern(number, time, length):
    """`length` samples of an input, at most a million, starting at a time."""
    begin = (time + 12345 * number) % PERIOD
    return NOISE[begin : begin + length]


def address(stream):
    return (GROUPS if stream.multicast else FAR)[stream.family]


def endpoints(stream):
    host = address(stream)
    host = f"[{host}]" if ":" in host else host
    return [f"{host}:{port}" for port in PORTS[: stream.inputs]]


class PatternSource(gr.sync_block):
    """Outputs the pattern of an input, starting at a given time."""

    def __init__(self, number):
        gr.sync_block.__init__(self, "pattern", None, [np.int8])
        self.number = number
        self.start_at(0)

    def start_at(self, time):
        self.start_time = self.time = time

    def work(self, _, outputs):
        samples = pattern(self.number, self.time, min(len(outputs[0]), PERIOD))
        outputs[0][: len(samples)] = samples
        self.time += len(samples)
        return len(samples)


class Checker(gr.sync_block):
    """Compares the output of a source with the pattern, guided by the tags."""

    def __init__(self, stream):
        gr.sync_block.__init__(self, "checker", [np.int8] * stream.inputs, None)
        self.inputs = stream.inputs
        self.checked = 0
        self.wrong = []
        self.gains = []
        self.running = threading.Event()
        self.running.set()
        self.reset()

    def reset(self):
        """Prepare for a restart of the flow graph, which counts samples from 0."""
        self.time = [0] * self.inputs
        self.missing = [0] * self.inputs

    def work(self, inputs, _):
        self.running.wait(BOUND)
        for i, samples in enumerate(inputs):
            self.check(i, samples)
        return len(inputs[0])

    def check(self, i, samples):
        begin = self.nitems_read(i)
        tags = self.get_tags_in_window(i, 0, len(samples))
        at = 0
        for tag in sorted(tags, key=lambda tag: tag.offset):
            self.compare(i, samples[at : tag.offset - begin])
            at = tag.offset - begin
            name, value = pmt.symbol_to_string(tag.key), pmt.to_python(tag.value)
            if name == "timestamp":
                self.time[i] = value
            elif name == "missing":
                self.missing[i] += value
            elif name == "gain":
                self.gains.append(value)
        self.compare(i, samples[at:])

    def compare(self, i, samples):
        zeros = min(self.missing[i], len(samples))
        is_equal = not samples[:zeros].any()
        for at in range(zeros, len(samples), PERIOD):
            part = samples[at : at + PERIOD]
            is_equal &= np.array_equal(part, pattern(i, self.time[i] + at, len(part)))
        if not is_equal:
            self.wrong.append((i, self.time[i], len(samples)))
        self.missing[i] -= zeros
        self.time[i] += len(samples)
        self.checked += len(samples) - zeros


class Source:
    """A flow graph of gr-spead that receives."""

    def __init__(self, network, stream):
        with inside(network.far):
            self.source = spead.source(
                endpoints(stream),
                num_outputs=stream.inputs,
                interface="v1",
                end_on_stop=False,
                on_missing=stream.on_missing,
            )
        self.network = network
        self.checker = Checker(stream)
        self.graph = gr.top_block()
        for i in range(stream.inputs):
            self.graph.connect((self.source, i), (self.checker, i))
        self.start()

    def start(self):
        self.checker.reset()
        with inside(self.network.far):
            self.graph.start()

    def stop(self):
        self.graph.stop()
        wait(self.graph)

    def packets(self):
        stats = self.source.stats()
        rejected = stats["packets_rejected"]
        assert rejected.keys() <= {"size"}, rejected  # empty datagrams
        return stats["packets_received"]

    def pause(self):
        self.checker.running.clear()

    def resume(self):
        self.checker.running.set()

    def check(self):
        """All samples were right, and the item changes arrived in order."""
        assert not self.checker.wrong, self.checker.wrong[:10]
        assert 0 < self.checker.checked <= self.source.stats()["samples_received"]
        assert self.checker.gains == sorted(self.checker.gains)


class Spead2Receiver:
    """A stream of spead2 with its defaults, except that a stop item does not end it."""

    def __init__(self, network, stream):
        self.stream = spead2.recv.Stream(
            spead2.ThreadPool(), spead2.recv.StreamConfig(stop_on_stop_item=False)
        )
        self.items = spead2.ItemGroup()
        self.wrong = []
        self.samples = 0
        host = address(stream)
        family = socket.AF_INET6 if ":" in host else socket.AF_INET
        with inside(network.far), socket.socket(family, socket.SOCK_DGRAM) as sock:
            enlarge_receive_buffer(sock)
            sock.bind((host, PORTS[0]))
            if stream.multicast:
                join(sock, host)
            self.stream.add_udp_reader(socket=sock)
        self.thread = threading.Thread(target=self.receive, daemon=True)
        self.thread.start()

    def receive(self):
        for heap in self.stream:
            if heap.is_end_of_stream() or "adc_samples" not in self.items.update(heap):
                continue
            time, samples = (self.items[n].value for n in ("timestamp", "adc_samples"))
            samples = np.asarray(samples).view(np.int8)
            if not np.array_equal(samples, pattern(0, time, len(samples))):
                self.wrong.append((time, len(samples)))
            self.samples += len(samples)

    def packets(self):
        return self.stream.stats["packets"]

    def stop(self):
        self.stream.stop()
        self.thread.join(BOUND)
        assert not self.thread.is_alive()

    def check(self):
        assert not self.wrong, self.wrong[:10]
        assert self.samples > 0


class Sink:
    """A flow graph of gr-spead that sends."""

    def __init__(self, stream):
        self.stream = stream
        options = {
            "rate": stream.rate,
            "max_packet_size": stream.packet,
            "num_inputs": stream.inputs,
            "when_full": stream.when_full,
            "interface": "v0",
            "descriptor_interval": 0.2,
            # large enough that no unfinished heap is zero-filled
            "buffer_size": 16 << 20,
            "items": [
                spead.timestamp(),
                spead.immediate(0x1700, "gain", 0),
                spead.samples(),
            ],
        }
        self.sink = spead.sink(endpoints(stream), stream.heap, **options)
        self.patterns = [PatternSource(i) for i in range(stream.inputs)]
        self.graph = gr.top_block()
        # faster than the sink, like a radio that ignores backpressure
        self.clocks = [blocks.throttle(1, 1.5 * stream.rate) for _ in self.patterns]
        for i, (source, clock) in enumerate(
            zip(self.patterns, self.clocks, strict=True)
        ):
            self.graph.connect(source, clock, (self.sink, i))
        self.gain = 0
        self.graph.start()

    def restart(self):
        """Restart at the heap after the last one, which may be incomplete."""
        self.stop()
        for i, source in enumerate(self.patterns):
            heaps = -(-self.sink.nitems_read(i) // self.stream.heap)
            source.start_at(source.start_time + heaps * self.stream.heap)
        self.graph.start()

    def change_item(self):
        self.gain += 1
        post(self.sink, {"gain": self.gain})

    def stop(self):
        self.graph.stop()
        wait(self.graph)

    def packets(self):
        return self.sink.stats()["packets_sent"]

    def check(self):
        assert self.sink.stats()["samples_pending"] == 0


class Spead2Sender:
    """A stream of spead2 with the pattern of input 0."""

    def __init__(self, stream):
        host = address(stream)
        family = socket.AF_INET6 if ":" in host else socket.AF_INET
        sock = socket.socket(family, socket.SOCK_DGRAM)
        if stream.multicast and family == socket.AF_INET:
            own = socket.inet_aton(NEAR["ipv4"])
            sock.setsockopt(socket.IPPROTO_IP, socket.IP_MULTICAST_IF, own)
        elif stream.multicast:
            index = socket.if_nametoindex("v0")
            sock.setsockopt(socket.IPPROTO_IPV6, socket.IPV6_MULTICAST_IF, index)
        config = spead2.send.StreamConfig(
            rate=stream.rate, max_packet_size=stream.packet, max_heaps=4
        )
        pool = spead2.ThreadPool()
        self.out = spead2.send.UdpStream(pool, sock, [(host, PORTS[0])], config)
        sock.close()
        self.heap = stream.heap
        self.ended = False
        self.thread = threading.Thread(target=self.send, daemon=True)
        self.thread.start()

    def send(self):
        time = 0
        while not self.ended:
            # consecutive streams of a hundred heaps, each with descriptors
            samples = pattern(
                0, time, min(100 * self.heap, PERIOD // self.heap * self.heap)
            )
            for heap in spead2_heaps(samples, self.heap, first=time):
                with contextlib.suppress(OSError):
                    self.out.send_heap(heap)
            time += len(samples)

    def stop(self):
        self.ended = True
        self.thread.join(BOUND)
        assert not self.thread.is_alive()

    def packets(self):
        """None: spead2 does not count the packets it sends."""

    def check(self):
        """Nothing to check: the receiver compares the samples."""


def settled(condition):
    """Whether a condition becomes true in time."""
    try:
        eventually(condition)
    except AssertionError:
        return False
    return True
