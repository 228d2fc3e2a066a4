# Copyright 2026 The gr-spead authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Captures of imperfect networks, hosts and clocks: what they hold is output or
counted, and what cannot be read is named once."""

import re
import struct
import time

import numpy as np
import pytest
from capture_files import (
    COOKED,
    ETHERNET,
    capture,
    frame,
    ip_packets,
    pcapng,
    udp,
    write_capture,
)
from crafted_packets import data_heap, packet
from gnuradio import spead
from places import NEEDS_LIBPCAP
from received_streams import Receiving
from station_beams import station_beam_packet
from streams import noise

pytestmark = NEEDS_LIBPCAP
IPV6 = {"source": "fd00::1", "destination": "fd00::2"}
HOUR = 3600


def replayed(*paths, **options):
    """The source and the samples of a replay."""
    items = [spead.timestamp(), spead.samples()]
    with Receiving(",".join(map(str, paths)), items=items, **options) as receiving:
        receiving.wait()
    return receiving.source, receiving.recorder.samples()


def heap_packets(heaps, *, first=0, counter=1, heap=1000):
    """The packets of heaps of noise, one each; timestamps begin at `first`."""
    samples = noise(heaps * heap, seed=first + 1)
    return samples, [
        data_heap(counter + i, first + i * heap, samples[i * heap : (i + 1) * heap])
        for i in range(heaps)
    ]


def logged(capfd):
    return capfd.readouterr().out


@pytest.mark.parametrize("addresses", [{}, IPV6], ids=["IPv4", "IPv6"])
def test_datagrams_in_fragments_are_missing(tmp_path, capfd, addresses):
    """Also if one is captured twice and another one is lost, or if identifications
    repeat."""
    samples, packets = heap_packets(100, heap=3000)
    frames = []
    for i, payload in enumerate(packets):
        mtu = 1280 if i % 10 == 5 else 65535
        content = udp(payload, 5000, 7148)
        pieces = list(ip_packets(content, mtu=mtu, id=1, **addresses))
        if i % 20 == 5:
            pieces[1] = pieces[0]
        frames += [frame(ETHERNET, piece) for piece in pieces]
    source, received = replayed(write_capture(tmp_path / "stream.pcap", frames))
    for i in range(5, 100, 10):
        samples[i * 3000 : (i + 1) * 3000] = 0
    np.testing.assert_array_equal(received, samples)
    stats = source.stats()
    assert stats["samples_missing"] == 30_000
    assert stats["packets_rejected"] == {"fragment": 15}
    assert logged(capfd).count("IP fragments are not put together") == 1


def test_frames_cut_by_the_capture_are_named_with_the_remedy(tmp_path, capfd):
    _, packets = heap_packets(10)
    frames = [frame(ETHERNET, *ip_packets(udp(packet, 1, 7148))) for packet in packets]
    path = write_capture(
        tmp_path / "stream.pcap",
        [frame[:96] for frame in frames],
        lengths=[len(frame) for frame in frames],
    )
    source, received = replayed(path)
    assert len(received) == 0
    assert source.stats()["packets_rejected"] == {"truncated": 10}
    assert "tcpdump -s 0" in source.stats()["status"]
    line = f"{path}: a frame of {len(frames[0])} bytes is cut to 96"
    assert logged(capfd).count(line) == 1


def test_heaps_later_than_max_delay_are_missing(tmp_path):
    samples, packets = heap_packets(700)
    late = packets.pop(100)
    times = [0.001 * i for i in range(len(packets))]
    packets.insert(600, late)
    times.insert(600, times[599])
    path = capture(tmp_path / "stream.pcap", packets, times=times)
    source, received = replayed(path, max_delay=0.1)
    samples[100_000:101_000] = 0
    np.testing.assert_array_equal(received, samples)
    assert source.stats()["samples_late"] == 1000


@pytest.mark.parametrize("odd", [HOUR, -HOUR, 24 * 365 * 50 * HOUR, None])
@pytest.mark.parametrize("realtime", [False, True])
def test_a_wrong_time_of_a_frame_has_no_effect(tmp_path, odd, realtime):
    """None: the clock is set back by 10 s. A restart afterwards is received, and the
    source does not wait for the wrong time."""
    first, packets = heap_packets(100)
    second, later_packets = heap_packets(100)
    times = [0.001 * i for i in range(100)]
    if odd:
        times[50] = max(times[50] + odd, -1_700_000_000)
    else:
        times[50:] = [time - 10 for time in times[50:]]
    times += [times[-1] + 1.2 + 0.001 * i for i in range(100)]
    path = capture(tmp_path / "stream.pcap", packets + later_packets, times=times)
    _, received = replayed(path, realtime=realtime)
    np.testing.assert_array_equal(received, np.concatenate([first, second]))


def test_without_times_other_senders_are_ignored(tmp_path):
    samples, packets = heap_packets(100)
    _, other = heap_packets(100, first=10**9)
    frames = []
    for ours, theirs in zip(packets, other, strict=True):
        frames.append(frame(ETHERNET, *ip_packets(udp(ours, 5000, 7148))))
        frames.append(frame(ETHERNET, *ip_packets(udp(theirs, 5001, 7148))))
    times = [-1_700_000_000] * len(frames)
    path = write_capture(tmp_path / "stream.pcap", frames, times=times)
    source, received = replayed(path)
    np.testing.assert_array_equal(received, samples)
    assert source.stats()["packets_ignored"] == 100


def test_long_pauses_in_real_time_are_announced(tmp_path, capfd):
    samples, packets = heap_packets(20)
    times = [0.001 * i for i in range(10)] + [2.5 + 0.001 * i for i in range(10)]
    path = capture(tmp_path / "stream.pcap", packets, times=times)
    begin = time.monotonic()
    _, received = replayed(path, realtime=True)
    assert time.monotonic() - begin >= 2.5
    np.testing.assert_array_equal(received, samples)
    assert logged(capfd).count(f"{path}: no packets for 2 s") == 1


def pppoe(packet):
    return bytes(12) + struct.pack(">HBBHHH", 0x8864, 0x11, 0, 1, len(packet), 0x21)


def gre(packet):
    header = struct.pack(">BBHHHBBH", 0x45, 0, 28 + len(packet), 1, 0, 64, 47, 0)
    return frame(ETHERNET, header + bytes(8) + struct.pack(">I", 0x0800) + packet)


@pytest.mark.parametrize(
    ("wrap", "query", "reason"),
    [
        (None, "", "holds no packets"),
        (
            lambda packet: frame(ETHERNET, packet),
            "?port 9",
            'none of its 10 packets matches the filter "port 9"',
        ),
        (pppoe, "", "none of its packets is a UDP datagram; .* EtherType 0x8864"),
        (gre, "", "none of its packets is a UDP datagram; .* IP protocol 47"),
        (lambda _: bytes(10), "", "none of its packets is a UDP datagram; .* is cut"),
    ],
    ids=["empty", "filter", "PPPoE", "GRE", "cut"],
)
def test_captures_without_datagrams_say_why(tmp_path, capfd, wrap, query, reason):
    _, packets = heap_packets(10 if wrap else 0)
    frames = [wrap(*ip_packets(udp(packet, 1, 7148))) for packet in packets]
    path = write_capture(tmp_path / "stream.pcap", frames)
    _, received = replayed(f"{path}{query}")
    assert len(received) == 0
    line = logged(capfd)
    assert line.count(str(path)) == 1
    assert re.search(reason, line)


def ethernet(payload):
    return frame(ETHERNET, *ip_packets(udp(payload, 5000, 7148)))


def test_text_of_libpcap_names_what_it_cannot_read(tmp_path, capfd):
    """A pcapng file with interfaces of two link types."""
    samples, packets = heap_packets(10)
    frames = [ethernet(payload) for payload in packets]
    path = tmp_path / "stream.pcapng"
    types = (ETHERNET, COOKED)
    interfaces = [i // 5 for i in range(10)]
    path.write_bytes(pcapng(frames, link_types=types, interfaces=interfaces))
    _, received = replayed(path)
    np.testing.assert_array_equal(received, samples[: len(received)])
    assert f"{path}: an interface has a type 113 different from" in logged(capfd)


def test_a_pcapng_time_beyond_64_bits_has_no_effect(tmp_path):
    samples, packets = heap_packets(10)
    times = [1_700_000_000_000_000 + i for i in range(10)]
    times[5] = 2**64 - 1
    path = tmp_path / "stream.pcapng"
    path.write_bytes(pcapng([ethernet(packet) for packet in packets], times=times))
    _, received = replayed(path, realtime=True)
    np.testing.assert_array_equal(received, samples)


@pytest.mark.parametrize(
    ("datagram", "reason"),
    [
        (b"not SPEAD", "begin with 0x6e6f742053504541"),
        (
            data_heap(1, 0, noise(1000))[:-10],
            r"states 1000 bytes of payload \(item 0x4\) but has 990",
        ),
        (
            packet(1, [], bytes(32), heap_length=16),
            r"payload ends at 32, beyond the heap length \(item 0x2\) of 16",
        ),
        (bytes.fromhex("5304020600000000"), r"no heap counter \(immediate item 0x1\)"),
        (bytes.fromhex("530402060000ffff"), "fewer than its 65535 item pointers"),
    ],
    ids=["magic", "size", "heap length", "heap counter", "items"],
)
def test_rejected_packets_are_described(tmp_path, datagram, reason):
    path = capture(tmp_path / "stream.pcap", [datagram] * 3)
    source, received = replayed(path)
    assert len(received) == 0
    assert re.search(reason, source.stats()["status"])


def test_heaps_of_one_packet_may_be_captured_twice(tmp_path):
    """They have neither a timestamp nor a heap length (SKA-Low)."""
    pairs = np.random.default_rng(1).integers(-128, 128, (40, 2048, 2, 2), np.int8)
    packets = [station_beam_packet(100 + i, pair) for i, pair in enumerate(pairs)]
    path = capture(tmp_path / "stream.pcap", [p for p in packets for _ in range(2)])
    with Receiving(
        str(path),
        items=[spead.timestamp(0x1), spead.samples()],
        heap_samples=8192,
        timestamp_step=1,
    ) as receiving:
        receiving.wait()
    np.testing.assert_array_equal(receiving.samples(), pairs.ravel())
    assert receiving.stats["samples_duplicate"] == pairs.size
