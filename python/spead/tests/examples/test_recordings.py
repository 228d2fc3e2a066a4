# Copyright 2026 The gr-spead authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""common/recordings.py reads SigMF, WAV and raw files."""

import os
import struct
import sys
from fractions import Fraction

import numpy as np
import pytest
import send_recording
import soundfile
from common.recordings import (
    is_wav,
    raw_recording,
    seconds_since_1970,
    seconds_text,
    sigmf_recording,
    wav_recording,
)
from recordings_made import (
    append_list_chunk,
    set_rf64_sizes,
    set_riff_sizes,
    write_sigmf,
    write_sigmf_archive,
    write_wav,
)
from streams import noise

START = {"core:sample_start": 0, "core:datetime": "2023-11-14T22:13:20.123456789Z"}
START_SECONDS = Fraction(1_700_000_000_123_456_789, 10**9)


def opened(path, *options):
    """The recording that send_recording.py opens."""
    arguments = [str(path), "127.0.0.1:9", *options]
    return send_recording.open_recording(send_recording.parse(arguments))


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


WAV_TYPES = [  # subtype, channels, SigMF type, dtype in the file
    ("PCM_U8", 1, "ru8", "u1"),
    ("PCM_U8", 2, "cu8", "u1"),
    ("PCM_16", 1, "ri16_le", "<i2"),
    ("PCM_16", 2, "ci16_le", "<i2"),
    ("FLOAT", 1, "rf32_le", "<f4"),
    ("FLOAT", 2, "cf32_le", "<f4"),
]


def noise_for_wav(subtype, channels, count=1001):
    """An odd number of samples, with all bits of the subtype in use."""
    numbers = noise(2 * count * channels).view("<i2").reshape(-1, channels)
    if subtype == "PCM_U8":
        numbers &= -256
    return numbers / np.float32(32768) if subtype == "FLOAT" else numbers


