# Copyright 2026 The gr-spead authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""How streams begin and end, and flow graphs that halt or stop meanwhile."""

import itertools
import socket
import threading
import time

import numpy as np
import pytest
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


def test_packets_that_arrive_before_the_flow_graph_starts():
    samples = noise(20 * HEAP)
    receiving = Receiving()
    for packet in joined(packets_by_heap(samples)):
        receiving.socket.sendto(packet, ("127.0.0.1", receiving.port))
    with receiving:
        receiving.wait()
    check_whole(receiving, samples)


def test_timeout_ends_the_stream():
    """A source that waits needs no CPU."""
    samples = noise(5 * HEAP)
    with Receiving(timeout=2) as receiving:
        receiving.send_packets(joined(packets_by_heap(samples)[:-1]))
        used = time.process_time()
        receiving.wait()
        used = time.process_time() - used
    check_whole(receiving, samples)
    assert used < 0.5  # of a second


def test_the_end_of_stream_heap_may_be_ignored():
    samples = noise(20 * HEAP)
    before, after = np.split(samples, 2)
    with Receiving(end_on_stop=False) as receiving:
        receiving.send_packets(joined(packets_by_heap(before)))
        receiving.send_packets(joined(packets_by_heap(after, first=10 * HEAP)))
        receiving.wait_for_samples(len(samples))
    np.testing.assert_array_equal(receiving.samples(), samples)


def test_the_flow_graph_starts_again():
    receiving = Receiving(end_on_stop=False)
    samples = noise(20 * HEAP)
    port = receiving.port
    for i, part in enumerate(np.split(samples, 2), 1):
        with receiving:
            receiving.send_packets(joined(packets_by_heap(part)[:-1]))
            receiving.wait_for_samples(i * 10 * HEAP)
        assert receiving.port == port
    np.testing.assert_array_equal(receiving.samples(), samples)
    assert receiving.stats["samples_out"] == len(samples)


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


def received_by_halted(samples, rate, **options):
    """The source and recorder of a flow graph that halts while these are sent.

    Goes on during a later stream, and ends with that: a small end-of-stream heap may
    find room in a full socket that has no room for the large datagrams before it.
    """
    receiver = spead.source("127.0.0.1:0", buffer_size=262144, items=ITEMS, **options)
    gate, recorder = Gate(), Recorder()
    graph = gr.top_block()
    graph.connect(receiver, gate, recorder)
    graph.start()
    to = f"127.0.0.1:{receiver.ports()[0]}"
    run(spead.sink(to, HEAP, rate=rate, send_stop=False), source(samples))
    with Running(to, heap_samples=HEAP, timestamp_start=len(samples), rate=1e6):
        gate.open.set()
        eventually(lambda: receiver.stats()["samples_out"] > len(samples))
    wait(graph)
    return receiver, recorder


def test_a_flow_graph_that_halts():
    """The kernel drops packets for which no buffer has room; the others are placed."""
    samples = noise(40 * 10**6)
    receiver, recorder = received_by_halted(samples, 200e6, max_gap=2**32)
    stats = receiver.stats()
    got = recorder.samples()
    assert stats["datagrams_dropped_by_socket"] > 0
    assert stats["samples_missing"] > 0
    assert len(got) == stats["samples_out"]
    later = np.resize(noise(100000), len(got) - len(samples))  # of Running
    sent = np.concatenate([samples, later])
    for at, key, n in recorder.tags[0]:
        if key == "missing":
            sent[at : at + n] = 0
    np.testing.assert_array_equal(got, sent)


def test_a_flow_graph_that_halts_is_no_silence():
    """For most of three seconds the buffers are full; the timeout does not elapse."""
    samples = noise(12 * 10**6)
    _, recorder = received_by_halted(samples, 4e6, timeout=2)
    assert len(recorder.samples()) > len(samples)


def test_a_slow_flow_graph_ends_with_the_stream_while_packets_keep_coming():
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
        to = ("127.0.0.1", receiver.ports()[0])
        is_full = False
        for i in itertools.count():
            if not waiting.is_alive():
                break
            assert time.monotonic() < deadline, "the flow graph did not end"
            sock.sendto(data_heap(i, HEAP * i, part), to)
            if i % 1000 == 0:
                is_full |= receiver.stats()["datagrams_dropped_by_socket"] > 0
            if is_full and i % 10 == 0:  # one of them finds room
                sock.sendto(end_of_stream(2**20 + i), to)


def test_a_flood_of_packets_does_not_hold_up_the_stop():
    """Packets of another stream, as fast as the host can."""
    other = [spead.timestamp(0x1700), spead.samples(0x3400)]
    with (
        Receiving(items=other) as receiving,
        Running(f"127.0.0.1:{receiving.port}"),
    ):
        eventually(lambda: receiving.stats["packets_ignored"] > 10000)
        receiving.graph.stop()
        wait(receiving.graph)


def test_the_first_samples_of_a_large_heap_come_at_once():
    samples = noise(64 * 2**20)
    packets = packets_by_heap(samples, len(samples), packet_size=8972)[0]
    with Receiving() as receiving:
        receiving.send_packets(packets[:20])
        receiving.wait_for_samples(100_000)
        receiving.send_packets(packets[20:200])
        receiving.wait_for_samples(1_000_000)
    got = receiving.samples()
    np.testing.assert_array_equal(got, samples[: len(got)])


@pytest.mark.parametrize("seed", range(3))
def test_random_datagrams_do_no_harm(seed):
    random = np.random.default_rng(seed)
    good = joined(packets_by_heap(noise(40 * HEAP)))
    bad = []
    for _ in range(500):
        packet = bytearray(good[random.integers(len(good))])
        for _ in range(random.integers(1, 4)):
            packet[random.integers(min(len(packet), 80))] = random.integers(256)
        bad.append(bytes(packet[: random.integers(len(packet) + 1)]))
    with Receiving(items=ITEMS, end_on_stop=False) as receiving:
        receiving.send_packets(bad)
        eventually(receiving.balanced)


def test_the_sink_understands_rx_time_of_the_source():
    """It sends the same timestamps and samples, with the same gap."""
    samples = noise(40 * HEAP)
    clock = {"sample_rate": (10**9, 7), "sync_time": "1600000000.123456789"}
    first = 10**12
    heaps = packets_by_heap(samples, first=first, bits=48)
    del heaps[10:15]
    near, far = Receiving(on_missing="skip", **clock), Receiving()
    to = f"127.0.0.1:{far.port}"
    sink = spead.sink(to, HEAP, heap_address_bits=48, **clock)
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
