# Copyright 2026 The gr-spead authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Start and end of streams, and flow graphs that stall or stop meanwhile."""

import itertools
import socket
import threading
import time

import numpy as np
from crafted_packets import data_heap, end_of_stream
from gnuradio import blocks, gr, spead
from places import BOUND, eventually
from received_streams import (
    Receiving,
    Recorder,
    check_whole,
    joined,
    packets_by_heap,
)
from streams import Running, noise, run, source, wait

HEAP = 1000
ITEMS = [spead.timestamp(), spead.samples()]


def test_packets_that_arrive_before_the_flow_graph_starts_are_received(capfd):
    samples = noise(20 * HEAP)
    receiving = Receiving()
    for packet in joined(packets_by_heap(samples)):
        receiving.socket.sendto(packet, ("127.0.0.1", receiving.port))
    with receiving:
        receiving.wait()
    check_whole(receiving, samples)
    assert "the stream has ended: an end-of-stream heap" in capfd.readouterr().out


def test_timeout_ends_the_stream(capfd):
    """The source uses no CPU while it waits."""
    samples = noise(5 * HEAP)
    with Receiving(timeout=2) as receiving:
        receiving.send_packets(joined(packets_by_heap(samples)[:-1]))
        used = time.process_time()
        receiving.wait()
        used = time.process_time() - used
    check_whole(receiving, samples)
    assert used < 0.5  # seconds of CPU time
    assert "the stream has ended: no packets" in capfd.readouterr().out


def test_the_end_of_stream_heap_may_be_ignored():
    samples = noise(20 * HEAP)
    before, after = np.split(samples, 2)
    with Receiving(end_on_stop=False) as receiving:
        receiving.send_packets(joined(packets_by_heap(before)))
        receiving.send_packets(joined(packets_by_heap(after, first=10 * HEAP)))
        receiving.wait_for_samples(len(samples))
    np.testing.assert_array_equal(receiving.samples(), samples)


class Gate(gr.sync_block):
    """Lets samples pass while it is open."""

    def __init__(self):
        gr.sync_block.__init__(self, "gate", [np.int8], [np.int8])
        self.open = threading.Event()

    def work(self, inputs, outputs):
        if not self.open.wait(0.01):
            return 0
        outputs[0][:] = inputs[0][: len(outputs[0])]
        return len(outputs[0])


def received_by_stalled(samples, rate, **options):
    """Send samples to a stalled flow graph; return its source and recorder.

    The flow graph resumes during a later stream and ends with it: a full socket buffer
    may take the small end-of-stream heap, though not the large datagrams before it.
    """
    receiver = spead.source("127.0.0.1:0", buffer_size=262144, items=ITEMS, **options)
    gate, recorder = Gate(), Recorder()
    graph = gr.top_block()
    graph.connect(receiver, gate, recorder)
    graph.start()
    endpoint = f"127.0.0.1:{receiver.ports()[0]}"
    run(spead.sink(endpoint, HEAP, rate=rate, send_stop=False), source(samples))
    with Running(endpoint, heap_samples=HEAP, timestamp_start=len(samples), rate=1e6):
        gate.open.set()
        eventually(lambda: receiver.stats()["samples_out"] > len(samples))
    wait(graph)
    return receiver, recorder


def test_a_stalled_flow_graph_loses_what_the_kernel_drops():
    """The kernel drops packets when its buffer is full; the others are placed."""
    samples = noise(40 * 10**6)
    receiver, recorder = received_by_stalled(samples, 200e6, max_gap=2**32)
    stats = receiver.stats()
    got = recorder.samples()
    assert stats["datagrams_dropped_by_socket"] > 0
    assert stats["samples_missing"] > 0
    assert len(got) == stats["samples_out"]
    later = np.resize(noise(100000), len(got) - len(samples))  # sent by Running
    sent = np.concatenate([samples, later])
    for begin, key, n in recorder.tags[0]:
        if key == "missing":
            sent[begin : begin + n] = 0
    np.testing.assert_array_equal(got, sent)


def test_timeout_does_not_elapse_while_the_flow_graph_is_stalled():
    """The buffers are full for most of three seconds."""
    samples = noise(12 * 10**6)
    _, recorder = received_by_stalled(samples, 4e6, timeout=2)
    assert len(recorder.samples()) > len(samples)


def test_a_slow_flow_graph_ends_with_the_stream_while_packets_keep_arriving():
    small = {"buffer_size": 262144, "on_missing": "skip"}
    receiver = spead.source("127.0.0.1:0", items=ITEMS, **small)
    graph = gr.top_block()
    graph.connect(receiver, blocks.throttle(1, 8e6), blocks.null_sink(1))
    graph.start()
    waiting = threading.Thread(target=wait, args=[graph], daemon=True)
    waiting.start()
    part = noise(HEAP)
    deadline = time.monotonic() + BOUND
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as sock:
        address = ("127.0.0.1", receiver.ports()[0])
        is_full = False
        for i in itertools.count():
            if not waiting.is_alive():
                break
            assert time.monotonic() < deadline, "the flow graph did not end"
            sock.sendto(data_heap(i, HEAP * i, part), address)
            if i % 1000 == 0:
                is_full |= receiver.stats()["datagrams_dropped_by_socket"] > 0
            if is_full and i % 10 == 0:  # one of them fits into the socket buffer
                sock.sendto(end_of_stream(2**20 + i), address)


def test_a_flood_of_packets_does_not_delay_stop():
    """Packets of another stream arrive as fast as the host can send them."""
    other = [spead.timestamp(0x1700), spead.samples(0x3400)]
    with (
        Receiving(items=other) as receiving,
        Running(f"127.0.0.1:{receiving.port}"),
    ):
        eventually(lambda: receiving.stats["packets_ignored"] > 10000)
        receiving.graph.stop()
        wait(receiving.graph)


def test_the_sink_understands_rx_time_of_the_source():
    """The sink sends the same timestamps and samples, with the same gap."""
    samples = noise(40 * HEAP)
    clock = {"sample_rate": (10**9, 7), "sync_time": "1600000000.123456789"}
    first = 10**12
    heaps = packets_by_heap(samples, first=first, bits=48)
    del heaps[10:15]
    near, far = Receiving(on_missing="skip", **clock), Receiving()
    endpoint = f"127.0.0.1:{far.port}"
    sink = spead.sink(endpoint, HEAP, heap_address_bits=48, **clock)
    near.graph.connect(near.source, sink)
    with far, near:
        for packets in heaps:
            near.send_packets(packets)
        near.wait()
        far.wait()
    samples[10 * HEAP : 15 * HEAP] = 0
    np.testing.assert_array_equal(far.samples(), samples)
    assert far.tags("timestamp") == [(0, first)]
    assert far.stats["samples_missing"] == 5 * HEAP