def as_in_file(numbers, dtype):
    """16-bit numbers or floats as they are in a file of a dtype."""
    return (numbers // 256 + 128 if dtype == "u1" else numbers).astype(dtype)


@pytest.mark.parametrize(
    ("variant", "suffix"),
    [("WAV", ".wav"), ("WAVEX", ".WAV"), ("RF64", ".wav"), ("W64", ".w64")],
)
@pytest.mark.parametrize(("subtype", "channels", "type_name", "dtype"), WAV_TYPES)
def test_a_wav_file_has_type_rate_and_samples(
    tmp_path, variant, suffix, subtype, channels, type_name, dtype
):
    numbers = noise_for_wav(subtype, channels)
    path = write_wav(tmp_path, numbers, subtype, 2_400_000, format=variant)
    path = path.rename(path.with_suffix(suffix))
    assert is_wav(str(path))
    recording = wav_recording(str(path))
    assert (recording.type_name, recording.sample_rate) == (type_name, 2_400_000)
    assert sample_bytes(recording) == as_in_file(numbers, dtype).tobytes()


@pytest.mark.parametrize("padded", [True, False])
@pytest.mark.parametrize("subtype", ["PCM_U8", "PCM_16"])
def test_chunks_around_the_samples_are_skipped(tmp_path, caplog, subtype, padded):
    """The chunk of 8-bit samples has an odd size."""
    numbers = noise_for_wav(subtype, 1)
    path = tmp_path / "recording.wav"
    with soundfile.SoundFile(path, "w", 48000, 1, subtype) as file:
        file.title = "before the samples"
        file.write(numbers)
    content = path.read_bytes()
    assert content.index(b"LIST") < content.index(b"data")
    append_list_chunk(path)
    if not padded:
        path.write_bytes(path.read_bytes()[:-1])
    dtype = "u1" if subtype == "PCM_U8" else "<i2"
    recording = wav_recording(str(path))
    assert sample_bytes(recording) == as_in_file(numbers, dtype).tobytes()
    assert caplog.text == ""


@pytest.mark.parametrize(
    ("file_size", "stated"),
    [(0, 0), (36, 0), (2**32 - 1, 2**32 - 1)],
)
def test_an_unfinished_wav_file_is_read_to_its_end(tmp_path, caplog, file_size, stated):
    """As left by a recorder that was killed or wrote to a pipe."""
    numbers = noise_for_wav("PCM_16", 2)
    path = write_wav(tmp_path, numbers)
    set_riff_sizes(path, file_size, stated)
    assert sample_bytes(wav_recording(str(path))) == numbers.tobytes()
    assert f"the header states {stated} bytes" in caplog.text
    assert f"sending {numbers.nbytes} bytes" in caplog.text


@pytest.mark.parametrize(
    ("variant", "subtype", "stated", "missing"),
    [
        ("WAV", "PCM_16", 4000, 0),  # the recorder wrote on after the header
        ("WAV", "PCM_16", 4004, 1000),  # a copy was interrupted
        ("WAV", "FLOAT", 8008, 1),
        ("RF64", "PCM_16", 4004, 4),
        ("W64", "PCM_16", 4004, 4),
    ],
)
def test_sizes_that_contradict_a_wav_file_are_rejected(
    tmp_path, variant, subtype, stated, missing
):
    """The error tells how to send the samples, however."""
    numbers = noise_for_wav(subtype, 2)
    path = write_wav(tmp_path, numbers, subtype, 100_000, format=variant)
    if variant == "WAV":
        header = path.stat().st_size - numbers.nbytes
        set_riff_sizes(path, header - 8 + stated, stated)
    os.truncate(path, path.stat().st_size - missing)
    present = numbers.nbytes - missing
    message = f"header states {stated} bytes of samples, but {present} bytes follow"
    with pytest.raises(ValueError, match=message) as error:
        wav_recording(str(path))
    remedy = str(error.value).partition("add ")[2].split()
    recording = opened(path, *remedy)
    sample_size = recording.type.file_bytes
    expected = numbers.tobytes()[: present // sample_size * sample_size]
    assert sample_bytes(recording) == expected
    assert recording.sample_rate == 100_000


BIG = 5 << 30  # above 4 GiB


@pytest.fixture
def sparse_wav(tmp_path):
    """A WAV file whose samples are a hole of BIG bytes; returns its path.

    Its header states the size of an empty file.
    """
    path = write_wav(tmp_path, np.zeros((0, 2), "<i2"))
    os.truncate(path, path.stat().st_size + BIG)
    yield path
    path.unlink()


@pytest.mark.parametrize("chunk", [b"", b"LIST\4\0\0\0INFO"])
def test_sizes_modulo_2_to_32_are_corrected(sparse_wav, caplog, chunk):
    with open(sparse_wav, "ab") as file:
        file.write(chunk)
    set_riff_sizes(sparse_wav, sparse_wav.stat().st_size - 8, BIG)
    assert wav_recording(str(sparse_wav)).samples == BIG // 4
    assert f"states {BIG % 2**32} bytes" in caplog.text
    assert f"sending {BIG} bytes" in caplog.text


@pytest.mark.parametrize("stated", [0, 2**32 - 1])
@pytest.mark.parametrize("file_size", [None, BIG + 36])
def test_an_unfinished_wav_file_above_4_gib_is_read_to_its_end(
    sparse_wav, caplog, stated, file_size
):
    set_riff_sizes(sparse_wav, stated if file_size is None else file_size, stated)
    assert wav_recording(str(sparse_wav)).samples == BIG // 4
    assert f"states {stated} bytes" in caplog.text
    assert f"sending {BIG} bytes" in caplog.text


@pytest.mark.parametrize("stated", [BIG + 4, BIG - 4, 2**31 - 1])
def test_contradictory_sizes_above_4_gib_are_rejected(sparse_wav, stated):
    set_riff_sizes(sparse_wav, stated + 36, stated)
    message = f"states {stated % 2**32} bytes of samples, but {BIG} bytes follow"
    with pytest.raises(ValueError, match=message):
        wav_recording(str(sparse_wav))


@pytest.mark.parametrize(
    ("stated", "message"),
    [
        (BIG, None),
        (BIG + 2**32, f"states {BIG + 2**32} bytes of samples, but {BIG} bytes follow"),
    ],
)
@pytest.mark.parametrize("field", [2**32 - 1, BIG % 2**32, 0])  # without a meaning
def test_an_rf64_file_above_4_gib_has_its_size(
    tmp_path, caplog, stated, message, field
):
    path = write_wav(tmp_path, np.zeros((0, 2), "<i2"), format="RF64")
    header = path.stat().st_size
    set_rf64_sizes(path, header + stated - 8, stated)
    with path.open("r+b") as file:
        file.seek(header - 4)
        file.write(struct.pack("<I", field))
    try:
        os.truncate(path, header + BIG)
        if message is None:
            assert wav_recording(str(path)).samples == BIG // 4
            assert caplog.text == ""
        else:
            with pytest.raises(ValueError, match=message):
                wav_recording(str(path))
    finally:
        path.unlink()


@pytest.mark.parametrize(
    ("channels", "options", "message"),
    [
        (1, {"subtype": "PCM_24"}, "WAV, 1 channels of PCM_24; .*8 or 16 bits or"),
        (2, {"subtype": "PCM_32"}, "WAV, 2 channels of PCM_32"),
        (1, {"subtype": "DOUBLE"}, "WAV, 1 channels of DOUBLE"),
        (3, {}, "WAV, 3 channels of PCM_16"),
        (1, {"endian": "BIG"}, "RIFX, 1 channels"),
        (1, {"format": "FLAC"}, "FLAC, 1 channels of PCM_16"),
    ],
)
def test_an_unsupported_wav_file_is_rejected(tmp_path, channels, options, message):
    path = write_wav(tmp_path, np.zeros((10, channels), "<i2"), **options)
    with pytest.raises(ValueError, match=message):
        wav_recording(str(path))


def test_the_error_without_soundfile_tells_how_to_install_it(tmp_path, monkeypatch):
    path = write_wav(tmp_path, noise_for_wav("PCM_16", 1))
    monkeypatch.setitem(sys.modules, "soundfile", None)
    with pytest.raises(ValueError, match="apt install python3-soundfile"):
        wav_recording(str(path))


def test_an_incomplete_last_sample_is_ignored(tmp_path):
    path = tmp_path / "recording.bin"
    path.write_bytes(bytes(range(12)))
    assert sample_bytes(raw_recording(str(path), "ci16_le", 3)) == bytes(range(3, 11))
