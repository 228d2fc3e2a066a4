# Copyright 2026 The gr-spead authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""common/recordings.py reads SigMF, WAV and raw files."""

import os
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
    """Its samples follow headers and those of core:offset."""
    captures = [
        {"core:sample_start": 1000, "core:header_bytes": 3},
        {
            "core:sample_start": 1004,
            "core:header_bytes": 5,
            "core:datetime": "2023-11-14T22:13:20Z",
        },
    ]
    fields = {"offset": 998, "dataset": "other.bin", "trailing_bytes": 2}
    path = str(write_sigmf(tmp_path, b"", captures=captures, **fields))
    (tmp_path / "recording.sigmf-data").unlink()
    (tmp_path / "other.bin").write_bytes(b"...12abcd.....efgh..")
    with pytest.raises(ValueError, match=r"2 captures.*--capture 0 to 1"):
        sigmf_recording(path)
    with pytest.raises(ValueError, match="no capture 2"):
        sigmf_recording(path, 2)
    first, second = sigmf_recording(path, 0), sigmf_recording(path, 1)
    assert (first.sample_rate, first.start) == (None, None)
    assert second.start == 1_700_000_000
    assert (sample_bytes(first), sample_bytes(second)) == (b"abcd", b"efgh")


@pytest.mark.parametrize(
    ("fields", "message"),
    [
        ({"type_name": "rf64_le"}, "type rf64_le; .*ri8, ru8, ri16_le"),
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


def test_sigmf_metadata_without_a_recording_are_rejected(tmp_path):
    path = write_sigmf(tmp_path, bytes(8))
    path.write_text("[]")
    with pytest.raises(ValueError, match="do not follow the SigMF standard"):
        sigmf_recording(str(path))
    collection = path.with_suffix(".sigmf-collection")
    collection.write_text('{"collection": {"core:version": "1.2.0"}}')
    with pytest.raises(ValueError, match=r"collections .* cannot be sent"):
        sigmf_recording(str(collection))


def test_a_date_keeps_all_its_digits():
    seconds = 1_700_000_000 + Fraction(123456789012345678, 10**18)
    assert seconds_since_1970("2023-11-14T22:13:20.123456789012345678Z") == seconds
    assert seconds_text(seconds) == "1700000000.123456789012345678"


def noise_for_wav(subtype, channels):
    """An odd number of samples, with all bits of the subtype in use."""
    numbers = noise(2 * 1001 * channels).view("<i2").reshape(-1, channels)
    if subtype == "PCM_U8":
        numbers &= -256
    return numbers / np.float32(32768) if subtype == "FLOAT" else numbers


def as_in_file(numbers, dtype):
    """16-bit numbers or floats as they are in a file of a dtype."""
    return (numbers // 256 + 128 if dtype == "u1" else numbers).astype(dtype)


@pytest.mark.parametrize(
    ("variant", "suffix", "subtype", "channels", "type_name", "dtype"),
    [
        ("WAV", ".wav", "PCM_U8", 1, "ru8", "u1"),
        ("WAVEX", ".WAV", "PCM_U8", 2, "cu8", "u1"),
        ("RF64", ".wav", "PCM_16", 1, "ri16_le", "<i2"),
        ("W64", ".w64", "PCM_16", 2, "ci16_le", "<i2"),
        ("WAV", ".wav", "FLOAT", 1, "rf32_le", "<f4"),
        ("W64", ".w64", "FLOAT", 2, "cf32_le", "<f4"),
    ],
)
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
def test_chunks_around_the_samples_are_skipped(tmp_path, caplog, padded):
    """The chunk of the samples has an odd size."""
    numbers = noise_for_wav("PCM_U8", 1)
    path = tmp_path / "recording.wav"
    with soundfile.SoundFile(path, "w", 48000, 1, "PCM_U8") as file:
        file.title = "before the samples"
        file.write(numbers)
    content = path.read_bytes()
    assert content.index(b"LIST") < content.index(b"data")
    append_list_chunk(path)
    if not padded:
        path.write_bytes(path.read_bytes()[:-1])
    recording = wav_recording(str(path))
    assert sample_bytes(recording) == as_in_file(numbers, "u1").tobytes()
    assert caplog.text == ""


@pytest.mark.parametrize(
    ("variant", "stated", "missing"),
    [
        ("WAV", 4000, 0),  # the recorder wrote on after the header
        ("WAV", 4004, 999),  # a copy was interrupted
        ("RF64", 4004, 4),
        ("W64", 4004, 4),
    ],
)
def test_sizes_that_contradict_a_wav_file_are_rejected(
    tmp_path, variant, stated, missing
):
    """The error tells how to send the samples, however."""
    numbers = noise_for_wav("PCM_16", 2)
    path = write_wav(tmp_path, numbers, rate=100_000, format=variant)
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


def sparse_wav(folder, length, **options):
    """A WAV file whose samples are a hole; returns its path and the header size."""
    path = write_wav(folder, np.zeros((0, 2), "<i2"), **options)
    header = path.stat().st_size
    os.truncate(path, header + length)
    return path, header


def check_length(path, length, stated, is_accepted):
    if is_accepted:
        assert wav_recording(str(path)).samples == length // 4
        return
    message = f"states {stated} bytes of samples, but {length} bytes follow"
    with pytest.raises(ValueError, match=message):
        wav_recording(str(path))


BIG = 5 << 30  # above 4 GiB


@pytest.mark.parametrize(
    ("length", "chunk", "file_size", "stated", "is_accepted"),
    [
        # Unfinished, as left by a recorder that was killed or wrote to a pipe.
        (4004, b"", 0, 0, True),
        (4004, b"", 36, 0, True),
        (4004, b"", 2**32 - 1, 2**32 - 1, True),
        (BIG, b"", 2**32 - 1, 2**32 - 1, True),
        (BIG, b"", BIG + 36, 0, True),
        # Modulo 2^32, before another chunk.
        (BIG, b"LIST\4\0\0\0INFO", BIG + 48, BIG, True),
        # Contradictory.
        (BIG, b"", BIG + 40, BIG + 4, False),
        (BIG, b"", BIG + 32, BIG - 4, False),
    ],
)
def test_wrong_sizes_of_a_wav_file_are_corrected(
    tmp_path, caplog, length, chunk, file_size, stated, is_accepted
):
    path, _ = sparse_wav(tmp_path, length)
    set_riff_sizes(path, file_size, stated)
    with open(path, "ab") as file:
        file.write(chunk)
    check_length(path, length, stated % 2**32, is_accepted)
    if is_accepted:
        assert f"the header states {stated % 2**32} bytes" in caplog.text
        assert f"sending {length} bytes" in caplog.text


@pytest.mark.parametrize("stated", [BIG, BIG + 2**32])
def test_the_sizes_of_an_rf64_file_are_not_modulo_2_to_32(tmp_path, caplog, stated):
    path, header = sparse_wav(tmp_path, BIG, format="RF64")
    set_rf64_sizes(path, header + stated - 8, stated)
    check_length(path, BIG, stated, stated == BIG)
    assert caplog.text == ""


@pytest.mark.parametrize(
    ("channels", "options", "message"),
    [
        (1, {"subtype": "PCM_24"}, "WAV, 1 channels of PCM_24; .*8 or 16 bits or"),
        (3, {}, "WAV, 3 channels of PCM_16"),
        (1, {"endian": "BIG"}, "RIFX, 1 channels"),
        (1, {"format": "FLAC"}, "FLAC, 1 channels of PCM_16"),
    ],
)
def test_an_unsupported_wav_file_is_rejected(tmp_path, channels, options, message):
    path = write_wav(tmp_path, np.zeros((10, channels), "<i2"), **options)
    with pytest.raises(ValueError, match=message):
        wav_recording(str(path))


def test_an_incomplete_last_sample_is_ignored(tmp_path):
    path = tmp_path / "recording.bin"
    path.write_bytes(bytes(range(12)))
    assert sample_bytes(raw_recording(str(path), "ci16_le", 3)) == bytes(range(3, 11))
