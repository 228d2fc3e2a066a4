# Copyright 2026 The gr-spead authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Receivers and flow graphs that the tests share."""

import contextlib
import os
import socket
import subprocess
import threading
import time
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pmt
import pytest
import spead2
import spead2.recv
import spead2.send
from gnuradio import blocks, gr, spead

ROOT = Path(__file__).resolve().parents[3]
BUILD = Path(os.environ.get("GR_SPEAD_BUILD", ROOT / "build"))
EXAMPLES = ROOT / "examples"

BOUND = 30  # seconds; no wait is longer, and no good run comes near it
NAMESPACES = not subprocess.run(
    ["unshare", "--net", "ip", "link", "set", "lo", "up"], capture_output=True
).returncode
NEEDS_NAMESPACES = pytest.mark.skipif(
    not NAMESPACES, reason="needs root, for network namespaces of its own"
)
SO_RCVBUFFORCE = 33  # as root, beyond net.core.rmem_max
RECEIVE_BUFFER = 128 << 20


def enlarge_buffer(sock):
    """Give a socket RECEIVE_BUFFER, or what a plain user gets; returns the bytes."""
    try:
        sock.setsockopt(socket.SOL_SOCKET, SO_RCVBUFFORCE, RECEIVE_BUFFER)
    except PermissionError:
        sock.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, RECEIVE_BUFFER)
    return sock.getsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF) // 2


