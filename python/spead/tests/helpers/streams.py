# Copyright 2026 The gr-spead authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Sources, flow graphs that send, and the messages of a sink."""

import threading

import numpy as np
import pmt
from gnuradio import blocks, gr, spead
from places import BOUND
from receiving import destination


def noise(n, seed=1):
    return np.random.default_rng(seed).integers(-128, 128, n, dtype=np.int8)


class source(gr.sync_block):
    """A source of numpy samples, much faster than blocks.vector_source."""

    def __init__(self, samples, repeat=False):
        scalar = samples.dtype.type
        gr.sync_block.__init__(
            self,
            "samples",
            None,
            [scalar if samples.ndim == 1 else (scalar, samples.shape[1])],
        )
        self.samples = samples
        self.repeat = repeat
        self.position = 0
        self.offered = 0  # samples produced in all runs
        self.most = 0  # largest output space offered to one call of work()

    def start(self):
        self.position = self.most = 0
        return True

    def work(self, _, outputs):
        self.most = max(self.most, len(outputs[0]))
        if self.repeat:
            self.position %= len(self.samples)
        part = self.samples[self.position : self.position + len(outputs[0])]
        outputs[0][: len(part)] = part
        self.position += len(part)
        self.offered += len(part)
        return len(part) or -1  # -1: WORK_DONE


def run(sink, *blocks_before):
    """Run a chain of blocks that ends in the sink until the stream ends."""
    graph = gr.top_block()
    graph.connect(*blocks_before, sink)
    graph.start()
    wait(graph)


def wait(graph):
    """Wait for a flow graph to end; fail after BOUND."""
    waiter = threading.Thread(target=graph.wait, daemon=True)
    waiter.start()
    waiter.join(BOUND)
    assert not waiter.is_alive(), "the flow graph did not end"


def send(sock, samples, **options):
    """Send samples to a socket; returns the sink, for its counters."""
    sink = spead.sink(destination(sock), **options)
    run(sink, source(samples))
    return sink


class Running:
    """A flow graph of a source and a sink; it runs inside the `with` statement.

    samples: by default, a block of noise that repeats endlessly
    """

    def __init__(self, endpoints, samples=None, **options):
        self.sink = spead.sink(endpoints, **options)
        self.graph = gr.top_block()
        # An attribute, because the flow graph does not keep Python blocks alive.
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
    """Records messages. It needs a stream input to keep running."""

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
    """A flow graph that also records the stats messages of the sink."""

    def __init__(self, endpoints, samples=None, **options):
        super().__init__(endpoints, samples, **options)
        self.collector = Collector()
        clock = blocks.throttle(1, 1e6)
        self.graph.connect(blocks.null_source(1), clock, self.collector)
        self.graph.msg_connect(self.sink, "stats", self.collector, "in")

    @property
    def messages(self):
        return self.collector.messages


def balanced(stats):
    """Whether the sink counted each sample once: as sent, dropped or pending."""
    done = stats["samples_sent"] + stats["samples_dropped"]
    pending = stats["samples_pending"]
    return done <= stats["samples_in"] and done + pending == stats["samples_in"]


def post(sink, message, port="items"):
    """Post a message; converts Python values to PMTs."""
    if not isinstance(message, pmt.pmt_base):
        message = pmt.to_pmt(message)
    sink._post(pmt.intern(port), message)
