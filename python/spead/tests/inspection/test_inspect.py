# Copyright 2026 The gr-spead authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""spead-inspect shows streams, and the source that it suggests receives them."""

import copy
import json
import os
import random
import socket
import subprocess
import sys

import numpy as np
import pytest
import yaml
from capture_files import capture
from crafted_packets import (
    addressed,
    data_heap,
    descriptor,
    descriptor_heap,
    immediate,
    split_heap,
)
from gnuradio import spead
from gnuradio.spead.packet_words import explanation
from gnuradio.spead.spead_python import _inspector
from gnuradio.spead.stream_report import details
from gnuradio.spead.suggestion import Suggestion
from places import BOUND, BUILD, NEEDS_LIBPCAP, eventually
from received_streams import (
    Receiving,
    described_heaps,
    joined,
    packets_by_heap,
    received,
    spead2_heaps,
    spead2_packets,
)
from receiving import bound_socket
from station_beams import station_beam_packet
from streams import noise
from telescope_streams import FIRST, STEP, STREAMS, expected_samples

PROGRAM = BUILD / "spead-inspect"


def inspected(packets):
    """What an inspector sees of packets that arrive in one socket."""
    inspector = _inspector("127.0.0.1:0")
    for packet in packets:
        inspector.add(packet, "127.0.0.1:1", 0)
    return inspector


def suggestion_for(packets):
    suggestion = Suggestion(inspected(packets).described_streams(), "127.0.0.1:0")
    assert not suggestion.reason
    return suggestion


def suggested(packets):
    """The options of the suggested source, and the notes."""
    suggestion = suggestion_for(packets)
    call = suggestion.call().replace("spead.source(", "dict(endpoints=", 1)
    return eval(call, {"spead": spead}), suggestion.notes


@pytest.mark.parametrize("name", STREAMS)
def test_parameters_have_the_labels_of_grc(name):
    stream, *_ = STREAMS[name]
    streams = inspected(stream.all_packets(stream.packets())).described_streams()
    block = yaml.safe_load((BUILD / "grc" / "spead_source.block.yml").read_text())
    labels = {parameter["label"] for parameter in block["parameters"]}
    assert set(Suggestion(streams, "127.0.0.1:0", "lo").grc()) <= labels


@pytest.mark.parametrize("name", STREAMS)
def test_suggested_source_receives_a_telescope(name):
    stream, *_ = STREAMS[name]
    packets = stream.all_packets(stream.packets())
    options, _ = suggested(packets)
    receiving = received(packets, **options | {"max_delay": stream.parts > 1})
    output_type = options["output_type"]
    if "axes" in options:
        stream = copy.copy(stream)
        names = [axis.split("=")[0] for axis in options["axes"].split(", ")]
        remarks = suggestion_for(packets).remarks
        are_unnamed = any("name the axes" in remark for remark in remarks)
        assert are_unnamed == (names[-1] == f"axis_{len(names) - 1}")
        # a last axis of 2 is taken for the parts of complex numbers
        stream.axes = dict(zip(names, stream.axes.values(), strict=False))
    for port in range(receiving.outputs):
        got = receiving.samples(port).ravel()
        expected = expected_samples(stream.vectors(port), output_type).ravel()
        np.testing.assert_allclose(got, expected)
    assert receiving.tags("timestamp") == [(0, FIRST)]
    assert receiving.stats["samples_missing"] == 0


@pytest.mark.parametrize("descriptors", ["first", "every", "none"])
def test_suggested_source_receives_samples(descriptors):
    samples = noise(20_000)
    heaps = spead2_heaps(samples, 1000, step=4000, descriptors=descriptors)
    packets = joined(spead2_packets(heaps))
    assert [stream["heaps"] for stream in inspected(packets).streams()] == [20]
    options, notes = suggested(packets)
    assert options["timestamp_step"] == 4000
    assert options["heap_samples"] == 1000
    assert bool(notes) == (descriptors == "none")
    receiving = received(packets, **options)
    np.testing.assert_array_equal(receiving.samples(), samples)


@pytest.mark.parametrize("dtype", ["<u4", ">i4", "<u8"])
def test_items_described_by_numpy_are_read(dtype):
    samples = noise(20_000)
    scalar = {"shape": (), "dtype": dtype}
    items = {
        "timestamp": (0x1600, scalar),
        "offset": (0x3102, scalar | {"dtype": "<i2"}),
        "adc_samples": (0x3300, {"shape": (1000,), "dtype": np.int8}),
    }
    columns = range(0, 40_000, 2000), [-5, 1] * 10, samples.reshape(-1, 1000)
    packets = joined(spead2_packets(described_heaps(items, *columns)))
    text = "\n".join(details(inspected(packets).streams(), ["0.0.0.0:7148"], 2))
    assert '"offset" <i2 (): -5, 1' in text
    options, notes = suggested(packets)
    assert not notes
    assert (options["heap_samples"], options["timestamp_step"]) == (1000, 2000)
    np.testing.assert_array_equal(received(packets, **options).samples(), samples)


