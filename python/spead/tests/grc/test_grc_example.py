# Copyright 2026 The gr-spead authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Compiles and runs spead_noise.grc."""

import json

import numpy as np
from flow_graphs import compiled, running
from receiving import destination


def test_the_example_runs_and_every_sample_arrives(sock, receiver, tmp_path):
    with running(
        compiled("spead_noise", tmp_path),
        *("--destination", destination(sock)),
        *("--sample-rate", "1M", "--duration", "0.5"),
    ) as ended:
        heaps = receiver.until_end().heaps
    assert [heap.timestamp for heap in heaps] == list(range(0, 500_000, 8192))
    samples = np.concatenate([heap.samples for heap in heaps])
    assert len(samples) == 500_000
    spectrum = np.abs(np.fft.rfft(samples))
    assert np.argmax(spectrum[1:]) + 1 == 500_000 / 8
    assert 19 < np.std(samples) < 22
    _, _, text = ended.printed.partition("SPEAD_STATS ")
    stats = json.loads(text.splitlines()[0])
    assert stats["samples_in"] == stats["samples_sent"] == 500_000
