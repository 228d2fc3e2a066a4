# Copyright 2026 The gr-spead authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""The sink writes captures, which other programs and the source read."""

import os
import re
import resource
import shutil
import struct
import subprocess

import numpy as np
import pytest
import spead2.recv
from gnuradio import spead
from inputs import run_all
from places import NEEDS_LIBPCAP, eventually
from received_streams import Receiving
from receiving import ENDS
from refusals import in_a_process
from streams import Running, balanced, noise, run, source

UDP_HEADERS = 14 + 20 + 8  # bytes of Ethernet, IPv4 and UDP


def write(path, samples, **options):
    sink = spead.sink(str(path), **options)
    run(sink, source(samples))
    assert balanced(sink.stats())
    return sink


def spead2_samples(path, *filters):
    """The samples that spead2 reads, with a stream for each filter."""
    heaps = {}
    for filter in filters:
        stream = spead2.recv.Stream(spead2.ThreadPool())
        stream.add_udp_pcap_file_reader(str(path), filter)
        items = spead2.ItemGroup()
        for heap in stream:
            if items.update(heap):
                heaps[items["timestamp"].value] = np.array(items["adc_samples"].value)
    return np.concatenate([heaps[time] for time in sorted(heaps)])


def replay(endpoints, **options):
    with Receiving(endpoints, **options) as receiving:
        receiving.wait()
    return receiving


def tcpdump(path, *options):
    """A line for each packet."""
    if not shutil.which("tcpdump"):
        pytest.skip("needs tcpdump")
    command = ["tcpdump", "-nr", path, *options]
    return subprocess.run(
        command, capture_output=True, text=True, check=True
    ).stdout.splitlines()


@NEEDS_LIBPCAP
@pytest.mark.parametrize(
    ("destination", "hosts"),
    [
        ("", ["127.0.0.1"]),
        ("?10.0.0.1+3:7148", [f"10.0.0.{i}" for i in range(1, 5)]),
        ("?[ff15::1]:7148", []),  # spead2 reads captures of IPv4 only
        ("?[fd00::1]:1", []),
    ],
)
def test_written_captures_are_read(tmp_path, destination, hosts):
    samples = noise(1_000_001)
    path = tmp_path / "stream.pcap"
    sink = write(f"{path}{destination}", samples)
    if hosts:
        received = spead2_samples(path, *(f"dst host {host}" for host in hosts))
        np.testing.assert_array_equal(received, samples)
    replayed = replay(str(path))
    np.testing.assert_array_equal(replayed.samples(), samples)
    assert replayed.stats["samples_missing"] == 0
    assert replayed.stats["packets_received"] == sink.stats()["packets_sent"]


@pytest.mark.parametrize("destination", ["239.2.1.150", "10.1.2.3", "[ff15::1]"])
def test_tcpdump_finds_correct_headers(tmp_path, destination):
    path = tmp_path / "stream.pcap"
    sink = write(f"{path}?{destination}:7148", noise(100_003))
    lines = tcpdump(path, "-evv", "dst", "host", destination.strip("[]"))
    checked = [line for line in lines if "udp sum ok" in line]
    assert len(checked) == sink.stats()["packets_sent"]
    assert not any("bad" in line for line in lines)
    mac = {"239.2.1.150": "01:00:5e:02:01:96", "[ff15::1]": "33:33:00:00:00:01"}
    assert mac.get(destination, "02:00:00:00:00:02") in lines[0]


@NEEDS_LIBPCAP
def test_inputs_share_a_capture(tmp_path):
    samples = [noise(300_000, seed=i) for i in range(2)]
    path = tmp_path / "stream.pcap"
    addresses = ["239.2.1.150", "239.2.1.151"]
    sink = spead.sink([f"{path}?{address}:7148" for address in addresses], num_inputs=2)
    run_all(sink, *samples)
    replayed = replay(
        [f"{path}?dst host {address}" for address in addresses], num_outputs=2
    )
    for i in range(2):
        np.testing.assert_array_equal(replayed.samples(i), samples[i])
        received = spead2_samples(path, f"dst host {addresses[i]}")
        np.testing.assert_array_equal(received, samples[i])


def test_the_times_advance_at_the_rate(tmp_path):
    """A rate far above that of most disks, then one for which nobody would wait."""
    path = tmp_path / "stream.pcap"
    sink = spead.sink(str(path), rate=1e9, max_packet_size=1000)
    run(sink, source(noise(100_000)))
    sink.set_rate(1.0)
    run(sink, source(noise(10_000)))
    assert sink.rate() == 1.0
    lines = tcpdump(path, "--nano", "-tt")
    times = np.array([[int(n) for n in line.split()[0].split(".")] for line in lines])
    times = times[:, 0] * 10**9 + times[:, 1]
    sizes = np.array([int(line.split()[-1]) for line in lines])
    steps = np.diff(times)
    change = int(np.argmax(steps > 10**9))
    np.testing.assert_allclose(steps[:change], sizes[:change], atol=2)
    np.testing.assert_allclose(steps[change:], sizes[change:-1] * 1e9, atol=2)


@NEEDS_LIBPCAP
def test_replay_in_real_time_can_be_stopped(tmp_path):
    """A replay of 90 s, with a packet every 9 ms."""
    path = tmp_path / "stream.pcap"
    packets, samples = 10_000, 64
    options = {"heap_samples": samples, "rate": samples * packets / 48}
    write(path, noise(packets * samples), **options)
    with Receiving(str(path), realtime=True) as receiving:
        receiving.wait_for_samples(3 * samples)
        receiving.graph.stop()
        receiving.wait()
    assert receiving.stats["samples_received"] < packets * samples / 20