def test_counters_that_wrap_or_restart_are_not_reordered():
    heaps = joined(packets_by_heap(noise(20_000), counter=2**40 - 10))
    again = joined(packets_by_heap(noise(1_000_000), counter=11))
    (stream,) = inspected([*heaps, *again, *again]).streams()
    assert stream["heaps_reordered"] == stream["heaps_lost"] == 0


def test_suggested_source_separates_polarisations():
    samples = noise(2 * 20_000).reshape(2, -1)
    pols = [
        packets_by_heap(part, extra=[(0x3101, "pol", 7 + i)], counter=1 + i, step=2)
        for i, part in enumerate(samples)
    ]
    packets = joined(joined(heaps) for heaps in zip(*pols, strict=True))
    options, _ = suggested(packets)
    assert options["num_outputs"] == 2
    receiving = received(packets, max_delay=1, **options)
    for output in range(2):
        np.testing.assert_array_equal(receiving.samples(output), samples[output])


def test_suggested_items_select_values_with_sign_and_byte_order():
    sent = noise(2 * 20_000).reshape(2, -1)
    items = {
        "timestamp": (0x1600, {"format": [("u", 40)]}),
        "pol": (0x3101, {"dtype": "<i2"}),
        "adc_samples": (0x3300, {"shape": (1000,), "dtype": np.int8}),
    }
    heaps = [
        spead2_packets(
            described_heaps(
                items, range(0, 20_000, 1000), [-2 + i] * 20, samples.reshape(-1, 1000)
            ),
            counter=1 + i,
            step=2,
        )
        for i, samples in enumerate(sent)
    ]
    packets = joined(joined(pair) for pair in zip(*heaps, strict=True))
    options, notes = suggested(packets)
    assert not notes
    receiving = received(packets, max_delay=1, **options)
    for output in range(2):
        np.testing.assert_array_equal(receiving.samples(output), sent[output])


def test_two_senders_to_one_address_are_shown():
    inspector = _inspector("127.0.0.1:0")
    packets = joined(packets_by_heap(noise(20_000)))
    for packet in packets:
        for sender in ("127.0.0.1:1", "127.0.0.2:1"):
            inspector.add(packet, sender, 0)
    text = "\n".join(details(inspector.streams(), ["0.0.0.0:7148"], 2))
    assert "127.0.0.1:1 -> 0.0.0.0:7148" in text
    assert "127.0.0.2:1 -> 0.0.0.0:7148" in text


def test_suggested_source_receives_heaps_of_one_packet():
    generator = np.random.default_rng(1)
    sent = generator.integers(-128, 128, (100, 2048, 2, 2), np.int8)
    packets = [station_beam_packet(100 + i, pairs) for i, pairs in enumerate(sent)]
    options, _ = suggested(packets)
    with Receiving(max_delay=0, **options) as receiving:
        receiving.send_packets(packets)
        receiving.wait_for_samples(sent.size)
    np.testing.assert_array_equal(receiving.samples(), sent.ravel())


def test_losses_are_counted():
    heaps = packets_by_heap(noise(150_000), heap=3000)
    packets = joined(heaps[:10] + heaps[12:20]) + heaps[20][1:] + joined(heaps[21:30])
    packets += joined([heaps[31], heaps[30], heaps[31], *heaps[32:]])
    (stream,) = inspected(packets).streams()
    assert stream["heaps_lost"] == 2
    assert stream["heaps_incomplete"] == 1
    assert stream["heaps_reordered"] == 1
    assert stream["packets_duplicate"] == len(heaps[31])
    assert stream["ends"] == 1


@pytest.mark.parametrize("seed", range(20))
def test_lost_heaps_are_the_gaps_of_all_sequences(seed):
    """Interleaved senders' counters, reordered, with losses"""
    chooser = random.Random(seed)
    step = chooser.choice([1, 2, 64])
    sequences = chooser.choice([1, 1, 3])
    first = chooser.choice([0, 1000, 2**40 - 100])  # may wrap
    sent = [
        (first + (sequence << 32) + step * i) % 2**40
        for i in range(400)
        for sequence in range(sequences)
    ]
    lost = set(chooser.sample(sent[sequences:-sequences], chooser.randrange(60)))
    late = chooser.choice([0, 5, 40])
    order = sorted(range(len(sent)), key=lambda i: i + late * chooser.random())
    packets = [data_heap(sent[i], i, noise(8)) for i in order if sent[i] not in lost]
    (stream,) = inspected(packets).streams()
    assert stream["heaps_lost"] == len(lost)


def test_items_are_shown():
    stream, *_ = STREAMS["16 substreams"]
    inspector = inspected(stream.all_packets(stream.packets()))
    text = "\n".join(details(inspector.streams(), ["0.0.0.0:7148"], 2))
    assert '0x1600 "timestamp" >u6 (): ' in text
    assert f"step {STEP}" in text
    assert '0x4103 "frequency" >u6 (): 0, 4, 8, 12, ' in text
    assert '0x4300 "data" i1 (4, 16, 2, 2): 256 bytes' in text