def receive_buffer():
    """What a socket of this user gets, in bytes."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as sock:
        return enlarge_buffer(sock)


NEEDS_BUFFER = pytest.mark.skipif(
    receive_buffer() < RECEIVE_BUFFER,
    reason="needs root, for a receive buffer beyond net.core.rmem_max: it sends faster"
    " than any receiver could read",
)


def install(prefix):
    """Install all that is built below a prefix; what CMake says.

    All of it is the component "Unspecified": by that name CMake leaves alone the
    install_manifest.txt that the user's own `uninstall` needs.
    """
    return subprocess.run(
        ["cmake", "--install", BUILD, "--prefix", prefix, "--component", "Unspecified"],
        check=True,
        timeout=120,
        capture_output=True,
        text=True,
    ).stdout


def noise(n, seed=1):
    return np.random.default_rng(seed).integers(-128, 128, n, dtype=np.int8)


def bound_socket(address="127.0.0.1", port=0):
    """A UDP socket, on a free port, with room for what a test sends."""
    family = socket.AF_INET6 if ":" in address else socket.AF_INET
    sock = socket.socket(family, socket.SOCK_DGRAM)
    enlarge_buffer(sock)
    sock.bind((address, port))
    sock.settimeout(BOUND)
    return sock


def destination(sock):
    host, port = sock.getsockname()[:2]
    return f"[{host}]:{port}" if ":" in host else f"{host}:{port}"


class source(gr.sync_block):
    """A source of samples, much faster than a list of numbers."""

    def __init__(self, samples, repeat=False):
        gr.sync_block.__init__(self, "samples", None, [samples.dtype.type])
        self.samples = samples
        self.repeat = repeat
        self.at = 0
        self.offered = 0  # samples, in all runs
        self.most = 0  # room for so many samples in one call

    def start(self):
        self.at = self.most = 0
        return True

    def work(self, _, outputs):
        self.most = max(self.most, len(outputs[0]))
        if self.repeat:
            self.at %= len(self.samples)
        part = self.samples[self.at : self.at + len(outputs[0])]
        outputs[0][: len(part)] = part
        self.at += len(part)
        self.offered += len(part)
        return len(part) or -1  # -1: done


def run(sink, *blocks_before):
    """Run a chain of blocks into the sink to its end."""
    graph = gr.top_block()
    graph.connect(*blocks_before, sink)
    graph.start()
    wait(graph)


def wait(graph):
    """Wait for the end of a flow graph, but not for ever."""
    waiter = threading.Thread(target=graph.wait, daemon=True)
    waiter.start()
    waiter.join(BOUND)
    assert not waiter.is_alive(), "the flow graph did not end"


def send(sock, samples, **options):
    """Send samples to a socket; the sink, for its counters."""
    sink = spead.sink(destination(sock), **options)
    run(sink, source(samples))
    return sink


class Running:
    """A flow graph of a source, endless unless told, and a sink, while it runs."""

    def __init__(self, to, samples=None, **options):
        self.sink = spead.sink(to, **options)
        self.graph = gr.top_block()
        # kept: the flow graph does not keep blocks that are written in Python
        self.source = (
            source(noise(100000), repeat=True) if samples is None else source(samples)
        )
        self.graph.connect(self.source, self.sink)

    def __enter__(self):
        self.graph.start()
        return self.sink

    def __exit__(self, *_):
        self.graph.stop()
        wait(self.graph)


class Collector(gr.sync_block):
    """Keeps the messages that it gets; a stream of its own keeps it alive."""

    def __init__(self):
        gr.sync_block.__init__(self, "collector", [np.int8], None)
        self.messages = []
        self.message_port_register_in(pmt.intern("in"))
        self.set_msg_handler(pmt.intern("in"), self.handle)

    def handle(self, message):
        self.messages.append(message)

    def work(self, inputs, _):
        return len(inputs[0])


class Reporting(Running):
    """A flow graph that runs, and collects what the sink reports."""

    def __init__(self, to, samples=None, **options):
        super().__init__(to, samples, **options)
        self.collector = Collector()
        clock = blocks.throttle(1, 1e6)
        self.graph.connect(blocks.null_source(1), clock, self.collector)
        self.graph.msg_connect(self.sink, "stats", self.collector, "in")

    @property
    def messages(self):
        return self.collector.messages


ENDS = 5  # of a stream: the same heap again and again


def is_end(datagram):
    """Whether a packet of SPEAD-64-40 or SPEAD-64-48 ends its stream."""
    return datagram[40:48].hex() in ("8000060000000002", "8006000000000002")


def arrived(sock):
    """The datagrams that are at a socket by now."""
    sock.setblocking(False)
    with contextlib.suppress(BlockingIOError):
        while True:
            yield sock.recv(65536)
    sock.settimeout(BOUND)


def check_no_more(sock, last):
    """Nothing is left, but for repetitions of the last datagram if it is an end."""
    for datagram in arrived(sock):
        assert is_end(datagram)
        assert datagram == last


def datagrams(sock, count):
    """So many datagrams from a socket, the last of which may come again if it is an end
    of the stream, and no more than that."""
    received = [sock.recv(65536) for _ in range(count)]
    check_no_more(sock, received[-1])
    return received


class Receiver:
    """spead2, as in its tutorial; goes on after the end of a stream."""

    def __init__(self, sock, **config):
        config.setdefault("max_heaps", 4)
        self.stream = spead2.recv.Stream(
            spead2.ThreadPool(),
            spead2.recv.StreamConfig(stop_on_stop_item=False, **config),
            spead2.recv.RingStreamConfig(heaps=1024),
        )
        self.stream.add_udp_reader(socket=sock, max_size=65536)
        self.items = spead2.ItemGroup()
        self.repetitions = 0  # of the last end, that are still to come

    def until_end(self):
        """The heaps up to the end of the stream, with that one's counter."""
        guard = threading.Timer(BOUND, self.stream.stop)
        guard.start()
        heaps = []
        for heap in self.stream:
            if heap.is_end_of_stream():
                if self.repetitions and not heaps:
                    self.repetitions -= 1
                    continue
                self.repetitions = ENDS - 1
                guard.cancel()
                return SimpleNamespace(heaps=heaps, end=heap.cnt)
            heaps += self.decoded(heap)
        raise AssertionError(f"no end of stream after {len(heaps)} heaps")

    def next_heaps(self, count):
        """So many heaps of samples."""
        guard = threading.Timer(BOUND, self.stream.stop)
        guard.start()
        heaps = []
        while len(heaps) < count:
            heaps += self.decoded(self.stream.get())
        guard.cancel()
        return heaps

    def decoded(self, heap):
        """A list of the heap, empty if it has descriptors alone."""
        if not self.items.update(heap):
            return []
        return [
            SimpleNamespace(
                cnt=heap.cnt,
                timestamp=self.items["timestamp"].value,
                samples=np.array(self.items["adc_samples"].value),
            )
        ]


def balanced(stats):
    """Nothing is counted twice; pending is what is left."""
    gone = stats["samples_sent"] + stats["samples_dropped"]
    pending = stats["samples_pending"]
    return gone <= stats["samples_in"] and gone + pending == stats["samples_in"]


def eventually(condition):
    """Wait for a condition that nobody signals."""
    pause = threading.Event()
    end = time.monotonic() + BOUND
    while not condition():
        assert time.monotonic() < end, "it did not happen"
        pause.wait(0.002)


@pytest.fixture
def sock():
    with bound_socket() as s:
        yield s


@pytest.fixture
def receiver(sock):
    receiver = Receiver(sock)
    yield receiver
    receiver.stream.stop()
