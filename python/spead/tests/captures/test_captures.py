# Copyright 2026 The gr-spead authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""The source replays captures, as tcpdump writes them."""

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
import spead2.recv
from capture_files import (
    COOKED,
    COOKED_2,
    ETHERNET,
    RAW_IP,
    capture,
    frame,
    ip_packets,
    udp,
    write_capture,
)
from gnuradio import blocks, gr, spead
from places import NEEDS_LIBPCAP, NEEDS_NAMESPACES, eventually
from received_streams import Receiving, joined, packets_by_heap
from streams import noise, wait

pytestmark = NEEDS_LIBPCAP
PROGRAM = Path(os.environ["GR_SPEAD_BUILD"]) / "spead-inspect"
IPV6 = {"source": "fd00::1", "destination": "fd00::2"}


def replayed(endpoints, **options):
    """The source and the recorder after a replay."""
    with Receiving(endpoints, **options) as receiving:
        receiving.wait()
    return receiving.source, receiving.recorder


@pytest.mark.parametrize(
    ("link_type", "options"),
    [
        (ETHERNET, {}),
        (ETHERNET, {"vlan": 5}),
        (ETHERNET, IPV6),
        (ETHERNET, {"mtu": 600}),
        (ETHERNET, IPV6 | {"mtu": 1280}),
        (COOKED, {}),
        (COOKED_2, {}),
        (RAW_IP, {}),
        (RAW_IP, IPV6),
    ],
    ids=str,
)
def test_captures_are_replayed(tmp_path, link_type, options):
    samples = noise(100_000)
    packets = joined(packets_by_heap(samples, heap=5000))
    path = capture(tmp_path / "stream.pcap", packets, link_type, **options)
    source, recorder = replayed(str(path))
    np.testing.assert_array_equal(recorder.samples(), samples)
    assert source.stats()["samples_missing"] == 0


def test_spead2_reads_the_captures_of_these_tests(tmp_path):
    packets = joined(packets_by_heap(noise(10_000)))
    path = capture(tmp_path / "stream.pcap", packets)
    stream = spead2.recv.Stream(spead2.ThreadPool())
    stream.add_udp_pcap_file_reader(str(path))
    assert len(list(stream)) == 10


def test_lost_samples_are_zeros_even_without_any_delay(tmp_path):
    """The time of the capture counts, not that of the replay."""
    samples = noise(1_000_000)
    packets = joined(packets_by_heap(samples))
    lost = range(100, 900, 50)
    kept = [p for i, p in enumerate(packets) if i not in lost]
    path = capture(tmp_path / "stream.pcap", kept)
    source, recorder = replayed(str(path))
    for i in lost:
        samples[1000 * i : 1000 * (i + 1)] = 0
    np.testing.assert_array_equal(recorder.samples(), samples)
    assert source.stats()["samples_missing"] == 1000 * len(lost)


def test_filters_select_destinations(tmp_path):
    samples = [noise(50_000), noise(50_000)[::-1]]
    frames = [
        frame(ETHERNET, packet)
        for datagrams in zip(
            *(joined(packets_by_heap(s)) for s in samples), strict=True
        )
        for i, payload in enumerate(datagrams)
        for packet in ip_packets(udp(payload, 5000, 7148), destination=f"239.1.1.{i}")
    ]
    path = write_capture(tmp_path / "stream.pcapng.pcap", frames)
    endpoints = [f"{path}?dst host 239.1.1.{i}" for i in range(2)]
    _, recorder = replayed(endpoints, num_outputs=2)
    for i in range(2):
        np.testing.assert_array_equal(recorder.samples(i), samples[i])


def test_what_precedes_damage_is_received(tmp_path, capfd):
    samples = noise(100_000)
    path = capture(tmp_path / "stream.pcap", joined(packets_by_heap(samples)))
    content = path.read_bytes()
    path.write_bytes(content[: len(content) // 2])
    _, recorder = replayed(str(path))
    received = recorder.samples()
    assert 45_000 < len(received) < 50_000
    np.testing.assert_array_equal(received, samples[: len(received)])
    assert "is damaged: its end is ignored" in capfd.readouterr().out


@pytest.mark.parametrize(
    ("content", "reason"),
    [(None, "No such file"), (b"\x01" * 100, "unknown file format")],
)
def test_other_files_are_refused(tmp_path, content, reason):
    path = tmp_path / "stream.pcap"
    if content:
        path.write_bytes(content)
    with pytest.raises(RuntimeError, match=f"spead.source: endpoints = .*{reason}"):
        spead.source(str(path))


def test_cut_frames_are_skipped(tmp_path):
    whole = [
        frame(ETHERNET, packet, vlan=5)
        for addresses in ({}, IPV6)
        for packet in ip_packets(udp(b"x" * 3000, 1, 2), mtu=1500, **addresses)
    ]
    frames = [each[:size] for each in whole for size in range(120)]
    source, recorder = replayed(str(write_capture(tmp_path / "stream.pcap", frames)))
    assert len(recorder.samples()) == 0
    assert source.stats()["packets_received"] == 0


def test_captures_are_inspected(tmp_path):
    path = capture(tmp_path / "stream.pcap", joined(packets_by_heap(noise(10_000))))
    program = subprocess.run(
        [sys.executable, PROGRAM, path, "--json"], capture_output=True, check=True
    )
    report = json.loads(program.stdout)
    assert report["streams"][0]["heaps"] == 10
    assert str(path) in report["call"]
    assert report["destinations"] == ["10.0.0.2:7148"]


def test_captures_and_addresses_do_not_mix(tmp_path):
    path = capture(tmp_path / "stream.pcap", [b""])
    with pytest.raises(ValueError, match="captures only, or addresses only"):
        spead.source(f"127.0.0.1:0,{path}")


@NEEDS_NAMESPACES
@pytest.mark.parametrize("format", ["pcap", "any"])
def test_captures_of_tcpdump_are_replayed(tmp_path, format):
    """Ethernet from the loopback interface, or Linux cooked from all interfaces."""
    if not shutil.which("tcpdump"):
        pytest.skip("needs tcpdump")
    path = tmp_path / "stream.pcap"
    interface = "lo" if format == "pcap" else "any"
    tcpdump = subprocess.Popen(
        ["tcpdump", "-Z", "root", "-U", "-i", interface, "-w", path, "udp port 7549"],
        stderr=subprocess.PIPE,
        text=True,
    )
    assert any("listening on" in line for line in tcpdump.stderr)
    samples = noise(100_000)
    sink = spead.sink("127.0.0.1:7549", rate=1e7)
    graph = gr.top_block()
    graph.connect(blocks.vector_source_b(samples.view(np.uint8).tolist()), sink)
    graph.start()
    wait(graph)
    size = sum(sink.stats()[name] for name in ("bytes_sent",))
    eventually(lambda: path.stat().st_size > size)
    tcpdump.terminate()
    tcpdump.wait()
    _, recorder = replayed(str(path))
    np.testing.assert_array_equal(recorder.samples()[: len(samples)], samples)
