# Copyright 2026 The gr-spead authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""The source replays captures, as tcpdump writes them."""

import bz2
import gzip
import json
import lzma
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
)
from gnuradio import spead
from places import NEEDS_LIBPCAP, NEEDS_NAMESPACES, eventually
from received_streams import Receiving, joined, packets_by_heap
from streams import noise, run, source

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
        (ETHERNET, {"vlan": 5, "vlan_type": 0x9100}),
        (ETHERNET, IPV6),
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
    replay, recorder = replayed(str(path))
    np.testing.assert_array_equal(recorder.samples(), samples)
    assert replay.stats()["samples_missing"] == 0


def test_spead2_reads_the_captures_of_these_tests(tmp_path):
    packets = joined(packets_by_heap(noise(10_000)))
    path = capture(tmp_path / "stream.pcap", packets)
    stream = spead2.recv.Stream(spead2.ThreadPool())
    stream.add_udp_pcap_file_reader(str(path))
    assert len(list(stream)) == 10


def test_what_precedes_damage_is_received(tmp_path, capfd):
    """Of each capture"""
    samples = noise(100_000)
    for i in range(2):
        path = capture(tmp_path / f"{i}.pcap", joined(packets_by_heap(samples)))
        path.write_bytes(path.read_bytes()[: path.stat().st_size // 2])
    paths = [str(tmp_path / f"{i}.pcap") for i in range(2)]
    _, recorder = replayed(paths, num_outputs=2)
    log = capfd.readouterr().out
    for i in range(2):
        received = recorder.samples(i)
        assert 45_000 < len(received) < 50_000
        np.testing.assert_array_equal(received, samples[: len(received)])
        assert f"{i}.pcap: truncated dump file" in log
    assert "the rest of the file is ignored" in log


@pytest.mark.parametrize("name", ["stream.pcap", "stream.cap", "stream.pcap1"])
def test_files_that_do_not_exist_are_refused(tmp_path, monkeypatch, name):
    monkeypatch.chdir(tmp_path)
    for endpoint in (name, f"folder/{name}", "folder/stream", f"{name}?udp"):
        with pytest.raises(RuntimeError, match=r"endpoints = .*No such file"):
            spead.source(endpoint)


def test_the_error_names_captures(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    with pytest.raises(ValueError, match=r'"stream".*a capture to replay: "FILE"'):
        spead.source("stream")


@pytest.mark.parametrize(
    ("content", "reason"),
    [
        (b"\x01" * 100, "unknown file format"),
        (b"", "truncated dump file"),
        (gzip.compress(b"capture"), "it first, with .gzip -dk"),
        (lzma.compress(b"capture"), "it first, with .xz -dk"),
        (bz2.compress(b"capture"), "it first, with .bzip2 -dk"),
        (bytes.fromhex("28b52ffd") + bytes(100), "it first, with .zstd -dk"),
    ],
    ids=["other", "empty", "gzip", "xz", "bzip2", "zstd"],
)
def test_other_files_are_refused(tmp_path, content, reason):
    path = tmp_path / "stream"
    path.write_bytes(content)
    with pytest.raises(RuntimeError, match=f"spead.source: endpoints = .*{reason}"):
        spead.source(str(path))


@pytest.mark.parametrize(
    "name", ["stream", "stream.PCAP1", "1,5 GHz.pcap", "a,b,c", "a:1?b.pcap", "host:1"]
)
def test_any_file_may_be_a_capture(tmp_path, monkeypatch, name):
    samples = noise(10_000)
    capture(tmp_path / name, joined(packets_by_heap(samples)))
    monkeypatch.chdir(tmp_path)
    path = "./host:1" if name == "host:1" else name
    for endpoint in (path, f"{path}?udp port 7148", f" {tmp_path / name} "):
        _, recorder = replayed(endpoint)
        np.testing.assert_array_equal(recorder.samples(), samples)
    replay, _ = replayed(f"{path}?udp port 1")
    assert replay.stats()["packets_received"] == 0


@pytest.mark.parametrize("names", [("a", "b,c"), ("a,b", "c"), ("a,b", "a,c.pcap")])
def test_several_captures_may_have_commas_in_their_names(tmp_path, names):
    samples = noise(10_000)
    packets = joined(packets_by_heap(samples))
    paths = [capture(tmp_path / name, packets[i::2]) for i, name in enumerate(names)]
    _, recorder = replayed(f"{paths[0]}?udp,{paths[1]}")
    np.testing.assert_array_equal(recorder.samples(), samples)


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
@pytest.mark.parametrize("interface", ["lo", "any"], ids=["Ethernet", "cooked"])
def test_captures_of_tcpdump_are_replayed(tmp_path, interface):
    if not shutil.which("tcpdump"):
        pytest.skip("needs tcpdump")
    path = tmp_path / "stream.pcap"
    tcpdump = subprocess.Popen(
        ["tcpdump", "-Z", "root", "-U", "-i", interface, "-w", path, "udp port 7549"],
        stderr=subprocess.PIPE,
        text=True,
    )
    assert any("listening on" in line for line in tcpdump.stderr)
    samples = noise(100_000)
    sink = spead.sink("127.0.0.1:7549", rate=1e7)
    run(sink, source(samples))
    eventually(lambda: path.stat().st_size > sink.stats()["bytes_sent"])
    tcpdump.terminate()
    tcpdump.wait()
    _, recorder = replayed(str(path))
    np.testing.assert_array_equal(recorder.samples()[: len(samples)], samples)
