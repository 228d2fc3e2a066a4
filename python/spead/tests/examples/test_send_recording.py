# Copyright 2026 The gr-spead authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""send_recording.py sends a recording unchanged, as --plan describes."""

import json
import os
import pty
import re
import select
import signal
import subprocess
import sys
from fractions import Fraction

import numpy as np
import pytest
import send_recording
import spead_packet
from common.recordings import SAMPLE_TYPES
from places import BOUND, EXAMPLES
from receiving import Receiver, arrived, destination
from recordings_made import write_sigmf, write_wav
from streams import noise

SEND = EXAMPLES / "send_recording.py"
RAW = ["--type", "ri8"]
PACKET_OVERHEAD = 8 + 20 + 38  # bytes of UDP, IPv4 and Ethernet


def send(path, sock, *options):
    command = [sys.executable, SEND, path, destination(sock), *map(str, options)]
    done = subprocess.run(
        command, timeout=BOUND, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    assert done.stderr == ""  # progress is for terminals only
    return done.stdout


def received(sock):
    """Timestamps and samples of a stream, received by spead2."""
    heaps = Receiver(sock).until_end().heaps
    samples = np.concatenate([heap.samples for heap in heaps])
    return [heap.timestamp for heap in heaps], samples


def write_raw(folder, samples):
    path = folder / "recording.bin"
    samples.tofile(path)
    return path


def noise_of_type(dtype, count, numbers):
    """Full-scale noise; a sample is one number or a pair."""
    samples = noise(count * numbers * np.dtype(dtype).itemsize).view(dtype)
    return samples.reshape((count, 2) if numbers == 2 else count)


def check_samples(sent, got, dtype):
    """Compare integers; unsigned ones were sent as offset binary."""
    assert got.dtype.kind == "i"
    assert got.dtype.itemsize == np.dtype(dtype).itemsize
    offset = 128 if sent.dtype == np.uint8 else 0
    np.testing.assert_array_equal(got, sent.astype(np.int64) - offset)


@pytest.mark.parametrize(
    ("name", "dtype", "numbers"),
    [
        ("ri8", "i1", 1),
        ("ru8", "u1", 1),
        ("cu8", "u1", 2),
        ("ri16_le", "<i2", 1),
        ("ri16_be", ">i2", 1),
        ("ci16_le", "<i2", 2),
        ("ci16_be", ">i2", 2),
    ],
)
def test_a_sigmf_recording_arrives_with_its_time(sock, tmp_path, name, dtype, numbers):
    sent = noise_of_type(dtype, 10_000, numbers)
    # 0.25 s and 14 samples after the sync time, to the nearest nanosecond
    capture = {"core:sample_start": 0, "core:datetime": "2023-11-14T22:13:20.25000014Z"}
    path = write_sigmf(
        tmp_path, sent.tobytes(), name, [capture], sample_rate=100_000_000
    )
    send(path, sock, "--sync-time", 1_700_000_000, "--heap-samples", "4k")
    timestamps, got = received(sock)
    check_samples(sent, got, dtype)
    assert timestamps == [25_000_014, 25_004_110, 25_008_206]


@pytest.mark.parametrize(
    ("name", "wire_type", "options", "scale"),
    [
        ("rf32_le", "i1", [], 127),
        ("cf32_le", ">i2", [], 32767),
        # Floats keep integers of 24 bits, which cannot be sent as they are.
        ("rf32_le", "i4", ["--scale", 1 << 23], 1 << 23),
    ],
)
def test_floats_are_sent_as_integers(sock, tmp_path, name, wire_type, options, scale):
    shape = (-1, 2) if name[0] == "c" else (-1,)
    sine = np.sin(np.arange(2000, dtype="<f4")).reshape(shape)
    path = write_raw(tmp_path, sine)
    options = *options, "--heap-address-bits", 48, "--timestamp-start", 2**40
    send(path, sock, "--type", name, "--wire-type", wire_type, *options)
    timestamps, got = received(sock)
    assert timestamps == [2**40]
    check_samples(np.rint(sine * np.float32(scale)), got, wire_type)


@pytest.mark.parametrize(
    ("name", "dtype", "options", "scale"),
    [("ri16_be", ">i2", [], 127), ("ci16_le", "<i2", ["--scale", 1000], 1000)],
)
def test_samples_of_16_bits_are_sent_as_8_bits(
    sock, tmp_path, name, dtype, options, scale
):
    samples = noise_of_type(dtype, 10_000, 2 if name[0] == "c" else 1)
    samples.flat[:6] = [-32768, -32767, -16384, 16384, 129, 32767]
    path = write_raw(tmp_path, samples)
    send(path, sock, "--type", name, "--wire-type", "i1", *options)
    _, got = received(sock)
    scaled = np.rint(samples / 32768 * scale)
    check_samples(np.clip(scaled, -128, 127), got, "i1")


@pytest.mark.parametrize(
    ("name", "peak", "options", "message"),
    [
        ("rf32_le", 0.0039, [], "scale = 127, the peak of 0.0039 .* up to 3.26e+04"),
        ("cf32_le", 0.3, ["--scale", "1"], "scale = 1, the peak of 0.3 .* up to 423"),
        ("rf32_le", 0.0040, [], None),
        ("rf32_le", 0.0039, ["--wire-type", ">i2"], None),
        ("cf32_le", 0, [], None),
        ("ri16_be", 129, ["--wire-type", "i1"], "peak of 0.00394 .* up to 3.23e+04"),
        ("ci16_le", 130, ["--wire-type", "i1"], None),
        ("ci16_le", 1, [], None),
    ],
)
def test_samples_that_all_round_to_0_are_rejected(
    tmp_path, name, peak, options, message
):
    dtype = {"ri16_be": ">i2", "ci16_le": "<i2"}.get(name, "<f4")
    numbers = np.zeros(600_000, dtype)  # more than one read of check_level()
    numbers[:2] = np.nan if dtype == "<f4" else 0, -peak
    numbers[-2] = peak
    path = write_raw(tmp_path, numbers)
    args = send_recording.parse([str(path), "127.0.0.1:9", "--type", name, *options])
    if message is None:
        send_recording.build(args)
        return
    with pytest.raises(ValueError, match=message.replace("+", r"\+")):
        send_recording.build(args)


@pytest.mark.parametrize(
    ("sync_time", "options", "ticks"),
    [
        (1_700_000_000, [], 123_457),  # 123456.789 to the nearest
        (1_700_000_000, ["--sample-rate", "100000000/3"], 4_115_226),  # 4115226.3
        (1_700_000_000, ["--timestamp-step", "16k"], 246_914),  # two ticks per sample
        (1_698_900_489, [], 1_099_511_123_457),  # less than 2^40
    ],
)
def test_start_times_become_ticks(tmp_path, sync_time, options, ticks):
    start = "2023-11-14T22:13:20.123456789Z"
    capture = {"core:sample_start": 0, "core:datetime": start}
    path = write_sigmf(tmp_path, bytes(8), captures=[capture], sample_rate=1e6)
    arguments = [str(path), "127.0.0.1:9", "--sync-time", str(sync_time), *options]
    graph = send_recording.build(send_recording.parse(arguments))
    assert graph.plan.options["timestamp_start"] == ticks


def test_a_wav_file_arrives_with_the_given_start_time(sock, tmp_path):
    sent = noise_of_type("<i2", 10_000, 2)
    path = write_wav(tmp_path, sent, rate=1_000_000)
    start = ["--timestamp-start", "2023-11-14T22:13:20.25Z"]
    send(path, sock, "--sync-time", 1_700_000_000, *start)
    timestamps, got = received(sock)
    check_samples(sent, got, "i2")
    assert timestamps == [250_000, 258_192]


@pytest.mark.parametrize(
    ("bits", "rate", "earliest", "wider"),
    [
        (40, "100k", 1_689_004_884, ", or --heap-address-bits 48"),
        (40, "1M", 1_698_900_489, ""),
        (48, "4M", 1_629_631_256, ""),
        (40, "1e13", 1_700_000_000, ""),
    ],
)
def test_a_timestamp_that_exceeds_its_bits_is_rejected(
    tmp_path, bits, rate, earliest, wider
):
    """The error states the earliest sync time."""
    path = str(write_raw(tmp_path, np.zeros(8)))
    start = ["--timestamp-start", "2023-11-14T22:13:20Z", "--sample-rate", rate]
    options = [path, "127.0.0.1:9", *RAW, *start, "--heap-address-bits", str(bits)]

    def build(sync_time):
        args = send_recording.parse([*options, "--sync-time", str(sync_time)])
        return send_recording.build(args)

    message = rf"--sync-time 0: .*, above the {bits}-bit maximum .* {earliest}{wider}$"
    with pytest.raises(ValueError, match=message):
        build(0)
    build(earliest)
    with pytest.raises(ValueError, match="bit maximum"):
        build(earliest - 1)


@pytest.mark.parametrize("loop", [True, False])
def test_ctrl_c_sends_the_end_of_the_stream(sock, receiver, tmp_path, loop):
    recording = np.arange(256, dtype=np.uint8).repeat(100)
    path = tmp_path / "recording.bin"
    path.write_bytes(recording.tobytes() * (1 if loop else 1000))
    summary = tmp_path / "stats.json"
    options = ["--type", "ru8", "--rate", "1M", "--json", summary]
    options += ["--loop"] if loop else []
    screen, terminal = pty.openpty()
    command = [sys.executable, SEND, path, destination(sock), *options]
    with subprocess.Popen(command, stderr=terminal) as sender:
        try:
            heaps = receiver.next_heaps(20)
            assert select.select([screen], [], [], BOUND)[0]
            progress = os.read(screen, 1000).decode()
            sender.send_signal(signal.SIGINT)
            # Ctrl-C is an error if it truncates the recording.
            assert sender.wait(BOUND) == (0 if loop else 1)
        finally:
            sender.kill()
            os.close(screen)
            os.close(terminal)
    assert re.match(r"\r([\d.]+ %, )?[\d.]+ MB/s", progress)
    assert ("left" in progress) == (not loop)
    heaps += receiver.until_end().heaps
    got = np.concatenate([heap.samples for heap in heaps])
    stats = json.loads(summary.read_text())
    assert stats["samples_pending"] == 0
    assert stats["samples_in"] == stats["samples_sent"] == len(got) > 2 * len(recording)
    expected = (recording.astype(np.int16) - 128).astype(np.int8)
    np.testing.assert_array_equal(got, np.resize(expected, len(got)))
    assert [heap.timestamp for heap in heaps] == list(range(0, len(got), 8192))


def printed_plan(path, sock, *options):
    """The lines of --plan: name -> text."""
    lines = send(path, sock, "--plan", *options).splitlines()
    return dict(re.fullmatch(" *(.+?): (.+)", line).groups() for line in lines)


def packets_of_heap(sock, counter):
    """The packets of a heap that have arrived at a socket."""
    packets = [(datagram, spead_packet.parse(datagram)) for datagram in arrived(sock)]
    return [
        datagram
        for datagram, packet in packets
        if packet.items[0].value == counter and not packet.is_end_of_stream()
    ]


@pytest.mark.parametrize(
    ("name", "heap_options"),
    [
        ("ri8", ["--heap-samples", "8192"]),
        ("ci8", ["--heap-samples", "100"]),  # a heap is one packet
        ("ri8", ["--heap-samples", "8191"]),  # NULL items cannot pad the last packet
        ("ci16_le", ["--heap-samples", "32k", "--max-packet-size", "8972"]),
    ],
)
def test_the_stream_matches_the_plan(sock, tmp_path, name, heap_options):
    rate = Fraction(10_000_000, 3)
    options = ["--type", name, "--sample-rate", str(rate), *heap_options]
    path = tmp_path / "recording.bin"
    args = send_recording.parse([str(path), destination(sock), "--realtime", *options])
    heap_bytes = args.heap_samples * SAMPLE_TYPES[name].file_bytes
    path.write_bytes(bytes(2 * heap_bytes))

    plan = printed_plan(path, sock, *options)
    assert list(arrived(sock)) == []
    send(path, sock, *options)
    packets = packets_of_heap(sock, 2)  # the first heap also has descriptors
    payloads = [len(spead_packet.parse(packet).payload) for packet in packets]
    assert sum(payloads) == heap_bytes
    header = len(packets[0]) - payloads[0]
    heap_rate = rate / args.heap_samples
    udp_bytes = sum(map(len, packets))
    wire = float(heap_rate * (udp_bytes + PACKET_OVERHEAD * len(packets)))
    assert plan["heaps"] == f"2 of {args.heap_samples:,} samples"
    assert plan["packets per heap"] == f"{len(packets):,}"
    assert plan["packet size"] == f"{len(packets[0]):,} bytes of UDP payload"
    assert plan["header"] == f"{header} bytes in each packet"
    assert plan["wire rate"].startswith(
        f"{wire / 1e6:.3f} MB/s = {wire * 8 / 1e9:.4f} Gbit/s in real time"
    )
    assert send_recording.build(args).sink.rate() == float(heap_rate * udp_bytes)


def test_the_plan_says_when_timestamps_wrap(sock, tmp_path):
    path = write_raw(tmp_path, np.zeros(1_000_000, np.int8))
    options = *RAW, "--heap-samples", 9999, "--sample-rate", "10M", "--tail", "drop"
    plan = printed_plan(path, sock, *options, "--rate", "1M")
    assert plan["heaps"] == "100 of 9,999 samples"
    assert plan["duration"] == "100.00 ms"
    assert plan["wire rate"].startswith("1.051 MB/s = 0.0084 Gbit/s at --rate")
    assert plan["timestamps wrap"] == "after 109,962,159 heaps, 1.27 days in real time"


@pytest.mark.parametrize(
    ("name", "options", "message"),
    [
        ("a.bin", [*RAW, "--skip-header", "100"], "no data after a header of 100"),
        ("a.bin", [*RAW, "--realtime"], "--realtime needs a sample rate"),
        ("a.bin", [*RAW, "--sync-time", "0"], "no start time; set it, such as --time"),
        ("README.md", [], "README.md is neither SigMF nor WAV by its name; raw "),
        ("a.sigmf", ["--type", "ri8"], "--type and --skip-header are not for SigMF"),
        ("a.wav", ["--skip-header", "44"], "--skip-header of"),
        ("a.wav", [], "a.wav is not a WAV file"),
        ("a.sigmf-meta", [], "a.sigmf-meta is not a SigMF recording"),
        ("a.bin", ["--timestamp-start", "2023-11-31T00:00:00Z"], "neither an integer"),
        ("a.bin", ["--timestamp-start", "2023-11-14T22:13:20Z"], "needs --sync-time"),
        ("a.bin", ["--timestamp-start", "1", "--sync-time", "0"], "it must be a time"),
    ],
)
def test_an_invalid_argument_is_reported(tmp_path, capsys, name, options, message):
    path = tmp_path / name
    path.write_bytes(bytes(100))
    with pytest.raises(SystemExit) as error:
        send_recording.main([str(path), "127.0.0.1:9", *options])
    assert message in f"{error.value.code}{capsys.readouterr().err}"


def test_a_start_before_the_sync_time_is_rejected(tmp_path):
    capture = {"core:sample_start": 0, "core:datetime": "1970-01-01T00:00:01Z"}
    path = write_sigmf(tmp_path, bytes(8), captures=[capture], sample_rate=1e6)
    args = send_recording.parse([str(path), "127.0.0.1:9", "--sync-time", "1.5"])
    with pytest.raises(ValueError, match=r"1\.5 is later than the start .*, 1$"):
        send_recording.build(args)
