# Copyright 2026 The gr-spead authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""A trial of spead-bench: a stream of noise at one rate, and what became of it."""

import bisect
import contextlib
import math
import socket
import statistics
import time
from dataclasses import dataclass

import numpy as np
from gnuradio import blocks, gr

from . import host_counters
from .control_link import endpoint_text
from .spead_python import immediate, samples, sink, source, timestamp

NOISE = np.random.default_rng(1).integers(-128, 128, 1 << 18, np.int8)
TRIAL_ITEM = 0x3101  # separates a trial from late packets of the one before
MAX_TRIALS = 1000
INTERVAL = 0.002  # seconds between two looks at the counters
SETTLE_TIME = 0.4  # seconds without a packet; longer than max_delay of the source
MAX_SETTLE_TIME = 5  # seconds
# The delay of a path that carries the rate is constant. If it grows by this much within
# a trial, a queue fills, and a longer trial would lose samples.
MAX_DELAY_GROWTH = 0.005  # seconds
MAX_STALL = 0.01  # seconds; the sink makes up for it at 1.05 times the rate
SOCKET_BUFFER = 16 << 20  # bytes, which the source requests
SO_RCVBUFFORCE = 33  # Linux; not in Python's socket module


def items(trial):
    return [timestamp(), samples(), immediate(TRIAL_ITEM, "trial", trial)]


class NoiseSource(gr.sync_block):
    """Repeats a block of noise; several times as fast as blocks.vector_source."""

    def __init__(self, count):
        gr.sync_block.__init__(self, "noise", None, [np.int8])
        self._left = count

    def work(self, _, outputs):
        count = min(self._left, len(outputs[0]))
        for begin in range(0, count, len(NOISE)):
            end = min(begin + len(NOISE), count)
            outputs[0][begin:end] = NOISE[: end - begin]
        self._left -= count
        return count or -1  # -1: WORK_DONE


class Progress:
    """The number of samples over time, and the CPU time of this process."""

    def __init__(self):
        self.curve = []  # pairs of seconds and samples
        self._begin = time.monotonic(), time.process_time()

    def add(self, count):
        if count and (not self.curve or count > self.curve[-1][1]):
            self.curve.append((time.monotonic(), count))

    def cpus(self):
        """The CPUs that this process has used on average."""
        wall, cpu = time.monotonic(), time.process_time()
        return (cpu - self._begin[1]) / (wall - self._begin[0])


@contextlib.contextmanager
def running(*chain):
    graph = gr.top_block()
    graph.connect(*chain)
    graph.start()
    try:
        yield
    finally:
        graph.stop()
        graph.wait()


def rate_of(curve):
    """The samples per second from the first to the last point of a curve."""
    (begin, first), (end, last) = curve[0], curve[-1]
    return (last - first) / (end - begin) if end > begin else 0.0


def delay_growth(sent, received):
    """By how many seconds the delay of a stream without loss has grown.

    The difference between the medians of its last and of its first fifth. A program
    that waits for a CPU sees its progress late: single points may be wrong either way.
    """
    total = sent[-1][1]
    counts = [total * n / 100 for n in range(1, 101)]

    def times(curve):
        reached = [count for _, count in curve]
        return [curve[bisect.bisect_left(reached, count)][0] for count in counts]

    delays = [b - a for a, b in zip(times(sent), times(received), strict=True)]
    return statistics.median(delays[-20:]) - statistics.median(delays[:20])


def longest_stall(sent, rate):
    """By how many seconds a sender fell behind a rate in samples per second."""
    earliest, longest = math.inf, 0.0
    for seconds, count in sent:
        delay = seconds - count / rate
        earliest = min(earliest, delay)
        longest = max(longest, delay - earliest)
    return longest


@dataclass
class Sending:
    """What the sender knows of a trial."""

    stall: float  # seconds, longest_stall()
    stats: dict  # of the sink
    curve: list
    cpus: float
    losses: dict  # by counter of this host
    interface: str


