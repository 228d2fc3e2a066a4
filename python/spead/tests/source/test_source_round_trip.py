# Copyright 2026 The gr-spead authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""What spead2 sends comes out of the source, sample by sample."""

import numpy as np
from received_streams import Receiving, spead2_heaps, spead2_stream
from streams import noise


def test_spead2_stream():
    samples = noise(100 * 8192)
    with Receiving() as receiving:
        stream = spead2_stream(receiving.port)
        for heap in spead2_heaps(samples, 8192):
            stream.send_heap(heap)
        receiving.wait()
    np.testing.assert_array_equal(receiving.samples(), samples)
    assert receiving.tags("timestamp") == [(0, 0)]
    stats = receiving.source.stats()
    assert stats["samples_out"] == stats["samples_received"] == len(samples)
    assert stats["heaps_received"] == 100
