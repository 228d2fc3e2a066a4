# Copyright 2026 The gr-spead authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Receiving sockets, and spead2 as a receiver."""

import contextlib
import socket
import threading
import time
from types import SimpleNamespace

import numpy as np
import spead2
import spead2.recv
from places import BOUND, enlarge_buffer


def bound_socket(address="127.0.0.1", port=0):
    """A UDP socket with a large receive buffer, by default on an ephemeral port."""
    family = socket.AF_INET6 if ":" in address else socket.AF_INET
    sock = socket.socket(family, socket.SOCK_DGRAM)
    enlarge_buffer(sock)
    sock.bind((address, port))
    sock.settimeout(BOUND)
    return sock


def destination(sock):
    host, port = sock.getsockname()[:2]
    return f"[{host}]:{port}" if ":" in host else f"{host}:{port}"


SCM_TIMESTAMPNS = 35  # equal to the socket option SO_TIMESTAMPNS
ENDS = 5  # how often a sink sends the end-of-stream heap


def is_end(datagram):
    """Whether a SPEAD-64-40 or SPEAD-64-48 packet is the end of its stream."""
    return datagram[40:48].hex() in ("8000060000000002", "8006000000000002")


def arrived(sock):
    """Yield the datagrams that have arrived at a socket."""
    sock.setblocking(False)
    with contextlib.suppress(BlockingIOError):
        while True:
            yield sock.recv(65536)
    sock.settimeout(BOUND)


def stamped(sock):
    """Receive a datagram; returns it and its arrival time, in seconds since 1970."""
    datagram, ((_, _, stamp),), _, _ = sock.recvmsg(65536, 64)
    seconds, nanoseconds = np.frombuffer(stamp, np.int64)
    return datagram, seconds + nanoseconds * 1e-9


def stamps_arrivals(sock):
    """Enable arrival timestamps; returns whether they are in effect.

    The kernel takes a while to enable them. Until then, it stamps a datagram only when
    the datagram is read.
    """
    sock.setsockopt(socket.SOL_SOCKET, SCM_TIMESTAMPNS, 1)
    sock.sendto(b"", sock.getsockname())
    sent = time.time()
    return stamped(sock)[1] <= sent


def stamped_arrivals(sock):
    """Yield the datagrams that have arrived at a socket, with their arrival times."""
    with contextlib.suppress(BlockingIOError):
        sock.setblocking(False)
        while True:
            yield stamped(sock)
    sock.settimeout(BOUND)


def check_no_more(sock, last):
    """Check that only repetitions of an end-of-stream packet `last` may be left."""
    for datagram in arrived(sock):
        assert is_end(datagram)
        assert datagram == last


def datagrams(sock, count):
    """Receive exactly `count` datagrams.

    Only repetitions of the last may follow, if it is an end-of-stream packet.
    """
    received = [sock.recv(65536) for _ in range(count)]
    check_no_more(sock, received[-1])
    return received


class Receiver:
    """spead2, as in its tutorial, but it continues after the end of a stream."""

    def __init__(self, sock, **config):
        config.setdefault("max_heaps", 4)
        self.stream = spead2.recv.Stream(
            spead2.ThreadPool(),
            spead2.recv.StreamConfig(stop_on_stop_item=False, **config),
            spead2.recv.RingStreamConfig(heaps=1024),
        )
        self.stream.add_udp_reader(socket=sock, max_size=65536)
        self.items = spead2.ItemGroup()
        self.repetitions = 0  # expected repetitions of the last end-of-stream heap

    def until_end(self):
        """The heaps up to the end of the stream; `end` is that heap's counter."""
        timeout = threading.Timer(BOUND, self.stream.stop)
        timeout.start()
        heaps = []
        for heap in self.stream:
            if heap.is_end_of_stream():
                if self.repetitions and not heaps:
                    self.repetitions -= 1
                    continue
                self.repetitions = ENDS - 1
                timeout.cancel()
                return SimpleNamespace(heaps=heaps, end=heap.cnt)
            heaps += self.decoded(heap)
        raise AssertionError(f"no end of stream after {len(heaps)} heaps")

    def next_heaps(self, count):
        """The next `count` heaps that contain samples."""
        timeout = threading.Timer(BOUND, self.stream.stop)
        timeout.start()
        heaps = []
        while len(heaps) < count:
            heaps += self.decoded(self.stream.get())
        timeout.cancel()
        return heaps

    def decoded(self, heap):
        """The heap in a list, which is empty if the heap contains only descriptors."""
        if not self.items.update(heap):
            return []
        return [
            SimpleNamespace(
                cnt=heap.cnt,
                timestamp=self.items["timestamp"].value,
                samples=np.array(self.items["adc_samples"].value),
            )
        ]