class Sender:
    """Sends trials to an endpoint."""

    def __init__(self, address, port, local_address, heap_size, packet_size):
        self._endpoint = endpoint_text(address, port)
        self._interface = host_counters.interface_of(local_address)
        self._heap_size = heap_size
        self._packet_size = packet_size
        self._overhead = (
            1.0  # bytes of UDP payload per sample; the first trial measures it
        )

    def make_sink(self, trial, rate=0.0):
        return sink(
            self._endpoint,
            heap_samples=self._heap_size,
            items=items(trial),
            descriptors="none",
            max_packet_size=self._packet_size,
            rate=rate * self._overhead,
            send_stop=False,
        )

    def send(self, trial, rate, heaps):
        """Send heaps, at a rate in samples per second."""
        total = heaps * self._heap_size
        block, noise = self.make_sink(trial, rate), NoiseSource(total)
        deadline = time.monotonic() + 2 * total / rate + 5
        before = host_counters.send_losses(self._interface)
        progress = Progress()
        with running(noise, block):
            while time.monotonic() < deadline:
                stats = block.stats()
                progress.add(stats["samples_sent"])
                if stats["samples_in"] == total and not stats["samples_pending"]:
                    break
                time.sleep(INTERVAL)
            cpus = progress.cpus()
        stats = block.stats()
        if stats["samples_sent"]:
            self._overhead = stats["bytes_sent"] / stats["samples_sent"]
        losses = host_counters.send_losses(self._interface)
        return Sending(
            longest_stall(progress.curve, rate),
            stats,
            progress.curve,
            cpus,
            host_counters.growth(before, losses),
            self._interface,
        )


class Receiving:
    """Receives a trial while a flow graph runs."""

    def __init__(self, address, port, trial, heap_size, seconds):
        self.interval = max(INTERVAL, seconds / 5000)
        self._interface = host_counters.interface_of(address)
        self._source = source(
            endpoint_text(address, port),
            items=items([trial]),
            timestamp_step=heap_size,
            heap_samples=heap_size,
            end_on_stop=False,
        )
        self._buffer_fill = 0.0
        self._last_packet = time.monotonic()
        self._packets = 0
        self._losses = host_counters.receive_losses(self._interface)
        self._bytes = host_counters.received_bytes(self._interface)
        self._progress = Progress()
        self._running = contextlib.ExitStack()
        sink_of_samples = blocks.null_sink(gr.sizeof_char)
        self._running.enter_context(running(self._source, sink_of_samples))

    def poll(self):
        stats = self._source.stats()
        self._progress.add(stats["samples_received"])
        self._buffer_fill = max(self._buffer_fill, stats["buffer_fill"])
        rejected = sum(stats["packets_rejected"].values())
        packets = stats["packets_received"] + stats["packets_ignored"] + rejected
        if packets > self._packets:
            self._packets, self._last_packet = packets, time.monotonic()
        return stats

    def settle(self, total):
        """Wait until all samples have arrived, or no more packets arrive."""
        self._last_packet = begin = time.monotonic()
        while self.poll()["samples_received"] < total:
            now = time.monotonic()
            if now > begin + MAX_SETTLE_TIME or now > self._last_packet + SETTLE_TIME:
                break
            time.sleep(self.interval)

    def stop(self):
        self._running.close()

    def report(self):
        """What the receiver knows of the trial, for JSON."""
        cpus = self._progress.cpus()
        self.stop()
        stats = self.poll()
        arrived = host_counters.received_bytes(self._interface)
        losses = host_counters.receive_losses(self._interface)
        return {
            "samples": stats["samples_received"],
            "late": stats["samples_late"],
            "packets": self._packets,
            "dropped_by_socket": stats["datagrams_dropped_by_socket"],
            "buffer_fill": self._buffer_fill,
            "socket_buffer": socket_buffer(),
            "cpus": cpus,
            "interface": self._interface,
            "interface_bytes": None if arrived is None else arrived - self._bytes,
            "losses": host_counters.growth(self._losses, losses),
            "curve": self._progress.curve,
        }


def socket_buffer():
    """The size of the socket buffer that Linux grants a source, in bytes."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as sock:
        try:
            sock.setsockopt(socket.SOL_SOCKET, SO_RCVBUFFORCE, SOCKET_BUFFER)
        except PermissionError:
            sock.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, SOCKET_BUFFER)
        return sock.getsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF) // 2


@dataclass
class Trial:
    """What both ends know of a trial."""

    heap_size: int
    sending: Sending
    received: dict  # Receiving.report()

    @property
    def rate(self):
        """The rate at which the sender sent, in MB/s of samples."""
        return rate_of(self.sending.curve) / 1e6

    @property
    def lost(self):
        """Samples that the sink took, and the source did not output."""
        return self.sending.stats["samples_in"] - self.received["samples"]

    @property
    def delay_growth(self):
        """In seconds; 0 if samples were lost."""
        if self.lost:
            return 0.0
        return delay_growth(self.sending.curve, self.received["curve"])

    @property
    def is_uneven(self):
        """Whether the sender fell behind, and then exceeded the rate to catch up."""
        heap_seconds = self.heap_size / (self.rate * 1e6) if self.rate else 0
        return self.sending.stall > max(MAX_STALL, 2 * heap_seconds)

    @property
    def lossy(self):
        return bool(self.lost) or self.delay_growth > MAX_DELAY_GROWTH
