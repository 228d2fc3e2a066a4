# Copyright 2026 The gr-spead authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""spead-record writes SigMF, and finds out the format of a stream."""

import os
import re
import time
from fractions import Fraction

import numpy as np
import pytest
import sigmf
from capture_files import capture
from common.recordings import seconds_since_1970
from gnuradio import spead
from places import NEEDS_LIBPCAP
from received_streams import described_heaps, joined, packets_by_heap, spead2_packets
from recorded_files import read_sigmf, record, recording
from streams import Running, noise, run, source
from tagged_streams import HEAP, MHZ, OPTIONS, SYNC, tag, tagged_source
from telescope_streams import STREAMS


def record_sigmf(path, folder, *options):
    """Record a capture, replacing files; returns the metadata."""
    for file in folder.glob("recording.*"):
        file.unlink()
    assert record(path, folder / "recording.sigmf-meta", *options) == 0
    return recorded(folder)[1]


def recorded(folder, dtype=np.int8):
    """The samples and the metadata of a recording."""
    metadata = sigmf.fromfile(folder / "recording.sigmf-meta")
    metadata.validate()
    return np.fromfile(folder / "recording.sigmf-data", dtype), metadata


INT8 = "--options", "items=[spead.timestamp(), spead.samples()]"

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
    metadata = record_sigmf(path, tmp_path, "--sample-rate", 4000, "--sync-time", SYNC)
    assert metadata.get_global_field("core:datatype") == name
    assert (tmp_path / "recording.sigmf-data").read_bytes() == sent.tobytes()
    assert metadata.get_global_field("core:sample_rate") == 1000
    (start,) = metadata.get_captures()
    assert start["core:datetime"].startswith("2020-09-13T12:26:40Z")


@NEEDS_LIBPCAP
@pytest.mark.parametrize(("name", "dtype"), [("rf32_le", "<i4"), ("ci16_le", "<i2")])
def test_the_type_of_a_stream_without_descriptors_is_given(tmp_path, name, dtype):
    shape = (-1, 2) if name[0] == "c" else (-1,)
    sent = noise(80_000).view(dtype).reshape(shape)
    packets = packets_by_heap(sent, descriptors="none")
    path = capture(tmp_path / "a.pcap", joined(packets))
    output_type, wire_type = {"f": ("float", "f4"), "i": ("sc16", "i2")}[name[1]]
    options = f"output_type={output_type!r}, wire_type={wire_type!r},"
    options += " items=[spead.timestamp(), spead.samples()]"
    metadata = record_sigmf(path, tmp_path, "--options", options)
    assert metadata.get_global_field("core:datatype") == name
    assert metadata.get_captures() == [{"core:sample_start": 0, "spead:tick": 0}]
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
        "the descriptors do not tell everything; .* --options",
    ),
    "several axes": (
        F_ENGINE.all_packets(F_ENGINE.packets()),
        "vectors and several outputs need a file of HDF5",
    ),
    "two streams": (
        two_polarisations(),
        "vectors and several outputs need a file of HDF5",
    ),
}


@NEEDS_LIBPCAP
@pytest.mark.parametrize("name", UNSUITABLE)
def test_a_stream_that_cannot_be_recorded_leaves_no_file(tmp_path, name):
    packets, message = UNSUITABLE[name]
    path = capture(tmp_path / "a.pcap", packets)
    with pytest.raises(SystemExit, match=f"^spead-record: .*{message}"):
        record_sigmf(path, tmp_path)
    assert list(tmp_path.iterdir()) == [path]


def test_the_options_for_a_pipe_must_be_given(tmp_path):
    """To inspect it, the program would have to read it twice."""
    os.mkfifo(tmp_path / "pipe")
    with pytest.raises(
        SystemExit, match=r"pipe can be read only once; give --options$"
    ):
        record_sigmf(tmp_path / "pipe", tmp_path)


def test_a_running_stream_is_recorded_from_the_moment_its_type_is_known(tmp_path):
    options = {"rate": 2e6, "descriptor_interval": 0.02, "heap_samples": 1000}
    with (
        recording(tmp_path / "recording.sigmf-meta", "--samples", 5000) as program,
        Running(program.destination, **options),
    ):
        line = program.stdout.readline()
        assert line.startswith("recording from now on, after ")
        printed = program.stdout.read()
    assert printed.startswith("5,000 samples written; ")
    samples, _ = recorded(tmp_path)
    assert len(samples) == 5000
    assert samples.tobytes() in np.tile(noise(100_000), 2).tobytes()


def test_a_stream_that_ends_before_its_type_is_known_is_an_error(tmp_path):
    with recording(tmp_path / "recording.sigmf-meta", status=1) as program:
        run(spead.sink(program.destination), source(noise(20_000)))
    assert 'from its first heap, give --options \'output_type="int8"' in program.printed
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
    assert recorded_second(record_sigmf(path, tmp_path, *options, 0)) == first
    report = capsys.readouterr().err
    assert f"{bits} bits" in report
    suggested = re.search(r"give --sync-time ([\d.]+)\n", report)[1]
    assert recorded_second(record_sigmf(path, tmp_path, *options, suggested)) == now
    assert capsys.readouterr().err == ""
    record_sigmf(path, tmp_path, *options, 9_000_000)  # no wraps lead to the present
    report = capsys.readouterr().err
    assert "is wrong if the timestamps have wrapped since --sync-time 9000000" in report
    assert "live" not in report


def test_each_capture_has_the_time_of_its_first_sample(tmp_path):
    sent = noise(200 * HEAP)
    jump = 100 * HEAP  # samples before an hour-long gap
    start = Fraction(HEAP * 10**6, MHZ)
    times = {0: SYNC + start, jump: SYNC + start + 3600 + Fraction(jump, MHZ)}
    options = *INT8, "--sample-rate", MHZ, "--sync-time", SYNC
    with recording(tmp_path / "recording.sigmf-meta", *options) as program:
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


@pytest.mark.parametrize("options", [[], INT8])
def test_a_timeout_without_samples_leaves_no_file(tmp_path, options):
    with recording(
        tmp_path / "recording.sigmf-meta", "--timeout", 0.1, *options, status=1
    ) as program:
        pass
    last_line = program.printed.splitlines()[-1]
    assert re.fullmatch(r"spead-record: no packet.* arrived .*", last_line)
    assert list(tmp_path.iterdir()) == []


@NEEDS_LIBPCAP
def test_losses_and_items_become_annotations(tmp_path):
    heaps = packets_by_heap(noise(20_000), extra=[(0x3101, "state", 7)])
    path = capture(tmp_path / "a.pcap", joined([*heaps[:5], *heaps[7:]]))
    metadata = record_sigmf(path, tmp_path)
    samples, captures, is_missing = read_sigmf(tmp_path / "recording.sigmf-meta")
    sent = noise(20_000)
    sent[5000:7000] = 0
    np.testing.assert_array_equal(samples, sent)
    np.testing.assert_array_equal(np.nonzero(is_missing)[0], range(5000, 7000))
    assert captures == [{"core:sample_start": 0, "spead:tick": 0}]
    (state,) = (a for a in metadata.get_annotations() if a["core:label"] == "state")
    assert (state["core:sample_start"], state["spead:value"]) == (0, 7)
