# Copyright 2026 The gr-spead authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Flow graphs with several inputs, gated sources, and packet parsing."""

import contextlib
import threading
from types import SimpleNamespace

import numpy as np
from gnuradio import gr
from places import BOUND
from receiving import bound_socket, check_no_more, destination
from streams import source, wait

TYPES = {
    "int8": np.int8,
    "sc8": np.int16,  # GNU Radio passes both bytes as one item
    "int16": np.int16,
    "sc16": np.int32,
    "int32": np.int32,
    "float": np.float32,
    "complex": np.complex64,
}


def connected(sink, *sources):
    graph = gr.top_block()
    graph.kept = sources  # the flow graph does not keep Python blocks alive
    for i, block in enumerate(sources):
        graph.connect(block, (sink, i))
    return graph


def run_all(sink, *samples):
    """Stream the given samples, one array per input, to the sink until they end."""
    graph = connected(sink, *(source(array) for array in samples))
    graph.start()
    wait(graph)


@contextlib.contextmanager
def playing(sink, *gated):
    """Runs a flow graph; on exit, also after an exception, releases all samples."""
    graph = connected(sink, *gated)
    graph.start()
    try:
        yield graph
    finally:
        for gate in gated:
            gate.until(len(gate.samples))
        wait(graph)


class Gated(source):
    """A source that blocks until the test releases its samples."""

    def __init__(self, samples):
        super().__init__(samples)
        self.released = 0
        self.changed = threading.Condition()

    def until(self, n):
        """Release the samples before the n-th."""
        with self.changed:
            self.released = n
            self.changed.notify()

    def work(self, inputs, outputs):
        with self.changed:
            is_done = self.position == len(self.samples)
            self.changed.wait_for(
                lambda: is_done or self.released > self.position, BOUND
            )
            available = min(self.released, len(self.samples)) - self.position
        return super().work(inputs, [outputs[0][:available]])


def packet_of(datagram, bits=40):
    """Parse a packet: its item IDs in order, its items by ID, and its payload."""
    count = int.from_bytes(datagram[6:8], "big")
    words = np.frombuffer(datagram, ">u8", count, 8).tolist()
    mask = (1 << bits) - 1
    pairs = [(w >> bits & (1 << (63 - bits)) - 1, w & mask) for w in words]
    ids = [pair[0] for pair in pairs]
    items = dict(pairs)
    start = 8 + 8 * count
    return SimpleNamespace(
        ids=ids,
        items=items,
        cnt=items[0x01],
        size=items.get(0x02),
        offset=items.get(0x03),
        payload=datagram[start : start + items.get(0x04, 0)],
        is_end=items.get(0x06) == 2,
        is_descriptors=0x05 in ids and 0x3300 not in ids,
    )


def packets_to_end(sock, bits=40):
    """Receive the packets up to and including the first end-of-stream packet.

    Only repetitions of that packet may follow.
    """
    packets = []
    while not packets or not packets[-1].is_end:
        datagram = sock.recv(65536)
        packets.append(packet_of(datagram, bits))
    check_no_more(sock, datagram)
    return packets


def consecutive_sockets(n, first="127.0.0.1"):
    """Sockets on consecutive loopback addresses, all on the same free port."""
    head, last = first.rsplit(".", 1)
    addresses = [f"{head}.{int(last) + i}" for i in range(n)]
    for _ in range(100):
        sockets = [bound_socket(addresses[0])]
        port = sockets[0].getsockname()[1]
        try:
            sockets += [bound_socket(address, port) for address in addresses[1:]]
        except OSError:
            for sock in sockets:
                sock.close()
            continue
        return sockets
    raise AssertionError("found no port that is free on all addresses")


class UnreachableEndpoint:
    """An endpoint that answers with ICMP port unreachable.

    A socket reserves the port. It is connected to another peer, so the kernel rejects
    the packets of the sink.
    """

    def __init__(self, address="127.0.0.1"):
        self.sock = bound_socket(address)
        self.destination = destination(self.sock)
        self.sock.connect((address, 1))

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.sock.close()


def whole_heaps(packets, inputs=1):
    """Assemble the heaps of samples, in order of their first packets.

    Checks that the packets of two heaps of the same input do not interleave. Returns
    the counter, the items and the payload of each heap.
    """
    heaps = []
    incomplete = {}  # by input
    for packet in packets:
        if packet.is_end or packet.is_descriptors:
            continue
        input_index = packet.cnt % inputs
        if input_index not in incomplete:
            incomplete[input_index] = SimpleNamespace(
                cnt=packet.cnt, items=packet.items, payload=b""
            )
            heaps.append(incomplete[input_index])
        heap = incomplete[input_index]
        assert packet.cnt == heap.cnt
        assert packet.offset == len(heap.payload)
        values = [item for item in packet.ids if item > 0x06 and item != 0x3300]
        assert [packet.items[i] for i in values] == [heap.items[i] for i in values]
        heap.payload += packet.payload
        if len(heap.payload) == packet.size:
            del incomplete[input_index]
    assert not incomplete
    counters = [heap.cnt for heap in heaps]
    assert len(set(counters)) == len(counters)
    return heaps
