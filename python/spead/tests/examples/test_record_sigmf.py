# Copyright 2026 The gr-spead authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""record_sigmf.py records the samples and times of a stream."""

import contextlib
import os
import re
import time
from fractions import Fraction

import numpy as np
import pytest
import record_sigmf
import sigmf
from capture_files import capture
from common.recordings import seconds_since_1970
from flow_graphs import running
from gnuradio import spead
from places import EXAMPLES, NEEDS_LIBPCAP
from received_streams import described_heaps, joined, packets_by_heap, spead2_packets
from streams import Running, noise, run, source
from tagged_streams import HEAP, MHZ, OPTIONS, SYNC, tag, tagged_source
from telescope_streams import STREAMS


@contextlib.contextmanager
def recording(folder, *options, status=0):
    """Run record_sigmf.py while a test sends to its `destination`."""
    arguments = "127.0.0.1:0", folder / "recording", *options
    with running(EXAMPLES / "record_sigmf.py", *arguments, status=status) as ended:
        ended.destination = (
            ended.stdout.readline().removeprefix("listening on ").strip()
        )
        yield ended


def record(path, folder, *options):
    """Record a capture; returns the metadata."""
    arguments = path, folder / "recording", *options
    assert record_sigmf.main(list(map(str, arguments))) == 0
    return recorded(folder)[1]


def recorded(folder, dtype=np.int8):
    """The samples and the metadata of a recording."""
    metadata = sigmf.fromfile(folder / "recording.sigmf-meta")
    metadata.validate()
    return np.fromfile(folder / "recording.sigmf-data", dtype), metadata


FORMATS = {  # SigMF type -> dtype of the samples, arguments of spead2's add_item()
    "ri8": ("i1", {"format": [("i", 8)]}),
    "ru8": ("u1", {"format": [("u", 8)]}),
    "ri16_le": ("<i2", {"dtype": "<i2"}),
    "ri32_le": ("<i4", {"dtype": ">i4"}),
    "rf32_le": ("<f4", {"dtype": ">f4"}),
    "ci8": ("i1", {"dtype": "i1", "pairs": True}),
    "cu8": ("u1", {"dtype": "u1", "pairs": True}),
    "ci16_le": ("<i2", {"format": [("i", 16)], "pairs": True}),
    "cf32_le": ("<c8", {"dtype": ">c8"}),
}


def described(samples, pairs=False, step=1000, bits=48, first=0, **description):
    """Packets of heaps of 1000 samples, which descriptors describe."""
    shape = (1000, 2) if pairs else (1000,)
    samples = samples.reshape(-1, *shape)
    items = {
        "timestamp": (0x1600, {"format": [("u", bits)]}),
        "voltages": (0x4300, {"shape": shape, **description}),
    }
    times = (first + step * np.arange(len(samples))) % 2**bits
    return joined(spead2_packets(described_heaps(items, times, samples, bits=bits)))


@NEEDS_LIBPCAP
@pytest.mark.parametrize("name", FORMATS)
def test_the_type_follows_the_descriptors(tmp_path, name):
    dtype, description = FORMATS[name]
    sent = np.arange(40_000).astype(dtype)
    path = capture(tmp_path / "a.pcap", described(sent, step=4000, **description))
    metadata = record(path, tmp_path, "--sample-rate", 1000, "--sync-time", SYNC)
    assert metadata.get_global_field("core:datatype") == name
    assert (tmp_path / "recording.sigmf-data").read_bytes() == sent.tobytes()
    assert metadata.get_global_field("core:sample_rate") == 1000
    (start,) = metadata.get_captures()
    assert start["core:datetime"].startswith("2020-09-13T12:26:40.0")


@NEEDS_LIBPCAP
@pytest.mark.parametrize(("name", "dtype"), [("rf32_le", "<i4"), ("ci16_le", "<i2")])
def test_the_type_of_a_stream_without_descriptors_is_given(tmp_path, name, dtype):
    shape = (-1, 2) if name[0] == "c" else (-1,)
    sent = noise(80_000).view(dtype).reshape(shape)
    packets = packets_by_heap(sent, descriptors="none")
    path = capture(tmp_path / "a.pcap", joined(packets))
    metadata = record(path, tmp_path, "--type", name, "--samples-id", "0x3300")
    assert metadata.get_global_field("core:datatype") == name
    assert metadata.get_captures() == [{"core:sample_start": 0}]
    assert (tmp_path / "recording.sigmf-data").read_bytes() == sent.tobytes()


def two_polarisations():
    heaps = [
        packets_by_heap(
            noise(20_000), counter=1 + i, step=2, extra=[(0x3101, "pol", i)]
        )
        for i in range(2)
    ]
    return joined(joined(zip(*heaps, strict=True)))


