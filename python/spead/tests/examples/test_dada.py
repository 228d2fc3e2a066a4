# Copyright 2026 The gr-spead authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""common/dada.py reads recordings of an EDD packetiser."""

import numpy as np
import pytest
from common import dada
from dada_files import record
from streams import noise


def test_listed_groups_are_divided_among_the_polarisations(tmp_path):
    groups = "225.0.0.152,225.0.0.153,225.0.0.156,225.0.0.157"
    recording = record(tmp_path / "r.dada", noise(8192), MCAST_SOURCES=groups)
    assert recording.destinations() == [
        "225.0.0.152:7148,225.0.0.153:7148",
        "225.0.0.156:7148,225.0.0.157:7148",
    ]


def test_a_header_may_exceed_4096_bytes(tmp_path):
    samples = noise(2 * 4096)
    recording = record(tmp_path / "r.dada", samples, HDR_SIZE=8192, LONG="x" * 4096)
    assert recording.header.text("LONG") == "x" * 4096
    np.testing.assert_array_equal(recording.data.ravel(), samples)


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"HDR_SIZE": -5}, "is not a DADA file"),
        ({"NBIT": 10}, "4096 samples of 10 bits do not fill a heap of 4096"),
        ({"NBIT": "unset"}, "the header has no NBIT"),
    ],
)
def test_an_invalid_header_is_rejected(tmp_path, changes, message):
    with pytest.raises(ValueError, match=message):
        record(tmp_path / "r.dada", noise(2 * 4096), **changes)


def test_a_file_of_another_format_is_rejected_by_name(tmp_path):
    path = tmp_path / "noise.bin"
    path.write_bytes(noise(10000).tobytes())
    with pytest.raises(ValueError, match=r"noise\.bin is not a DADA file"):
        dada.Recording(path)
