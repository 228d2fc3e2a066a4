# Copyright 2026 The gr-spead authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""record_sigmf.py records the samples and times of a stream."""

from fractions import Fraction

import numpy as np
import pytest
import sigmf
from common.recordings import SAMPLE_TYPES, sigmf_recording
from flow_graphs import running
from gnuradio import spead
from places import EXAMPLES
from streams import noise, run, source
from tagged_streams import HEAP, MHZ, OPTIONS, SYNC, tag, tagged_source


class Recording:
    """Runs record_sigmf.py while a test sends, then reads the recording."""

    def __init__(self, folder, *options, status=0):
        self.file = folder / "recording"
        program = EXAMPLES / "record_sigmf.py"
        arguments = "127.0.0.1:0", self.file, *options
        self.program = running(program, *arguments, status=status)

    def __enter__(self):
        self.ended = self.program.__enter__()
        line = self.ended.stdout.readline()
        self.destination = line.removeprefix("listening on ").strip()
        return self

    def __exit__(self, *error):
        return self.program.__exit__(*error)

    def samples(self, dtype):
        return np.fromfile(f"{self.file}.sigmf-data", dtype)

    def metadata(self):
        return sigmf.fromfile(f"{self.file}.sigmf-meta")


@pytest.mark.parametrize("name", ["ri8", "ci16_le"])
def test_the_recorded_samples_match_the_stream(tmp_path, name):
    kind = SAMPLE_TYPES[name]
    sent = noise(20_000 * kind.file_bytes)  # less than any socket buffer
    dtype = np.dtype(np.int16 if "16" in name else np.int8)
    pairs = (2,) if name[0] == "c" else ()
    with Recording(tmp_path, "--type", name) as recording:
        sink = spead.sink(recording.destination, input_type=kind.input_type)
        run(sink, source(sent.view(dtype).reshape(-1, *pairs)))
    np.testing.assert_array_equal(recording.samples(np.int8), sent)
    metadata = recording.metadata()
    metadata.validate()
    assert metadata.get_global_field("core:datatype") == name
    assert metadata.get_captures() == [{"core:sample_start": 0}]


def test_each_capture_has_the_time_of_its_first_sample(tmp_path):
    sent = noise(200 * HEAP)
    jump = 100 * HEAP  # samples before an hour-long gap
    start = Fraction(HEAP * 10**6, MHZ)
    times = {0: SYNC + start, jump: SYNC + start + 3600 + Fraction(jump, MHZ)}
    options = "--sample-rate", MHZ, "--sync-time", SYNC
    with Recording(tmp_path, *options) as recording:
        sink = spead.sink(
            recording.destination, **OPTIONS | {"descriptors": "first_heap"}
        )
        run(sink, tagged_source(sent, [tag(*each) for each in times.items()]))
    np.testing.assert_array_equal(recording.samples(np.int8), sent)
    metadata = recording.metadata()
    metadata.validate()
    assert metadata.get_global_field("core:sample_rate") == MHZ
    assert [each["core:sample_start"] for each in metadata.get_captures()] == [0, jump]
    for capture, time in enumerate(times.values()):
        read = sigmf_recording(f"{recording.file}.sigmf-meta", capture)
        assert read.start == time


def test_a_stream_without_descriptors_is_recorded_up_to_the_sample_limit(tmp_path):
    options = "--samples", 1000, "--timestamp-id", "0x1600", "--samples-id", "0x3300"
    sent = noise(20_000)
    with Recording(tmp_path, *options) as recording:
        run(spead.sink(recording.destination, descriptors="none"), source(sent))
    np.testing.assert_array_equal(recording.samples(np.int8), sent[:1000])
    assert recording.metadata().get_captures() == [{"core:sample_start": 0}]
    assert "1,000 samples written; " in recording.ended.printed


def test_a_timeout_without_samples_is_an_error(tmp_path):
    with Recording(tmp_path, "--timeout", 0.1, status=1) as recording:
        pass
    assert recording.ended.printed == "record_sigmf.py: nothing received\n"
    assert not (tmp_path / "recording.sigmf-meta").exists()


@pytest.mark.parametrize(
    ("arguments", "message", "status"),
    [
        (["nowhere", "f"], "spead.source: endpoints = ", 1),
        (["127.0.0.1:0", "f", "--sync-time", 5], "--sync-time needs --sample-rate", 2),
        (["127.0.0.1:0", "f", "--samples-id", 5], "must be given together", 2),
        (["127.0.0.1:0", "/nowhere/f"], "/nowhere/f.sigmf-data", 1),
    ],
)
def test_invalid_arguments_are_reported_without_a_traceback(arguments, message, status):
    with running(EXAMPLES / "record_sigmf.py", *arguments, status=status) as ended:
        pass
    # The file sink of GNU Radio prints the name of a file that it cannot open.
    assert message in ended.printed
    assert "Traceback" not in ended.printed
