# Copyright 2026 The gr-spead authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Warnings about rx_time tags, and how often they are logged."""

from fractions import Fraction

import pytest
from gnuradio import blocks, gr, spead
from receiving import destination
from streams import run
from tagged_streams import (
    HEAP,
    MHZ,
    OPTIONS,
    SYNC,
    Heaps,
    expected,
    samples,
    send_tagged,
    tag,
    tag_warnings,
    tagged_source,
)


def test_a_fractional_sample_offset_is_warned_about_once(sock, capfd):
    tags = [(0, 64 + Fraction(3, 10)), (64, 128 + Fraction(3, 10))]
    sent = send_tagged(sock, 128, tags)
    assert sent.heaps.timestamps == [64, 128]
    assert len(tag_warnings(capfd)) == 1


def test_a_stream_without_tags_counts_from_0_and_warns_once(sock, capfd):
    sent = send_tagged(sock, 300, [])
    assert sent.heaps.line(0, 300) == expected(300)
    (warning,) = tag_warnings(capfd)
    assert "continue from the previous run, or from 0" in warning


def test_samples_before_the_sync_time_are_dropped(sock, capfd):
    sent = send_tagged(sock, 300, [(0, -100)])
    assert sent.heaps.line(0, 200) == expected(300, 100)
    assert sent.stats["samples_dropped"] == 100
    assert len(tag_warnings(capfd)) == 1


def test_tags_with_other_keys_are_ignored(sock, capfd):
    others = [tag(100, SYNC + 1, key) for key in ("rx_rate", "rx_freq", "time")]
    run(
        spead.sink(destination(sock), **OPTIONS),
        tagged_source(samples(300), [tag(0, SYNC), *others]),
    )
    assert Heaps(sock).line(0, 300) == expected(300)
    assert not tag_warnings(capfd)


FAR = 1000 * MHZ


@pytest.mark.parametrize("on_gap", ["realign", "zero_fill"])
def test_a_tag_far_ahead_and_the_loss_after_it_are_warned_about(sock, capfd, on_gap):
    """The sink cannot tell a wrong tag from a clock that was set."""
    tags = [(0, 0), (100, FAR), (200, 200), (250, 250)]
    sent = send_tagged(sock, 300, tags, on_gap=on_gap)
    assert sent.stats["gaps"] == sent.stats["steps_back"] == 1
    assert FAR in sent.heaps.at
    ahead, behind = tag_warnings(capfd)
    assert f"{FAR - 100} samples from" in ahead
    assert "behind" in behind
    assert "dropped" in behind


def test_a_clock_set_back_between_two_runs_is_warned_about(sock, capfd):
    sink = spead.sink(destination(sock), **OPTIONS)
    run(sink, tagged_source(samples(HEAP), [tag(0, SYNC + 1000)]))
    assert Heaps(sock).timestamps == [FAR]
    run(sink, tagged_source(samples(HEAP), [tag(0, SYNC)]))
    assert Heaps(sock).timestamps == []
    stats = sink.stats()
    assert stats["steps_back"] == 1
    assert stats["samples_dropped"] == HEAP
    del sink
    (warning,) = tag_warnings(capfd)
    assert "1000.0" in warning


def test_a_late_first_tag_drops_the_samples_of_the_unfinished_heap(sock, capfd):
    """The ten samples before the tag are counted from 0."""
    sent = send_tagged(sock, 300, [(10, 0)])
    assert sent.heaps.line(0, 290) == expected(300, 10)
    assert sent.stats["samples_dropped"] == 10
    assert len(tag_warnings(capfd)) == 1  # about the missing tag


def test_a_late_first_tag_does_not_repeat_a_sent_heap(sock, capfd):
    """The tag gives the second heap the timestamp of the first."""
    sent = send_tagged(sock, 3 * HEAP, [(HEAP, 0)])
    assert sent.heaps.timestamps == [0, HEAP]
    assert sent.stats["samples_dropped"] == HEAP
    assert sent.stats["steps_back"] == 1


@pytest.mark.parametrize("on_gap", ["realign", "zero_fill"])
@pytest.mark.parametrize(("spacing", "jump"), [(128, "64"), (32, "-32")])
def test_a_wrong_sample_rate_is_warned_about_once(sock, capfd, on_gap, spacing, jump):
    """The sink cannot tell it from lost samples."""
    tags = [(64 * i, spacing * i) for i in range(5)]
    sent = send_tagged(sock, 320, tags, on_gap=on_gap)
    assert sent.stats["gaps"] + sent.stats["steps_back"] == 4
    (warning,) = tag_warnings(capfd)
    assert f" {jump} samples" in warning
    assert "sample_rate" in warning


DECIMATION = 8


def send_decimated(sock, decimator):
    """Send samples with a tag on every 1001st one through a decimator."""
    n = 200_000
    rate = DECIMATION * MHZ
    tags = [tag(i, SYNC + Fraction(i, rate)) for i in range(0, n, 1001)]
    sink = spead.sink(destination(sock), **OPTIONS)
    run(sink, tagged_source(samples(n), tags), decimator)
    kept = samples(n)[DECIMATION - 1 :: DECIMATION].tolist()
    return kept, Heaps(sock), sink.stats()


def test_tags_that_jitter_by_a_sample_are_explained_once(sock, capfd):
    """Keep 1 in N rounds the positions of tags down."""
    decimator = blocks.keep_one_in_n(gr.sizeof_char, DECIMATION)
    kept, heaps, stats = send_decimated(sock, decimator)
    assert stats["gaps"] > 10
    assert stats["steps_back"] > 10
    assert len(heaps.timestamps) * HEAP < len(kept)
    warnings = tag_warnings(capfd)
    assert [w for w in warnings if "back and forth" in w] == [
        "rx_time tags jump back and forth, here by -1 samples: a block upstream rounds"
        " the positions of tags, as Keep 1 in N does, or their times are not exact"
    ]


def test_keep_m_in_n_loses_nothing_to_tags(sock):
    """The remedy in the FAQ: it keeps the same samples as Keep 1 in N."""
    decimator = blocks.keep_m_in_n(gr.sizeof_char, 1, DECIMATION, DECIMATION - 1)
    kept, heaps, stats = send_decimated(sock, decimator)
    assert heaps.line(0, len(kept)) == kept
    assert stats["gaps"] == stats["steps_back"] == stats["samples_dropped"] == 0
