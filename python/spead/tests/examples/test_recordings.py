# Copyright 2026 The gr-spead authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""common/recordings.py reads SigMF, WAV and raw files."""

import sys
from fractions import Fraction

import pytest
from common.recordings import (
    raw_recording,
    seconds_since_1970,
    seconds_text,
    sigmf_recording,
    wav_recording,
)
from recordings_made import write_sigmf, write_sigmf_archive, write_wav

START = {"core:sample_start": 0, "core:datetime": "2023-11-14T22:13:20.123456789Z"}
START_SECONDS = Fraction(1_700_000_000_123_456_789, 10**9)


def sample_bytes(recording):
    """The samples of a recording, as bytes."""
    with open(recording.path, "rb") as file:
        file.seek(recording.offset)
        return file.read(recording.samples * recording.type.file_bytes)


@pytest.mark.parametrize("suffix", [".sigmf-meta", ".sigmf-data", ".sigmf"])
def test_a_sigmf_recording_has_type_rate_and_start_time(tmp_path, suffix):
    data = bytes(range(200))
    write_sigmf_archive(tmp_path, data, "ci16_le", [START], sample_rate=2048000.1)
    path = tmp_path / f"recording{suffix}"
    if suffix == ".sigmf":
        path.with_suffix(".sigmf-meta").unlink()
    recording = sigmf_recording(str(path))
    assert recording.type_name == "ci16_le"
    assert recording.sample_rate == Fraction(20480001, 10)
    assert recording.start == START_SECONDS
    assert sample_bytes(recording) == data


def test_a_capture_is_selected_by_its_index(tmp_path):
    data = bytes(range(40))
    captures = [
        {"core:sample_start": 2},
        {"core:sample_start": 12, "core:datetime": "2023-11-14T22:13:20Z"},
    ]
    path = str(write_sigmf(tmp_path, data, "ri16_le", captures))
    with pytest.raises(ValueError, match=r"2 captures.*--capture 0 to 1"):
        sigmf_recording(path)
    with pytest.raises(ValueError, match="no capture 2"):
        sigmf_recording(path, 2)
    first, second = sigmf_recording(path, 0), sigmf_recording(path, 1)
    assert (first.sample_rate, first.start) == (None, None)
    assert second.start == 1_700_000_000
    assert (sample_bytes(first), sample_bytes(second)) == (data[4:24], data[24:])


def test_a_later_part_of_a_recording_starts_at_its_offset(tmp_path):
    captures = [{"core:sample_start": 1000}]
    path = write_sigmf(tmp_path, bytes(range(8)), "ri8", captures, offset=996)
    assert sample_bytes(sigmf_recording(str(path))) == bytes(range(4, 8))


def test_header_and_trailing_bytes_of_sigmf_data_are_skipped(tmp_path):
    captures = [
        {"core:sample_start": 0, "core:header_bytes": 3},
        {"core:sample_start": 4, "core:header_bytes": 5},
    ]
    path = write_sigmf(
        tmp_path, b"", "ri8", captures, dataset="other.bin", trailing_bytes=2
    )
    path.with_suffix(".sigmf-data").unlink()
    (tmp_path / "other.bin").write_bytes(b"...abcd.....efgh..")
    assert sample_bytes(sigmf_recording(str(path), 0)) == b"abcd"
    assert sample_bytes(sigmf_recording(str(path), 1)) == b"efgh"


