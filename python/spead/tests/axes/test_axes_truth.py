# Copyright 2026 The gr-spead authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Random heaps of several axes over a faulty network, with steps that fit or do not.

Each vector must be one that was sent, at its time if the step fits, with zeros only
where samples are counted as missing. SPEAD_TRUTH_SEED selects one seed;
SPEAD_TRUTH_RUNS sets the number of seeds.
"""

import operator
import os
import random

import numpy as np
import pytest
from received_streams import joined, received
from telescope_streams import FIRST, STEP, Stream

SEED = int(os.environ.get("SPEAD_TRUTH_SEED", "0"))
RUNS = int(os.environ.get("SPEAD_TRUTH_RUNS", "20"))
HEAPS = 40


def random_stream(chooser):
    choice = chooser.choice
    parts = choice([1, 1, 2, 4])
    axes = [("frequency" if parts > 1 else "channel", choice([5, 16, 64]) * 4 // parts)]
    axes += [("time", choice([1, 2, 16]))] if choice([True, True, False]) else []
    axes += [("pol", 2)] if choice([True, False]) else []
    if parts == 1:
        chooser.shuffle(axes)
    return Stream(dict(axes), np.int8, True, heaps=HEAPS, parts=parts)


def impaired(packets, chooser):
    """Lose, repeat and delay packets, except those of the first and the last heap."""
    loss, repeated, delayed = (chooser.choice([0, 0.01, 0.1]) for _ in range(3))
    arriving = []
    for i, packet in enumerate(packets):
        if i < 2 or chooser.random() >= loss:
            delay = chooser.randrange(8) if chooser.random() < delayed else 0
            arriving.append((i + delay, packet))
        if chooser.random() < repeated:
            arriving.append((i + chooser.randrange(30), packet))
    arriving.sort(key=operator.itemgetter(0))
    return [packet for _, packet in arriving], bool(loss)


def check_vectors(got, sent, indexes):
    """Each vector is that of its index, or of any if indexes is None, beside zeros."""
    for i, vector in enumerate(got):
        if not vector.any():
            continue
        candidates = sent if indexes is None else sent[indexes[i] : indexes[i] + 1]
        is_same = (vector == candidates) | ~vector.any(axis=1)[:, None]
        assert is_same.all(axis=(1, 2)).any(), f"vector {i}"


@pytest.mark.parametrize(
    "seed", [SEED] if SEED else range(1, RUNS + 1), ids="SPEAD_TRUTH_SEED={}".format
)
def test_every_vector_is_one_that_was_sent(seed):
    chooser = random.Random(seed)
    stream = random_stream(chooser)
    factor = chooser.choice([1, 1, 1, 2, 3, 4, 8, 0.5, 0.25, 1.5])
    packets = joined(stream.packets())
    kept, is_lossy = impaired(packets, chooser)
    receiving = received(
        stream.all_packets([kept]),
        axes=stream.option,
        output_type="sc8",
        timestamp_step=round(factor * STEP),
        max_delay=0.2,
    )
    stats = receiving.stats
    steps = stream.axes.get("time", 1)  # vectors of a heap
    wrong = 0
    for port in range(receiving.outputs):
        sent = stream.vectors(port)
        sent = sent.reshape(len(sent), -1, 2)
        got = receiving.samples(port).reshape(-1, *sent.shape[1:])
        indexes = None
        if factor == 1:
            ((offset, tick),) = receiving.tags("timestamp", port)
            first = (tick - FIRST) * steps // STEP - offset
            indexes = range(first, first + len(got))
            wrong += (got != sent[first : first + len(got)]).any(axis=2).sum()
        check_vectors(got, sent, indexes)
    assert wrong <= stats["samples_missing"]
    assert stats["samples_out"] == stats["samples_received"] + stats["samples_missing"]
    if factor == 1 and not is_lossy:
        assert len(got) == len(sent)
        assert stats["samples_missing"] == 0
