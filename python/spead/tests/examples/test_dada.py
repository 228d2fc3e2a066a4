# Copyright 2026 The gr-spead authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""instruments/dada.py: headers and recordings of an EDD packetiser."""

import os
from fractions import Fraction

import numpy as np
import pytest
from dada_files import HEADER, header, record
from instruments import dada
from streams import noise


def test_values_have_their_types():
    text = HEADER.replace("NBIT         8", "NBIT         008").encode()
    parsed = dada.Header.parse(text + b"\0" * 100 + b"NBIT 12\n")
    assert parsed.text("TELESCOPE") == "Effelsberg"
    assert parsed.integer("NBIT") == 8
    assert parsed.integer("IDX2_MASK") == 1
    assert parsed.integers("IDX2_LIST") == (0, 1)
    assert parsed.exact("SYNC_TIME") == 1642399613


@pytest.mark.parametrize("key", ["NOTHING", "OBS_ID", "DSB"])
def test_an_absent_value_is_the_default_or_an_error(key):
    assert header().text(key, "x") == "x"
    assert header().integer(key, 7) == 7
    with pytest.raises(ValueError, match=f"the header has no {key}"):
        header().exact(key)


def test_a_value_of_another_type_is_an_error():
    with pytest.raises(ValueError, match="TELESCOPE = 'Effelsberg' is not an integer"):
        header().integer("TELESCOPE")


def test_a_header_that_is_written_is_read_again():
    written = header().to_bytes()
    assert len(written) == 4096
    assert dada.Header.parse(written).fields == header().fields


def test_a_header_may_be_larger(tmp_path):
    samples = noise(2 * 4096)
    recording = record(tmp_path / "r.dada", samples, HDR_SIZE=8192, LONG="x" * 4096)
    assert recording.header.text("LONG") == "x" * 4096
    np.testing.assert_array_equal(recording.data.ravel(), samples)
    with pytest.raises(ValueError, match="HDR_SIZE is 4096"):
        header(LONG="x" * 4096).to_bytes()


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"HDR_SIZE": -5}, "is not a DADA file"),
        ({"HDR_SIZE": 10**12}, "has no whole heap"),
        ({"HDR_SIZE": 10**20}, "has no whole heap"),
        ({"NBIT": 0, "HEAP_NBYTES": 0}, "samples of 0 bits do not fill a heap of 0"),
        ({"NDIM": 0, "HEAP_NBYTES": 0}, "samples of 0 bits do not fill a heap of 0"),
        ({"SAMPLE_CLOCK": "1e999999999"}, "SAMPLE_CLOCK = '1e999999999' is not a num"),
        ({"SYNC_TIME": "nan"}, "SYNC_TIME = 'nan' is not a number"),
    ],
)
def test_a_header_that_is_not_possible_is_an_error(tmp_path, changes, message):
    path = tmp_path / "r.dada"
    fields = header(**changes).fields
    text = "".join(f"{key} {value}\n" for key, value in fields.items())
    path.write_bytes(text.encode().ljust(3 * 4096, b"\0"))
    with pytest.raises(ValueError, match=message):
        dada.Recording(path)


def test_another_file_is_named(tmp_path):
    path = tmp_path / "noise.bin"
    path.write_bytes(noise(10000).tobytes())
    with pytest.raises(ValueError, match=r"noise\.bin is not a DADA file"):
        dada.Recording(path)


def test_heaps_alternate_between_the_polarisations(tmp_path):
    """Of seven heaps, three belong to the second polarisation."""
    samples = noise(7 * 4096 + 100)
    recording = record(tmp_path / "r.dada", samples)
    heaps = samples[: 7 * 4096].reshape(7, 4096)
    np.testing.assert_array_equal(recording.samples(0), heaps[[0, 2, 4, 6]].ravel())
    np.testing.assert_array_equal(recording.samples(1), heaps[[1, 3, 5]].ravel())
    first = 526398652416
    assert recording.timestamps(0) == [first + 4096 * heap for heap in range(4)]
    assert recording.timestamps(1) == [first + 4096 * heap for heap in range(3)]


def test_the_header_describes_the_stream(tmp_path):
    recording = record(tmp_path / "r.dada", noise(8192), OBS_OFFSET=4276224000000)
    assert (recording.heap_samples, recording.heap_bytes) == (4096, 4096)
    assert recording.offset == 4276224000000 // 2
    assert recording.timestamps(0) == [526398652416 + recording.offset]
    assert recording.sample_clock == 800_000_000
    assert recording.destinations() == ["225.0.0.140+3:7148", "225.0.0.144+3:7148"]
    start = recording.sync_time + recording.sample_clock_start / recording.sample_clock
    assert start == Fraction("1642400270.99831552")


def test_single_groups_are_divided_among_the_polarisations(tmp_path):
    groups = "225.0.0.152,225.0.0.153,225.0.0.156,225.0.0.157"
    recording = record(tmp_path / "r.dada", noise(8192), MCAST_SOURCES=groups)
    assert recording.destinations() == [
        "225.0.0.152:7148,225.0.0.153:7148",
        "225.0.0.156:7148,225.0.0.157:7148",
    ]


def test_packed_samples(tmp_path):
    samples = noise(4 * 5120)
    with pytest.raises(ValueError, match="4096 samples of 10 bits do not fill a heap"):
        record(tmp_path / "r.dada", samples, NBIT=10)
    changes = {"NBIT": 10, "HEAP_SIZE": 5120, "HEAP_NBYTES": "unset"}
    recording = record(tmp_path / "r.dada", samples, **changes)
    assert recording.data.shape == (4, 5120)
    assert recording.samples(1).dtype == np.uint8
    assert recording.samples(1).tobytes() == samples.reshape(4, 5120)[1::2].tobytes()


@pytest.mark.skipif(
    "GR_SPEAD_RECORDING" not in os.environ,
    reason="needs GR_SPEAD_RECORDING, the DADA file of an EDD packetiser",
)
def test_a_real_recording():
    recording = dada.Recording(os.environ["GR_SPEAD_RECORDING"])
    assert recording.header.text("INSTRUMENT") == "EDD"
    # UNIX_TIME is the time that the instrument gives.
    start = recording.sync_time + recording.sample_clock_start / recording.sample_clock
    assert abs(start - recording.header.exact("UNIX_TIME")) < Fraction(1, 10**6)
    assert recording.sample_clock_start % recording.heap_samples == 0
    for polarisation in range(recording.polarisations):
        assert 1 < recording.samples(polarisation).astype(float).std() < 64
