# Copyright 2026 The gr-spead authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""What the log says of time tags, and how often."""

from fractions import Fraction

import pmt
import pytest
from gnuradio import gr, spead
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
    tagged_source,
)


def warnings(capfd):
    """What was said of tags. What had to wait for its line came when the sink went."""
    out = capfd.readouterr()
    lines = (out.out + out.err).splitlines()
    return [
        said for line in lines for said in line.split("; ") if "rx_time tag" in said
    ]


def test_an_offset_between_samples_is_warned_about_once(sock, capfd):
    tags = [(0, 64 + Fraction(3, 10)), (64, 128 + Fraction(3, 10))]
    sent = send_tagged(sock, 128, tags)
    assert sent.heaps.timestamps == [64, 128]
    assert len(warnings(capfd)) == 1


def test_without_a_tag_it_counts_and_says_so_once(sock, capfd):
    sent = send_tagged(sock, 300, [])
    assert sent.heaps.line(0, 300) == expected(300)
    said = warnings(capfd)
    assert len(said) == 1
    assert "counted from 0" in said[0]


def test_times_before_the_synchronisation_are_dropped(sock, capfd):
    sent = send_tagged(sock, 300, [(0, -100)])
    assert sent.heaps.line(0, 200) == expected(300, 100)
    assert sent.stats["samples_dropped"] == 100
    assert len(warnings(capfd)) == 1


def test_tags_of_other_keys_are_ignored(sock, capfd):
    others = [tag(100, SYNC + 1, key) for key in ("rx_rate", "rx_freq", "time")]
    run(
        spead.sink(destination(sock), **OPTIONS),
        tagged_source(samples(300), [tag(0, SYNC), *others]),
    )
    assert Heaps(sock).line(0, 300) == expected(300)
    assert not warnings(capfd)


@pytest.mark.parametrize(
    "value",
    [
        pmt.from_double(1.0),
        pmt.PMT_NIL,
        pmt.make_tuple(pmt.from_uint64(1)),
        pmt.make_tuple(pmt.from_double(1), pmt.from_double(0)),
        pmt.make_tuple(pmt.from_uint64(1), pmt.from_double(2.5)),
        pmt.make_tuple(pmt.from_uint64(1), pmt.from_double(float("nan"))),
    ],
)
def test_a_tag_without_a_time_is_ignored_and_warned_about_once(sock, capfd, value):
    bad = gr.tag_t()
    bad.offset, bad.key, bad.value = 100, pmt.intern("rx_time"), value
    worse = gr.tag_t()
    worse.offset, worse.key, worse.value = 200, pmt.intern("rx_time"), value
    sink = spead.sink(destination(sock), **OPTIONS)
    run(sink, tagged_source(samples(300), [tag(0, SYNC), bad, worse]))
    assert Heaps(sock).line(0, 300) == expected(300)
    del sink
    assert len(warnings(capfd)) == 1


FAR = 1000 * MHZ


@pytest.mark.parametrize("on_gap", ["realign", "zero_fill"])
def test_a_tag_far_ahead_and_the_loss_after_it_are_warned_about(sock, capfd, on_gap):
    """Nothing in a tag tells whether it is wrong, or the clock was set."""
    tags = [(0, 0), (100, FAR), (200, 200), (250, 250)]
    sent = send_tagged(sock, 300, tags, on_gap=on_gap)
    assert sent.stats["gaps"] == sent.stats["steps_back"] == 1
    assert FAR in sent.heaps.at
    ahead, behind = warnings(capfd)
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
    said = warnings(capfd)
    assert len(said) == 1
    assert "1000.0" in said[0]


def test_a_late_first_tag_takes_back_what_has_not_been_sent(sock, capfd):
    """Ten samples of an unfinished heap were counted from 0."""
    sent = send_tagged(sock, 300, [(10, 0)])
    assert sent.heaps.line(0, 290) == expected(300, 10)
    assert sent.stats["samples_dropped"] == 10
    assert len(warnings(capfd)) == 1  # that no tag had come


def test_a_late_first_tag_reserves_what_has_been_sent(sock, capfd):
    """The tag says that the second heap is the first one again."""
    sent = send_tagged(sock, 3 * HEAP, [(HEAP, 0)])
    assert sent.heaps.timestamps == [0, HEAP]
    assert sent.stats["samples_dropped"] == HEAP
    assert sent.stats["steps_back"] == 1


@pytest.mark.parametrize("on_gap", ["realign", "zero_fill"])
@pytest.mark.parametrize(("place", "jump"), [(128, "64"), (32, "-32")])
def test_a_rate_that_is_not_that_of_the_source_is_told_of_once(
    sock, capfd, on_gap, place, jump
):
    """As lost samples are, from which it cannot be told."""
    tags = [(64 * i, place * i) for i in range(5)]
    sent = send_tagged(sock, 320, tags, on_gap=on_gap)
    assert sent.stats["gaps"] + sent.stats["steps_back"] == 4
    said = warnings(capfd)
    assert len(said) == 1
    assert f" {jump} samples" in said[0]
    assert "sample_rate" in said[0]