def packets_at(content):
    """The sizes of the complete packets in a capture, and where the last one ends."""
    sizes, end = [], 24  # bytes of the file header
    while end + 16 <= len(content):
        (size,) = struct.unpack_from("=I", content, end + 8)
        if end + 16 + size > len(content):
            break
        sizes.append(size - UDP_HEADERS)
        end += 16 + size
    return sizes, end


FRAME = 16 + UDP_HEADERS + 56 + 1000  # bytes of a heap of 1000 samples in a capture
HEAPS = 300


def fill_disk(path, limit):
    """Write a capture that exceeds the largest file size, in its own process."""
    resource.setrlimit(resource.RLIMIT_FSIZE, (limit, limit))
    options = {"heap_samples": 1000, "descriptors": "none"}
    stats = write(path, noise(HEAPS * 1000), **options).stats()
    content = path.read_bytes()
    sizes, end = packets_at(content)
    assert end == len(content), "the capture ends within a packet"
    assert stats["packets_sent"] == len(sizes)
    assert stats["bytes_sent"] == sum(sizes)
    assert stats["packets_dropped"] == HEAPS + ENDS - len(sizes)
    assert stats["heaps_sent"] == sizes.count(1056)


@pytest.mark.parametrize(
    "limit",
    [30, 65_536] + [24 + n * FRAME + excess for n in (1, HEAPS) for excess in (-1, 0)],
)
def test_the_counters_of_a_full_disk_match_the_file(tmp_path, limit):
    _, log = in_a_process(fill_disk, tmp_path / "stream.pcap", limit)
    assert log.count("sending failed: File too large") == 1
    assert re.search(r"\d+ packets were dropped", log)


def test_captures_that_cannot_be_written_are_refused(tmp_path):
    path = tmp_path / "stream.pcap"
    path.symlink_to("/dev/full")
    with pytest.raises(RuntimeError, match=r"destinations = .*No space left"):
        spead.sink(str(path))
    with pytest.raises(RuntimeError, match="No such file or directory"):
        spead.sink(str(tmp_path / "none" / "stream.pcap"))


@pytest.mark.parametrize(
    "name", ["stream.cap", "stream.pcapng", "stream.pcap.gz", "stream.pcap1", "stream"]
)
def test_the_error_gives_the_names_of_captures(tmp_path, name):
    """Also if the file exists: it is not replaced."""
    path = tmp_path / name
    allowed = re.escape('a capture to write: "FILE.pcap" or "FILE.pcap?host:port"')
    for destination in (path, f"{path}?10.0.0.1:7148"):
        with pytest.raises(ValueError, match=f"destinations = .*{name}.*{allowed}"):
            spead.sink(str(destination))
    path.touch()
    with pytest.raises(ValueError, match=allowed):
        spead.sink(str(path))


@pytest.fixture
def pipe(tmp_path):
    path = tmp_path / "pipe.pcap"
    os.mkfifo(path)
    return path


@pytest.mark.parametrize(
    ("when_full", "max_packet_size"), [("block", 1472), ("drop", 65_507)]
)
def test_a_stalled_reader_does_not_delay_the_end(
    tmp_path, pipe, capfd, when_full, max_packet_size
):
    """After two seconds. What the pipe holds counts as sent, the rest as dropped."""
    options = {"when_full": when_full, "max_packet_size": max_packet_size}
    reader = os.open(pipe, os.O_RDONLY | os.O_NONBLOCK)
    with Running(str(pipe), heap_samples=100_000, **options) as sink:
        eventually(lambda: sink.stats()["send_errors"].get("EAGAIN", 0) > 0)
    stats = sink.stats()
    assert balanced(stats)
    assert stats["samples_pending"] == 0
    assert stats["packets_dropped"] > 0
    assert "packets were dropped" in capfd.readouterr().out
    held = os.read(reader, 1 << 20)
    os.close(reader)
    assert len(packets_at(held)[0]) == stats["packets_sent"]


def test_without_a_reader_everything_is_dropped(pipe, capfd):
    with Running(str(pipe)) as sink:
        eventually(lambda: sink.samples_pending() > 0)
    stats = sink.stats()
    assert balanced(stats)
    assert stats["packets_sent"] == stats["samples_pending"] == 0
    assert stats["packets_dropped"] > 0
    assert "packets were dropped" in capfd.readouterr().out


def test_a_second_reader_gets_a_whole_capture(pipe, capfd):
    """What is sent while no program reads the pipe is dropped, counted and logged."""
    reader = os.open(pipe, os.O_RDONLY | os.O_NONBLOCK)
    with Running(str(pipe)) as sink:
        eventually(lambda: sink.packets_sent() > 0)
        os.close(reader)
        eventually(lambda: sink.packets_dropped() > 0)
        before = sink.packets_sent()
        reader = os.open(pipe, os.O_RDONLY | os.O_NONBLOCK)
        eventually(lambda: sink.packets_sent() > before)
    held = os.read(reader, 1 << 20)
    os.close(reader)
    assert len(packets_at(held)[0]) == sink.packets_sent() - before
    assert balanced(sink.stats())
    assert capfd.readouterr().out.count("sending failed: Broken pipe") == 1
