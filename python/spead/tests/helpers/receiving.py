# Copyright 2026 The gr-spead authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Sockets that receive, and spead2 as a receiver."""

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


SCM_TIMESTAMPNS = 35  # also the option that asks for it
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


def stamped(sock):
    """A datagram, and when it arrived: in seconds since 1970."""
    datagram, ((_, _, stamp),), _, _ = sock.recvmsg(65536, 64)
    seconds, nanoseconds = np.frombuffer(stamp, np.int64)
    return datagram, seconds + nanoseconds * 1e-9


def stamps_arrivals(sock):
    """The kernel takes a while to begin; until then it stamps what is read."""
    sock.setsockopt(socket.SOL_SOCKET, SCM_TIMESTAMPNS, 1)
    sock.sendto(b"", sock.getsockname())
    sent = time.time()
    return stamped(sock)[1] <= sent


def stamped_arrivals(sock):
    """The datagrams that are at a socket by now, and when they arrived."""
    with contextlib.suppress(BlockingIOError):
        sock.setblocking(False)
        while True:
            yield stamped(sock)
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
