# Copyright 2026 The gr-spead authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""The source replays captures while another program writes them to a named pipe."""

import gc
import gzip
import os
import threading

import numpy as np
import pytest
from capture_files import ETHERNET, capture, frame, ip_packets, pcapng, udp
from gnuradio import blocks, gr, spead
from places import BOUND, NEEDS_LIBPCAP
from received_streams import Receiving, joined, packets_by_heap
from streams import noise, run, source, wait

pytestmark = NEEDS_LIBPCAP
SAMPLES = noise(300_000)


@pytest.fixture
def pipe(tmp_path):
    path = tmp_path / "pipe"
    os.mkfifo(path)
    return path


@pytest.fixture(scope="module")
def contents(tmp_path_factory):
    """The same capture in several formats."""
    datagrams = joined(packets_by_heap(SAMPLES, heap=5000))
    path = capture(tmp_path_factory.mktemp("captures") / "stream.pcap", datagrams)
    frames = [
        frame(ETHERNET, packet)
        for datagram in datagrams
        for packet in ip_packets(udp(datagram, 5000, 7148))
    ]
    return {
        "pcap": path.read_bytes(),
        "pcapng": pcapng(frames),
        "big-endian pcapng": pcapng(frames, ">"),
    }


@pytest.mark.parametrize(
    ("format", "piece", "writer_comes_first"),
    [
        ("pcap", 1000, True),
        ("pcap", 1 << 20, False),
        ("pcapng", 1000, False),
        ("big-endian pcapng", 1 << 20, True),
    ],
)
def test_pipes_are_replayed(pipe, contents, format, piece, writer_comes_first):
    content = contents[format]

    def write():
        with pipe.open("wb", buffering=0) as file:
            for begin in range(0, len(content), piece):
                file.write(content[begin : begin + piece])

    writer = threading.Thread(target=write)
    if writer_comes_first:
        writer.start()
    with Receiving(f"{pipe}?udp port 7148") as receiving:
        if not writer_comes_first:
            writer.start()
        receiving.wait()
    writer.join(BOUND)
    np.testing.assert_array_equal(receiving.samples(), SAMPLES)
    assert receiving.stats["samples_missing"] == 0


@pytest.mark.parametrize("format", ["pcap", "pcapng"])
def test_the_source_can_be_stopped_while_the_writer_stalls(pipe, contents, format):
    """It stalls within a packet; the samples before are received."""
    with Receiving(str(pipe)) as receiving, pipe.open("wb", buffering=0) as file:
        file.write(contents[format][:30_000])
        receiving.wait_for_samples(25_000)
        receiving.graph.stop()
        receiving.wait()
    np.testing.assert_array_equal(receiving.samples()[:25_000], SAMPLES[:25_000])


def test_a_wrong_time_in_a_pipe_has_no_effect(pipe, tmp_path):
    """The packet that proves it wrong arrives later."""
    packets = joined(packets_by_heap(SAMPLES, heap=5000))
    times = [0.001 * i for i in range(len(packets))]
    times[50] += 3600
    path = capture(tmp_path / "stream.pcap", packets, times=times)
    content = path.read_bytes()
    end = 24 + sum(16 + 42 + len(packet) for packet in packets[:51])
    with Receiving(str(pipe), realtime=True) as receiving:
        with pipe.open("wb", buffering=0) as file:
            file.write(content[:end])
            receiving.wait_for_samples(40_000)
            file.write(content[end:])
        receiving.wait()
    np.testing.assert_array_equal(receiving.samples(), SAMPLES)


def test_a_block_downstream_may_end_while_the_writer_stalls(pipe, contents):
    graph = gr.top_block()
    graph.connect(spead.source(str(pipe)), blocks.head(1, 5000), blocks.null_sink(1))
    graph.start()
    with pipe.open("wb", buffering=0) as file:
        file.write(contents["pcap"][:30_000])
        wait(graph)


def test_without_a_writer_the_source_can_be_stopped(pipe):
    with Receiving(str(pipe)) as receiving:
        pass
    assert len(receiving.samples()) == 0


def test_packets_of_two_pipes_are_read_in_order_of_time(tmp_path):
    """A packet waits for earlier ones in the other pipe."""
    pipes = [tmp_path / name for name in ("first", "second")]
    packets = joined(packets_by_heap(SAMPLES, heap=1000))
    halves = [
        capture(tmp_path / f"{i}.pcap", packets[i::2]).read_bytes() for i in range(2)
    ]
    for path in pipes:
        os.mkfifo(path)
    with Receiving(",".join(map(str, pipes)), max_delay=0) as receiving:
        with (
            pipes[0].open("wb", buffering=0) as late,
            pipes[1].open("wb", buffering=0) as early,
        ):
            writer = threading.Thread(target=early.write, args=[halves[1]])
            writer.start()
            late.write(halves[0])
            writer.join(BOUND)
        receiving.wait()
    np.testing.assert_array_equal(receiving.samples(), SAMPLES)
    assert receiving.stats["samples_missing"] == 0


@pytest.mark.parametrize(
    ("content", "reason"),
    [
        (b"", "truncated dump file"),
        (b"\x01" * 100, "unknown file format"),
        (gzip.compress(bytes(range(256))), 'decompress it first, with "gzip -dk'),
    ],
    ids=["empty", "other", "gzip"],
)
def test_a_pipe_without_a_capture_is_logged(pipe, capfd, content, reason):
    with Receiving(str(pipe)) as receiving:
        pipe.write_bytes(content)
        receiving.wait()
    assert reason in capfd.readouterr().out


def test_a_sink_writes_to_the_pipe_of_a_source(tmp_path):
    pipe = tmp_path / "pipe.pcap"
    os.mkfifo(pipe)

    def send():
        sink = spead.sink(str(pipe))
        run(sink, source(SAMPLES))
        return sink.packets_dropped()

    with Receiving(str(pipe)) as receiving:
        assert send() == 0
        gc.collect()  # closes the pipe
        receiving.wait()
    np.testing.assert_array_equal(receiving.samples(), SAMPLES)