def run_program(*args):
    return subprocess.run(
        [sys.executable, PROGRAM, *args],
        capture_output=True,
        text=True,
        timeout=BOUND,
        check=False,
    )


def test_the_program_receives(tmp_path):
    with bound_socket() as free:
        port = free.getsockname()[1]
    packets = joined(packets_by_heap(noise(20_000)))
    arguments = [f"127.0.0.1:{port}", "--seconds", "2", "--json"]
    program = subprocess.Popen(
        [sys.executable, PROGRAM, *arguments], stdout=subprocess.PIPE, text=True
    )
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as sender:
        sender.connect(("127.0.0.1", port))

        def is_listening():
            try:
                sender.send(b"x")
                sender.send(b"x")  # reports the ICMP error of the first
            except ConnectionRefusedError:
                return False
            return True

        eventually(is_listening)
        for packet in packets:
            sender.send(packet)
    report = json.loads(program.communicate(timeout=BOUND)[0])
    assert program.returncode == 0
    assert report["streams"][0]["heaps"] == 20
    assert f'"127.0.0.1:{port}"' in report["call"]


def test_the_program_gives_the_reason_for_nothing():
    program = run_program("127.0.0.1:0", "--seconds", "0.1")
    assert program.returncode == 1
    assert "no packet arrived at 127.0.0.1:0" in program.stdout


def test_the_program_ends_quietly_when_its_output_is_closed():
    reading, writing = os.pipe()
    os.close(reading)
    program = [sys.executable, PROGRAM, "127.0.0.1:0", "--seconds", "0.01"]
    ended = subprocess.run(
        program, stdout=writing, stderr=subprocess.PIPE, timeout=BOUND, text=True
    )
    os.close(writing)
    assert ended.stderr == ""


def test_items_that_are_sent_once_are_shown():
    """spead2 sends only items that have changed. The descriptors take three packets."""
    descriptors = [
        descriptor("timestamp", 0x1600, format=[("u", 40)]),
        descriptor("gain", 0x4000, format=[("u", 40)]),
        descriptor("adc_samples", 0x3300, format=[("i", 8)], shape=(None,)),
    ]
    places = [addressed(5, sum(map(len, descriptors[:i])) + 1000) for i in range(3)]
    items = [immediate(0x1600, 0), immediate(0x4000, 77), addressed(0x3300, 0), *places]
    payload = noise(1000).tobytes() + b"".join(descriptors)
    packets = split_heap(1, items, payload, 500)
    packets += [data_heap(2 + i, 1000 * (1 + i), noise(1000)) for i in range(9)]
    text = "\n".join(details(inspected(packets).streams(), ["0.0.0.0:7148"], 2))
    assert '0x4000 "gain" >u5 (): 77' in text


@NEEDS_LIBPCAP
@pytest.mark.parametrize("odd", [None, 0, 3600])
def test_the_rate_of_a_capture_is_that_of_its_frames(tmp_path, odd):
    """One frame with an odd time has no effect."""
    packets = [data_heap(i, 1000 * i, noise(1000)) for i in range(501)]
    times = [i * 0.01 for i in range(501)]
    if odd is not None:
        times[250] = odd
    path = capture(tmp_path / "stream.pcap", packets, times=times)
    text = run_program(path).stdout
    rate = sum(map(len, packets)) / 5 / 1e6
    assert f", {rate:.2f} MB/s" in text


def test_packets_are_explained():
    gain = descriptor("gain", 0x4000, format=[("u", 40)])
    heap = data_heap(7, 4096, noise(100), more=[immediate(0x4000, 5)])
    wrong = data_heap(8, 8192, noise(100), heap_length=50)
    packets = [descriptor_heap([gain], 1), heap, heap, wrong, b"hello, SPEAD!"]
    lines = list(explanation(inspected(packets)))
    text = "\n".join(lines)
    assert "packet 2: the first of 2 of its kind, 164 bytes" in lines
    for word in (
        "    0  53 04 03 05 00 00 00 07  SPEAD-64-40, 7 items",
        "    8  80 00 01 00 00 00 00 07  item 0x1 (heap counter): 7 = 0x7",
        "   40  80 16 00 00 00 00 10 00  item 0x1600: 4,096 = 0x1000",
        '   48  80 40 00 00 00 00 00 05  item 0x4000 ("gain"): 5 = 0x5',
        "   56  00 33 00 00 00 00 00 00  item 0x3300: at 0 of the heap's payload",
        f"   64  {heap[64:72].hex(' ')}  payload, 100 bytes",
    ):
        assert f"  {word}" in lines
    assert "heap length" in text.split("packet 3")[1].split("packet 4")[0]
    assert "they begin with 0x68656c6c6f2c2053" in text.split("packet 4")[1]


def test_other_packets_are_no_streams():
    inspector = inspected([b"\x01" * 100, b""])
    assert inspector.streams() == []
    assert sum(inspector.rejected().values()) == 2
    assert Suggestion([], "127.0.0.1:0").reason == "no SPEAD packet arrived"
