# Copyright 2026 The gr-spead authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""How streams begin and end, and what a flow graph may do meanwhile."""

import itertools
import socket
import threading
import time

import numpy as np
import pytest
from crafted_packets import data_heap, end_of_stream
from gnuradio import blocks, gr, spead
from places import BOUND, eventually
from received_streams import Receiving, Recorder, joined, spead2_heaps, spead2_packets
from streams import Running, noise, run, source, wait

ITEMS = [spead.timestamp(), spead.samples()]


def packets_of(samples, **options):
    return joined(spead2_packets(spead2_heaps(samples, 1000, **options))[:-1])


def test_packets_that_come_before_the_flow_graph_starts():
    samples = noise(20 * 1000)
    receiving = Receiving()
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as sock:
        for packet in joined(spead2_packets(spead2_heaps(samples, 1000))):
            sock.sendto(packet, ("127.0.0.1", receiving.port))
    with receiving:
        receiving.wait()
    np.testing.assert_array_equal(receiving.samples(), samples)


def test_timeout_ends_the_stream():
    samples = noise(5 * 1000)
    with Receiving(timeout=2) as receiving:
        receiving.send_packets(packets_of(samples))
        receiving.wait()
    np.testing.assert_array_equal(receiving.samples(), samples)


def test_a_source_that_waits_for_packets_needs_no_cpu():
    with Receiving(timeout=2) as receiving:
        receiving.send_packets(packets_of(noise(5 * 1000)))
        used = time.process_time()
        receiving.wait()
        used = time.process_time() - used
    assert used < 0.5  # of a second


def test_stop_without_packets():
    with Receiving() as receiving:
        pass
    assert len(receiving.samples()) == 0


def test_the_end_of_stream_heap_may_be_ignored():
    samples = noise(20 * 1000)
    with Receiving(end_on_stop=False, timeout=2) as receiving:
        receiving.send_heaps(spead2_heaps(samples[:10000], 1000))
        receiving.send_heaps(spead2_heaps(samples[10000:], 1000, first=10000))
        receiving.wait()
    np.testing.assert_array_equal(receiving.samples(), samples)


def test_the_flow_graph_starts_again():
    receiving = Receiving(end_on_stop=False)
    samples = noise(20 * 1000)
    port = receiving.port
    for begin, end in ((0, 10000), (10000, 20000)):
        with receiving:
            receiving.send_packets(packets_of(samples[begin:end]))
            eventually(lambda n=end: len(receiving.samples()) == n)
        assert receiving.port == port
    np.testing.assert_array_equal(receiving.samples(), samples)
    assert receiving.stats["samples_out"] == 20000


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


def start_halted(**options):
    """A flow graph of a source that stands still until its gate is opened."""
    receiver = spead.source("127.0.0.1:0", buffer_size=262144, items=ITEMS, **options)
    gate, recorder = Gate(), Recorder()
    graph = gr.top_block()
    graph.connect(receiver, gate, recorder)
    graph.start()
    return graph, receiver, gate, recorder


def go_on(graph, receiver, gate, sent):
    """Open the gate in the middle of a stream, and end it later.

    A small end-of-stream heap that is sent before the gate opens may find room where
    the large datagrams of a stream find none: the flow graph would end there.
    """
    to = f"127.0.0.1:{receiver.ports()[0]}"
    with Running(to, heap_samples=1000, timestamp_start=sent, rate=1e6):
        gate.open.set()
        eventually(lambda: receiver.stats()["samples_out"] > sent)
    wait(graph)


def test_a_flow_graph_that_halts():
    """The kernel drops what fits into no buffer; the rest stays in its place."""
    samples = noise(40 * 10**6)
    graph, receiver, gate, recorder = start_halted(max_gap=2**32)
    fast = {"rate": 200e6, "send_stop": False}
    to = f"127.0.0.1:{receiver.ports()[0]}"
    run(spead.sink(to, 1000, **fast), source(samples))
    go_on(graph, receiver, gate, len(samples))
    stats = receiver.stats()
    got = recorder.samples()
    assert stats["datagrams_dropped_by_socket"] > 0
    assert stats["samples_missing"] > 0
    assert stats["samples_out"] == stats["samples_received"] + stats["samples_missing"]
    assert len(got) == stats["samples_out"]
    later = np.resize(noise(100000), len(got) - len(samples))  # of Running
    sent = np.concatenate([samples, later])
    for at, n in [(at, n) for at, key, n in recorder.tags[0] if key == "missing"]:
        assert not got[at : at + n].any()
        sent[at : at + n] = 0
    np.testing.assert_array_equal(got, sent)