@pytest.mark.parametrize(
    ("fields", "message"),
    [
        ({"type_name": "rf64_le"}, "type rf64_le; .*ri8, ru8, ri16_le"),
        ({"type_name": "noise"}, "not a SigMF recording: .*noise"),
        ({"num_channels": 2}, "2 channels"),
        (
            {"captures": [START | {"core:datetime": "2023-02-30T00:00:00Z"}]},
            "core:datetime = '2023-02-30T00:00:00Z' is not a time YYYY-MM-DD",
        ),
        ({"sample_rate": -1}, "global.core:sample_rate: -1 is less than"),
        ({"sample_rate": float("nan")}, "core:sample_rate = nan is not a rate above 0"),
        ({"captures": [{"core:sample_start": 8}]}, "no whole sample"),
        ({"offset": 100}, "core:offset = 100 is larger than the core:sample_start"),
    ],
)
def test_an_unsupported_sigmf_recording_is_rejected(tmp_path, fields, message):
    path = str(write_sigmf(tmp_path, bytes(8), **fields))
    with pytest.raises(ValueError, match=message) as error:
        sigmf_recording(path)
    assert len(str(error.value).splitlines()) == 1


@pytest.mark.parametrize(
    ("suffix", "content", "message"),
    [
        (".sigmf-meta", "[]", "its metadata do not follow the SigMF standard"),
        (
            ".sigmf-collection",
            '{"collection": {"core:version": "1.2.0"}}',
            "collections .* cannot be sent",
        ),
    ],
)
def test_sigmf_metadata_without_a_recording_are_rejected(
    tmp_path, suffix, content, message
):
    path = write_sigmf(tmp_path, bytes(8)).with_suffix(suffix)
    path.write_text(content)
    with pytest.raises(ValueError, match=message):
        sigmf_recording(str(path))


@pytest.mark.parametrize("missing", [".sigmf-meta", ".sigmf-data"])
def test_a_missing_sigmf_file_is_named(tmp_path, missing):
    path = write_sigmf(tmp_path, bytes(8))
    path.with_suffix(missing).unlink()
    with pytest.raises(OSError, match=f"No such file .*recording{missing}"):
        sigmf_recording(str(path))


def test_the_error_without_sigmf_tells_how_to_install_it(tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "sigmf", None)
    with pytest.raises(ValueError, match="scripts/bootstrap installs it"):
        sigmf_recording(str(write_sigmf(tmp_path, bytes(8))))


def test_a_date_keeps_all_its_digits():
    seconds = 1_700_000_000 + Fraction(123456789012345678, 10**18)
    assert seconds_since_1970("2023-11-14T22:13:20.123456789012345678Z") == seconds
    assert seconds_text(seconds) == "1700000000.123456789012345678"


@pytest.mark.parametrize(
    ("channels", "width", "type_name"),
    [(1, 1, "ru8"), (2, 1, "cu8"), (1, 2, "ri16_le"), (2, 2, "ci16_le")],
)
def test_a_wav_file_has_type_and_rate(tmp_path, channels, width, type_name):
    """A truncated file yields the samples it contains."""
    data = bytes(range(40))
    path = write_wav(tmp_path, data, channels, width, 2_400_000)
    recording = wav_recording(str(path))
    assert (recording.type_name, recording.sample_rate) == (type_name, 2_400_000)
    assert sample_bytes(recording) == data
    path.write_bytes(path.read_bytes()[:-12])
    assert sample_bytes(wav_recording(str(path))) == data[:-12]


@pytest.mark.parametrize(
    ("channels", "width", "kind", "message"),
    [
        (1, 3, b"\1\0", "1 channels of 24 bits; .*8 or 16"),
        (3, 2, b"\1\0", "3 channels of 16 bits"),
        (1, 2, b"\3\0", r"recording\.wav is not a WAV .* integers: it has floats$"),
        (1, 2, b"\xfe\xff", "is extensible; write it|it is too short"),
    ],
)
def test_an_unsupported_wav_file_is_rejected(tmp_path, channels, width, kind, message):
    path = write_wav(tmp_path, bytes(36), channels, width)
    content = bytearray(path.read_bytes())
    content[20:22] = kind
    path.write_bytes(content)
    with pytest.raises(ValueError, match=message):
        wav_recording(str(path))


def test_an_incomplete_last_sample_is_ignored(tmp_path):
    path = tmp_path / "recording.bin"
    path.write_bytes(bytes(range(12)))
    assert sample_bytes(raw_recording(str(path), "ci16_le", 3)) == bytes(range(3, 11))