F_ENGINE = STREAMS["F-engine"][0]
UNSUITABLE = {  # packets, and what the error says
    "no descriptors": (
        joined(packets_by_heap(noise(20_000), descriptors="none")),
        "no descriptors arrived; .* --type",
    ),
    "10 bits": (
        described(np.zeros(20_000, np.int16), format=[("i", 10)]),
        "10 bits, which this program cannot record",
    ),
    "several axes": (
        F_ENGINE.all_packets(F_ENGINE.packets()),
        "several axes, channel=16, time=32, pol=2",
    ),
    "two streams": (two_polarisations(), "2 streams"),
}


@NEEDS_LIBPCAP
@pytest.mark.parametrize("name", UNSUITABLE)
def test_a_stream_that_cannot_be_recorded_leaves_no_file(tmp_path, name):
    packets, message = UNSUITABLE[name]
    path = capture(tmp_path / "a.pcap", packets)
    with pytest.raises(SystemExit, match=f"^record_sigmf.py: .*{message}"):
        record(path, tmp_path)
    assert list(tmp_path.iterdir()) == [path]


def test_the_type_of_a_pipe_must_be_given(tmp_path):
    """To inspect it, the program would have to read it twice."""
    os.mkfifo(tmp_path / "pipe")
    with pytest.raises(SystemExit, match=r"pipe can be read only once; give --type$"):
        record(tmp_path / "pipe", tmp_path)


def test_a_running_stream_is_recorded_from_the_moment_its_type_is_known(tmp_path):
    options = {"rate": 2e6, "descriptor_interval": 0.02, "heap_samples": 1000}
    with (
        recording(tmp_path, "--samples", 5000) as program,
        Running(program.destination, **options),
    ):
        line = program.stdout.readline()
        assert line.startswith("recording ri8 from now on, after ")
        printed = program.stdout.read()
    assert "5,000 samples written; " in printed
    samples, _ = recorded(tmp_path)
    assert len(samples) == 5000
    assert samples.tobytes() in np.tile(noise(100_000), 2).tobytes()


def test_a_stream_that_ends_before_its_type_is_known_is_an_error(tmp_path):
    with recording(tmp_path, status=1) as program:
        run(spead.sink(program.destination), source(noise(20_000)))
    assert "from its first heap, give --type ri8\n" in program.printed
    assert list(tmp_path.iterdir()) == []


def recorded_second(metadata):
    """When the recording begins, in whole seconds since 1970."""
    (start,) = metadata.get_captures()
    return int(seconds_since_1970(start["core:datetime"]))


@NEEDS_LIBPCAP
@pytest.mark.parametrize("bits", [40, 48])
def test_a_time_that_is_wrong_if_timestamps_wrapped_is_reported(tmp_path, capsys, bits):
    rate = 4_000_000
    now = int(time.time())
    packets = described(noise(20_000), format=[("i", 8)], first=now * rate, bits=bits)
    path = capture(tmp_path / "a.pcap", packets)
    options = "--sample-rate", rate, "--sync-time"
    first = now * rate % 2**bits // rate
    assert recorded_second(record(path, tmp_path, *options, 0)) == first
    report = capsys.readouterr().err
    assert f"{bits} bits" in report
    suggested = re.search(r"give --sync-time ([\d.]+)\n", report)[1]
    assert recorded_second(record(path, tmp_path, *options, suggested)) == now
    assert capsys.readouterr().err == ""
    record(path, tmp_path, *options, 9_000_000)  # no wraps lead to the present
    report = capsys.readouterr().err
    assert "is wrong if the timestamps have wrapped since --sync-time 9000000" in report
    assert "live" not in report


def test_each_capture_has_the_time_of_its_first_sample(tmp_path):
    sent = noise(200 * HEAP)
    jump = 100 * HEAP  # samples before an hour-long gap
    start = Fraction(HEAP * 10**6, MHZ)
    times = {0: SYNC + start, jump: SYNC + start + 3600 + Fraction(jump, MHZ)}
    options = "--type", "ri8", "--sample-rate", MHZ, "--sync-time", SYNC
    with recording(tmp_path, *options) as program:
        sink = spead.sink(
            program.destination, **OPTIONS | {"descriptors": "first_heap"}
        )
        run(sink, tagged_source(sent, [tag(*time) for time in times.items()]))
    samples, metadata = recorded(tmp_path)
    np.testing.assert_array_equal(samples, sent)
    found = {
        part["core:sample_start"]: seconds_since_1970(part["core:datetime"])
        for part in metadata.get_captures()
    }
    assert found == times


@pytest.mark.parametrize("options", [[], ["--type", "ri8"]])
def test_a_timeout_without_samples_leaves_no_file(tmp_path, options):
    with recording(tmp_path, "--timeout", 0.1, *options, status=1) as program:
        pass
    last_line = program.printed.splitlines()[-1]
    assert re.fullmatch(r"record_sigmf.py: no packet.* arrived .*", last_line)
    assert list(tmp_path.iterdir()) == []
