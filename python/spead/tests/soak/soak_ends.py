# Copyright 2026 The gr-spead authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Senders and receivers of the soak: gr-spead or spead2. Receivers check each sample.

The sample at time t is pattern(t, 1). Counters exclude packets without a payload: the
sink sends empty datagrams to resolve the next hop.
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
from places import BOUND
from received_streams import spead2_heaps
from soak_network import PORT
from streams import noise, wait
from two_hosts import FAR, enlarge_receive_buffer, inside

logging.getLogger("spead2").setLevel(logging.ERROR)  # it warns of each bad packet
PERIOD = 1_000_003
NOISE = np.tile(noise(PERIOD), 2)


def pattern(time, length):
    """`length` samples, at most PERIOD, starting at a time."""
    begin = time % PERIOD
    return NOISE[begin : begin + length]


def endpoint(stream):
    host = FAR[stream.family]
    return f"[{host}]:{PORT}" if ":" in host else f"{host}:{PORT}"


class PatternSource(gr.sync_block):
    """Outputs the pattern, starting at a given time."""

    def __init__(self):
        gr.sync_block.__init__(self, "pattern", None, [np.int8])
        self.start_time = self.time = 0

    def work(self, _, outputs):
        samples = pattern(self.time, min(len(outputs[0]), PERIOD))
        outputs[0][: len(samples)] = samples
        self.time += len(samples)
        return len(samples)


class Checker(gr.sync_block):
    """Compares the output of a source with the pattern, guided by its tags."""

    def __init__(self):
        gr.sync_block.__init__(self, "checker", [np.int8], None)
        self.checked = 0
        self.wrong = []
        self.running = threading.Event()
        self.running.set()

    def start(self):
        self.time = self.missing = 0
        return True

    def work(self, inputs, _):
        self.running.wait(BOUND)
        (samples,) = inputs
        begin = self.nitems_read(0)
        compared = 0
        tags = self.get_tags_in_window(0, 0, len(samples))
        for tag in sorted(tags, key=lambda tag: tag.offset):
            self.compare(samples[compared : tag.offset - begin])
            compared = tag.offset - begin
            name, value = pmt.symbol_to_string(tag.key), pmt.to_python(tag.value)
            if name == "timestamp":
                self.time = value
            elif name == "missing":
                self.missing += value
        self.compare(samples[compared:])
        return len(samples)

    def compare(self, samples):
        zeros = min(self.missing, len(samples))
        is_equal = not samples[:zeros].any()
        for begin in range(zeros, len(samples), PERIOD):
            part = samples[begin : begin + PERIOD]
            is_equal &= np.array_equal(part, pattern(self.time + begin, len(part)))
        if not is_equal:
            self.wrong.append((self.time, len(samples)))
        self.missing -= zeros
        self.time += len(samples)
        self.checked += len(samples) - zeros


class Source:
    """A flow graph of gr-spead that receives."""

    def __init__(self, network, stream):
        self.network = network
        with inside(network.far):
            self.source = spead.source(
                endpoint(stream),
                interface="v1",
                end_on_stop=False,
                on_missing=stream.on_missing,
            )
        self.checker = Checker()
        self.graph = gr.top_block()
        self.graph.connect(self.source, self.checker)
        self.start()

    def start(self):
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

    def check(self):
        assert not self.checker.wrong, self.checker.wrong[:10]
        assert 0 < self.checker.checked <= self.source.stats()["samples_received"]


class Spead2Receiver:
    """A stream of spead2 with its defaults, except that a stop item does not end it."""

    def __init__(self, network, stream):
        self.stream = spead2.recv.Stream(
            spead2.ThreadPool(), spead2.recv.StreamConfig(stop_on_stop_item=False)
        )
        self.wrong = []
        self.samples = 0
        family = socket.AF_INET6 if stream.family == "ipv6" else socket.AF_INET
        with inside(network.far), socket.socket(family, socket.SOCK_DGRAM) as sock:
            enlarge_receive_buffer(sock)
            sock.bind((FAR[stream.family], PORT))
            self.stream.add_udp_reader(socket=sock)
        self.thread = threading.Thread(target=self.receive, daemon=True)
        self.thread.start()

    def receive(self):
        items = spead2.ItemGroup()
        for heap in self.stream:
            if heap.is_end_of_stream() or "adc_samples" not in items.update(heap):
                continue
            time = items["timestamp"].value
            samples = np.asarray(items["adc_samples"].value).view(np.int8)
            if not np.array_equal(samples, pattern(time, len(samples))):
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
        self.heap = stream.heap
        self.sink = spead.sink(
            endpoint(stream),
            stream.heap,
            rate=stream.rate,
            max_packet_size=stream.packet,
            when_full=stream.when_full,
            interface="v0",
            descriptor_interval=0.2,
            buffer_size=16 << 20,  # so large that no unfinished heap is zero-filled
        )
        self.pattern = PatternSource()
        # faster than the sink, like a radio that ignores backpressure
        clock = blocks.throttle(1, 1.5 * stream.rate)
        self.graph = gr.top_block()
        self.graph.connect(self.pattern, clock, self.sink)
        self.graph.start()

    def restart(self):
        """Restart at the heap after the last one, which may be incomplete."""
        self.stop()
        heaps = -(-self.sink.nitems_read(0) // self.heap)
        self.pattern.start_time += heaps * self.heap
        self.pattern.time = self.pattern.start_time
        self.graph.start()

    def stop(self):
        self.graph.stop()
        wait(self.graph)

    def packets(self):
        return self.sink.stats()["packets_sent"]

    def check(self):
        assert self.sink.stats()["samples_pending"] == 0


class Spead2Sender:
    """A stream of spead2."""

    def __init__(self, stream):
        config = spead2.send.StreamConfig(
            rate=stream.rate, max_packet_size=stream.packet, max_heaps=4
        )
        address = FAR[stream.family], PORT
        self.out = spead2.send.UdpStream(spead2.ThreadPool(), [address], config)
        self.heap = stream.heap
        self.ended = False
        self.thread = threading.Thread(target=self.send, daemon=True)
        self.thread.start()

    def send(self):
        time = 0
        while not self.ended:
            # consecutive streams of a hundred heaps, each with descriptors
            heaps = min(100, PERIOD // self.heap)
            samples = pattern(time, heaps * self.heap)
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
