# Copyright 2026 The gr-spead authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Flow graphs with heap_source and heap_sink, and spead2 at the other end."""

import contextlib
import itertools
import queue
import socket

import numpy as np
import pmt
import spead2
import spead2.recv
import spead2.send
from gnuradio import gr, spead
from places import BOUND

PDUS = pmt.intern("pdus")


class PduCollector(gr.basic_block):
    """Puts PDUs into a queue."""

    def __init__(self):
        gr.basic_block.__init__(self, "pdu_collector", None, None)
        self.pdus = queue.Queue()
        self.message_port_register_in(PDUS)
        self.set_msg_handler(PDUS, self.collect)

    def collect(self, pdu):
        self.pdus.put(pdu)

    def next(self):
        return self.pdus.get(timeout=BOUND)

    def next_values(self):
        """The items of the next PDU, without the heap counter."""
        values = spead.heap_to_numpy(self.next())
        del values["0x1"]
        return values


class PduPoster(gr.basic_block):
    def __init__(self):
        gr.basic_block.__init__(self, "pdu_poster", None, None)
        self.message_port_register_out(PDUS)

    def post(self, pdu):
        self.message_port_pub(PDUS, pdu)


@contextlib.contextmanager
def running(*blocks):
    """A running flow graph; PDUs pass from each block to the next one."""
    graph = gr.top_block()
    for block, following in itertools.pairwise(blocks):
        graph.msg_connect(block, "pdus", following, "pdus")
    graph.start()
    try:
        yield graph
    finally:
        graph.stop()
        graph.wait()


@contextlib.contextmanager
def receiving(endpoints="127.0.0.1:0", **options):
    """A running heap_source, and the collector of its PDUs."""
    source, collector = spead.heap_source(endpoints, **options), PduCollector()
    with running(source, collector):
        yield source, collector


@contextlib.contextmanager
def sending(destination, **options):
    """A running heap_sink, and the function that posts PDUs to it."""
    poster, sink = PduPoster(), spead.heap_sink(destination, **options)
    with running(poster, sink):
        yield sink, poster.post


def transmit(source, *datagrams, sock=None):
    """Send datagrams to a heap_source, by default from a new socket."""
    (port,) = source.ports()
    with contextlib.ExitStack() as stack:
        if sock is None:
            sock = stack.enter_context(socket.socket(socket.AF_INET, socket.SOCK_DGRAM))
        for datagram in datagrams:
            sock.sendto(datagram, ("127.0.0.1", port))


def spead2_group(bits=40, **items):
    """An item group. items: name -> (arguments of add_item() after the name, value)"""
    group = spead2.send.ItemGroup(flavour=spead2.Flavour(4, 64, bits, 0))
    for name, (arguments, value) in items.items():
        group.add_item(None, name, "", value=value, **arguments)
    return group


def spead2_decoded(datagrams):
    """Name -> value of the items that spead2 reads in datagrams."""
    packets = spead2.InprocQueue()
    for datagram in datagrams:
        packets.add_packet(datagram)
    packets.stop()
    stream = spead2.recv.Stream(spead2.ThreadPool())
    stream.add_inproc_reader(packets)
    group = spead2.ItemGroup()
    return [
        {name: item.value for name, item in group.update(heap).items()}
        for heap in stream
    ]


def check_equal(actual, expected):
    """Check a value of numpy, and its dtype if numpy has one for the expected value."""
    assert np.shape(actual) == np.shape(expected)
    if isinstance(expected, str) or not isinstance(expected, (np.ndarray, np.generic)):
        assert actual == expected
    elif expected.dtype.hasobject:
        assert np.asarray(actual).dtype.hasobject is False
        assert np.asarray(actual).tolist() == expected.tolist()
    else:
        assert actual.dtype == expected.dtype
        assert np.asarray(actual).tobytes() == np.asarray(expected).tobytes()
