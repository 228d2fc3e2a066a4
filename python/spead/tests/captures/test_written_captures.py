# Copyright 2026 The gr-spead authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""The sink writes captures, which other programs and the source read."""

import shutil
import subprocess
import time

import numpy as np
import pytest
import spead2.recv
from gnuradio import spead
from inputs import run_all
from places import NEEDS_LIBPCAP
from received_streams import Receiving
from streams import balanced, noise, run, source


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
        read = spead2_samples(path, *(f"dst host {each}" for each in hosts))
        np.testing.assert_array_equal(read, samples)
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
    sink = spead.sink([f"{path}?{to}:7148" for to in addresses], num_inputs=2)
    run_all(sink, *samples)
    replayed = replay([f"{path}?dst host {to}" for to in addresses], num_outputs=2)
    for i in range(2):
        np.testing.assert_array_equal(replayed.samples(i), samples[i])
        read = spead2_samples(path, f"dst host {addresses[i]}")
        np.testing.assert_array_equal(read, samples[i])


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
def test_replay_in_real_time(tmp_path):
    """Nothing is received before its time in the capture."""
    path = tmp_path / "stream.pcap"
    samples = noise(100_000)
    write(path, samples, rate=1e6)
    begin = time.monotonic()
    replayed = replay(str(path), realtime=True)
    assert time.monotonic() - begin >= 0.1
    np.testing.assert_array_equal(replayed.samples(), samples)


@NEEDS_LIBPCAP
def test_replay_in_real_time_can_be_stopped(tmp_path):
    """A replay of 90 s, with a packet every 9 ms."""
    path = tmp_path / "stream.pcap"
    packets, samples = 10_000, 64
    write(
        path,
        noise(packets * samples),
        heap_samples=samples,
        rate=samples * packets / 48,
    )
    with Receiving(str(path), realtime=True) as receiving:
        receiving.wait_for_samples(3 * samples)
        receiving.graph.stop()
        receiving.wait()
    assert receiving.stats["samples_received"] < packets * samples / 20


def test_a_full_disk_is_counted_and_logged(tmp_path, capfd):
    path = tmp_path / "stream.pcap"
    path.symlink_to("/dev/full")
    stats = write(path, noise(10_000_000)).stats()
    assert stats["packets_dropped"] > 0
    assert stats["send_errors"]["ENOSPC"] > 0
    assert "No space left on device" in capfd.readouterr().out


def test_a_full_disk_at_the_end_is_logged(tmp_path, capfd):
    path = tmp_path / "stream.pcap"
    path.symlink_to("/dev/full")
    write(path, noise(100))
    assert "the end of the capture is missing: No space left" in capfd.readouterr().out


def test_captures_that_cannot_be_created_are_refused(tmp_path):
    with pytest.raises(RuntimeError, match="No such file or directory"):
        spead.sink(str(tmp_path / "none" / "stream.pcap"))
