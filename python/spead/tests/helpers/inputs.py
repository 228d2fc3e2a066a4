# Copyright 2026 The gr-spead authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Flow graphs with several inputs, sources that wait, and packets taken apart."""

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
    "sc8": np.int16,  # two bytes in one item, as GNU Radio has them
    "int16": np.int16,
    "sc16": np.int32,
    "float": np.float32,
    "complex": np.complex64,
}


def connected(sink, *sources):
    graph = gr.top_block()
    graph.kept = sources  # it does not keep blocks that are written in Python
    for i, begin in enumerate(sources):
        graph.connect(begin, (sink, i))
    return graph


def run_all(sink, *samples):
    """Run the sink with these samples at its inputs, to their end."""
    graph = connected(sink, *(source(each) for each in samples))
    graph.start()
    wait(graph)


@contextlib.contextmanager
def playing(sink, *gated):
    """Runs gated sources to their end, after a failure too."""
    graph = connected(sink, *gated)
    graph.start()
    try:
        yield graph
    finally:
        for each in gated:
            each.until(len(each.samples))
        wait(graph)


class Gated(source):
    """Gives as many samples as it was let, and waits for more to be let."""

    def __init__(self, samples):
        super().__init__(samples)
        self.let = 0
        self.changed = threading.Condition()

    def until(self, n):
        with self.changed:
            self.let = n
            self.changed.notify()

    def work(self, inputs, outputs):
        with self.changed:
            all_given = self.at == len(self.samples)
            self.changed.wait_for(lambda: all_given or self.let > self.at, BOUND)
            most = min(self.let, len(self.samples)) - self.at
        return super().work(inputs, [outputs[0][:most]])


def packet_of(datagram, bits=40):
    """The items of a packet by ID, in order, and its payload."""
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
    """The packets up to the end of the stream, and that one, which may come again."""
    packets = []
    while not packets or not packets[-1].is_end:
        datagram = sock.recv(65536)
        packets.append(packet_of(datagram, bits))
    check_no_more(sock, datagram)
    return packets


def consecutive_sockets(n, first="127.0.0.1"):
    """Sockets on consecutive loopback addresses, on one port that is free on all."""
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
    raise AssertionError("no port is free on all addresses")


class Deaf:
    """An endpoint where nobody listens, and nobody else will meanwhile.

    The kernel answers with an ICMP error: the socket takes packets of one peer only.
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
    """The heaps of samples as they begin: counter, items, payload.

    Between the packets of a heap there is none of another heap of the same input.
    """
    heaps = []
    filling = {}
    for packet in packets:
        if packet.is_end or packet.is_descriptors:
            continue
        which = packet.cnt % inputs
        if which not in filling:
            filling[which] = SimpleNamespace(
                cnt=packet.cnt, items=packet.items, payload=b""
            )
            heaps.append(filling[which])
        heap = filling[which]
        assert packet.cnt == heap.cnt
        assert packet.offset == len(heap.payload)
        values = [item for item in packet.ids if item > 0x06 and item != 0x3300]
        assert [packet.items[i] for i in values] == [heap.items[i] for i in values]
        heap.payload += packet.payload
        if len(heap.payload) == packet.size:
            del filling[which]
    assert not filling
    counters = [heap.cnt for heap in heaps]
    assert len(set(counters)) == len(counters)
    return heaps
