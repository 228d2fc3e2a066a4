# Copyright 2026 The gr-spead authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Heaps with several axes become vectors, exactly as numpy transposes them."""

import numpy as np
import pytest
from received_streams import received
from spead_packet import parse
from telescope_streams import FIRST, STEP, STREAMS, Stream, expected_samples


@pytest.mark.parametrize("name", STREAMS)
def test_heaps_become_vectors(name):
    stream, output_type, scale = STREAMS[name]
    options = {"axes": stream.option, "output_type": output_type, "scale": scale}
    options["max_delay"] = stream.parts > 1  # they arrive one after the other
    packets = stream.all_packets(stream.packets())
    receiving = received(packets, timestamp_step=STEP, **options)
    assert receiving.outputs == stream.axes.get("pol", 1)
    for port in range(receiving.outputs):
        expected = expected_samples(stream.vectors(port), output_type, scale)
        got = receiving.samples(port).reshape(len(expected), -1)
        np.testing.assert_allclose(got, expected, rtol=1e-6 if scale else 0)
        assert receiving.tags("timestamp", port) == [(0, FIRST)]
        assert receiving.tags("missing", port) == []
    assert receiving.stats["samples_missing"] == 0


@pytest.mark.parametrize("parts", [1, 8])
def test_lost_packets_leave_zeros_that_are_counted(parts):
    axes = {"frequency": 64 // parts, "time": 64, "pol": 2}
    stream = Stream(axes, np.int8, True, parts=parts, heaps=20)
    samples = stream.samples.copy()
    generator = np.random.default_rng(1)
    heaps = stream.packets()
    for i, packets in enumerate(heaps):
        flat = samples[i // parts, i % parts].reshape(-1)
        for packet in [p for p in packets if generator.random() < 0.03]:
            fields = {item.id: item.value for item in parse(packet).items}
            flat[fields[3] : fields[3] + fields[4]] = 0
            packets.remove(packet)
    receiving = received(
        stream.all_packets(heaps),
        axes=stream.option,
        output_type="sc8",
        timestamp_step=STEP,
        max_delay=1,
    )
    for port in range(2):
        expected = expected_samples(stream.vectors(port, samples), "sc8")
        np.testing.assert_array_equal(receiving.samples(port), expected)