def test_a_flow_graph_that_halts_is_no_silence():
    """For most of three seconds the buffers are full; the stream does not end."""
    samples = noise(12 * 10**6)
    graph, receiver, gate, recorder = start_halted(timeout=2)
    to = f"127.0.0.1:{receiver.ports()[0]}"
    run(spead.sink(to, 1000, rate=4e6, send_stop=False), source(samples))
    go_on(graph, receiver, gate, len(samples))
    assert len(recorder.samples()) > len(samples)


def test_a_heap_is_complete_though_the_flow_graph_halts_within_it():
    """Only its first packet has the items, and its last ones wait in the socket."""
    samples = noise(350000)
    *packets, _ = joined(spead2_packets(spead2_heaps(samples, len(samples)), 8972))
    graph, receiver, gate, recorder = start_halted()
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as sock:
        to = ("127.0.0.1", receiver.ports()[0])
        for packet in packets:
            sock.sendto(packet, to)
        time.sleep(1.5)  # the halt
        gate.open.set()
        eventually(lambda: receiver.stats()["samples_out"] == len(samples))
        sock.sendto(end_of_stream(2**20), to)
        wait(graph)
    np.testing.assert_array_equal(recorder.samples(), samples)
    assert receiver.stats()["heaps_received"] == 1


def test_the_end_of_a_stream_ends_a_slow_flow_graph_though_packets_keep_coming():
    small = {"buffer_size": 262144, "on_missing": "skip"}
    receiver = spead.source("127.0.0.1:0", items=ITEMS, **small)
    graph = gr.top_block()
    graph.connect(receiver, blocks.throttle(1, 4e6), blocks.null_sink(1))
    graph.start()
    waiting = threading.Thread(target=wait, args=[graph], daemon=True)
    waiting.start()
    part = noise(1000)
    deadline = time.monotonic() + BOUND
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as sock:
        to = ("127.0.0.1", receiver.ports()[0])
        is_full = False
        for i in itertools.count():
            if not waiting.is_alive():
                break
            assert time.monotonic() < deadline, "the flow graph did not end"
            sock.sendto(data_heap(i, 1000 * i, part), to)
            if i % 1000 == 0:
                is_full |= receiver.stats()["datagrams_dropped_by_socket"] > 0
                if is_full:
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
    packets = spead2_packets(spead2_heaps(samples, len(samples)), 8972)
    with Receiving() as receiving:
        receiving.send_packets(packets[0][:20])
        eventually(lambda: len(receiving.samples()) > 100000)
        receiving.send_packets(packets[0][20:200])
        eventually(lambda: len(receiving.samples()) > 1000000)
    got = receiving.samples()
    np.testing.assert_array_equal(got, samples[: len(got)])


@pytest.mark.parametrize("seed", range(3))
def test_random_datagrams_harm_nothing(seed):
    random = np.random.default_rng(seed)
    samples = noise(40 * 1000)
    good = packets_of(samples)
    bad = []
    for _ in range(500):
        packet = bytearray(good[random.integers(len(good))])
        for _ in range(random.integers(1, 4)):
            packet[random.integers(min(len(packet), 80))] = random.integers(256)
        bad.append(bytes(packet[: random.integers(len(packet) + 1)]))
    with Receiving(items=ITEMS, end_on_stop=False) as receiving:
        receiving.send_packets(bad)
        stats = receiving.stats
        assert (
            stats["samples_out"] == stats["samples_received"] + stats["samples_missing"]
        )
        eventually(receiving.balanced)


def test_rx_time_of_the_source_is_understood_by_the_sink():
    """The same timestamps and samples, as they came in, with a gap."""
    samples = noise(40 * 1000)
    rate, sync = (10**9, 7), "1600000000.123456789"
    first = 10**12
    heaps = spead2_packets(spead2_heaps(samples, 1000, first=first, bits=48), 1472)
    far = Receiving()
    near = spead.source(
        "127.0.0.1:0", on_missing="skip", sample_rate=rate, sync_time=sync
    )
    sink = spead.sink(
        f"127.0.0.1:{far.port}",
        1000,
        heap_address_bits=48,
        sample_rate=rate,
        sync_time=sync,
    )
    graph = gr.top_block()
    graph.connect(near, sink)
    with far, socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as sock:
        graph.start()
        packets = joined(heaps[:10] + heaps[15:])
        for begin in range(0, len(packets), 20):
            send(sock, near, packets[begin : begin + 20])
        wait(graph)
        far.wait()
    expected = samples.copy()
    expected[10000:15000] = 0
    np.testing.assert_array_equal(far.samples(), expected)
    assert far.tags("timestamp") == [(0, first)]
    assert far.stats["samples_missing"] == 5000


def send(sock, receiver, packets):
    before = receiver.stats()["packets_received"]
    for packet in packets:
        sock.sendto(packet, ("127.0.0.1", receiver.ports()[0]))
    eventually(lambda: receiver.stats()["packets_received"] == before + len(packets))
