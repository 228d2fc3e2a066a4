# Copyright 2026 The gr-spead authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""rx_time tags determine the timestamps of the heaps that the sink sends."""

from fractions import Fraction

import pytest
from gnuradio import blocks, gr, spead
from inputs import connected
from places import eventually
from receiving import bound_socket, destination
from streams import balanced, run, wait
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

GAP = 10 * HEAP + 5


@pytest.mark.parametrize("piece", [None, 7])
def test_zero_fill_fills_a_gap(sock, piece):
    """piece: the most samples that a block upstream produces at a time"""
    tags = [(0, 0), (100, 100 + GAP)]
    sent = send_tagged(sock, 300, tags, piece, on_gap="zero_fill")
    line = expected(300)
    assert sent.heaps.line(0, 300 + GAP) == line[:100] + [0] * GAP + line[100:]
    assert sent.stats["gaps"] == 1
    assert sent.stats["samples_missing"] == GAP
    assert sent.stats["samples_zero_filled"] == GAP
    assert sent.stats["samples_dropped"] == 0


@pytest.mark.parametrize("piece", [None, 7])
def test_realign_starts_a_new_heap_after_a_gap(sock, piece):
    sent = send_tagged(sock, 300, [(0, 0), (100, 100 + GAP)], piece)
    first = -(-(100 + GAP) // HEAP) * HEAP  # the first heap boundary after the gap
    dropped = first - 100 - GAP
    line = expected(300)
    # The sink drops the incomplete heap before the gap.
    assert sent.heaps.line(0, HEAP) == line[:HEAP]
    assert HEAP not in sent.heaps.samples_by_timestamp
    assert sent.heaps.line(first, 200 - dropped) == line[100 + dropped :]
    assert sent.stats["samples_dropped"] == 100 - HEAP + dropped
    assert sent.stats["samples_missing"] == GAP


def test_a_step_back_sends_no_timestamp_twice(sock):
    sent = send_tagged(sock, 300, [(0, 640), (100, 700)])
    line = expected(300)
    # Samples 100 to 139 repeat times that were already sent.
    assert sent.heaps.line(640, 260) == line[:100] + line[140:]
    assert sent.stats["samples_dropped"] == 40
    assert sent.stats["steps_back"] == 1


def test_timestamps_are_exact_years_after_the_sync_time(sock):
    """The double in a tag is off by less than half a sample."""
    ratio = Fraction(8 * MHZ, 7)
    start = 30 * 365 * 86400 * ratio // HEAP * HEAP + 3 * HEAP
    sent = send_tagged(
        sock,
        4 * HEAP,
        [(0, start)],
        rate=ratio,
        heap_address_bits=40,
        sample_rate=(ratio.numerator, ratio.denominator),
    )
    first = int(start) % 2**40
    assert sent.heaps.timestamps == [(first + HEAP * i) % 2**40 for i in range(4)]


def test_a_fractional_sync_time_is_exact(sock):
    """As a decimal string and as integer nanoseconds."""
    for sync in ("1600000000.123456789", 1_600_000_000_123_456_789):
        exact = Fraction(1_600_000_000_123_456_789, 10**9)
        time = exact + Fraction(10 * HEAP, MHZ)
        sink = spead.sink(destination(sock), **{**OPTIONS, "sync_time": sync})
        run(sink, tagged_source(samples(HEAP), [tag(0, time)]))
        assert Heaps(sock).timestamps == [10 * HEAP]


def test_a_sink_without_sample_rate_ignores_tags(sock):
    options = {"heap_samples": HEAP, "descriptors": "none"}
    sink = spead.sink(destination(sock), **options)
    run(sink, tagged_source(samples(300), [tag(0, SYNC), tag(100, SYNC + 5)]))
    assert Heaps(sock).line(0, 300) == expected(300)


# At 1 byte/s the network accepts nothing, so the sink drops the zeros of the gap.
STALLED_ZERO_FILL = {
    "rate": 1,
    "burst_size": 1,
    "when_full": "drop",
    "on_gap": "zero_fill",
}


def test_stop_interrupts_a_long_zero_fill(sock):
    inputs = 2
    rate = 10**11
    options = {**OPTIONS, "sample_rate": rate, **STALLED_ZERO_FILL}
    sink = spead.sink(destination(sock), num_inputs=inputs, **options)
    gap = [tag(0, SYNC), tag(100, SYNC + 9)]
    sources = [tagged_source(samples(300), gap) for _ in range(inputs)]
    graph = connected(sink, *sources)
    graph.start()
    eventually(lambda: sink.heaps_dropped() > 1_000_000)
    # The other 200 samples of each input follow the gap.
    eventually(lambda: sink.samples_in() == 100 * inputs)
    graph.stop()
    wait(graph)
    stats = sink.stats()
    assert stats["samples_pending"] == 0
    assert balanced(stats)


def test_samples_after_a_long_gap_do_not_wait_for_the_network(sock):
    """The calls of work() that drop the zeros follow without a pause."""
    rate = 10**12
    options = {"heap_samples": 10**7, "timestamp_step": 10**7, "sample_rate": rate}
    sink = spead.sink(destination(sock), **{**OPTIONS, **options, **STALLED_ZERO_FILL})
    gap = [tag(0, SYNC), tag(100, SYNC + Fraction(1, 20))]
    run(sink, tagged_source(samples(300), gap))
    stats = sink.stats()
    assert stats["samples_in"] == 300
    assert stats["samples_missing"] == rate // 20 - 100
    assert balanced(stats)


def test_each_input_has_its_own_timestamps():
    with bound_socket() as first, bound_socket() as second:
        sink = spead.sink(
            [destination(first), destination(second)],
            num_inputs=2,
            on_gap="zero_fill",
            **OPTIONS,
        )
        with_gap = [tag(0, SYNC), tag(100, SYNC + Fraction(105, MHZ))]
        misaligned = [tag(0, SYNC + Fraction(70, MHZ))]
        graph = connected(
            sink,
            tagged_source(samples(300), with_gap),
            tagged_source(samples(200), misaligned),
        )
        graph.start()
        wait(graph)
        line = samples(300).tolist()
        filled = line[:100] + [0] * 5 + line[100:]
        assert Heaps(first).line(0, 305) == filled
        assert Heaps(second).line(2 * HEAP, 142) == expected(200, 58)
    stats = sink.stats()
    assert stats["gaps"] == 1
    assert stats["samples_zero_filled"] == 5
    assert stats["samples_dropped"] == 58
    assert stats["samples_sent"] == 442


# Warnings


@pytest.mark.parametrize(
    ("tags", "warning_part"),
    [
        ([], "continue from the previous run, or from 0"),
        ([(0, -100)], "before sync_time: samples are dropped"),
        (
            [(i, i + Fraction(3, 10)) for i in (0, 64)],
            " 0.300000 samples from the",
        ),
        # the sink cannot tell a wrong sample rate from lost samples
        ([(64 * i, 128 * i) for i in range(4)], " 64 samples from the end"),
        ([(64 * i, 32 * i) for i in range(4)], " -32 samples from the end"),
    ],
)
def test_what_is_wrong_with_tags_is_logged_once(sock, capfd, tags, warning_part):
    send_tagged(sock, 300, tags)
    (warning,) = tag_warnings(capfd)
    assert warning_part in warning


def test_tags_with_other_keys_are_ignored(sock, capfd):
    others = [tag(100, SYNC + 1, key) for key in ("rx_rate", "rx_freq", "time")]
    run(
        spead.sink(destination(sock), **OPTIONS),
        tagged_source(samples(300), [tag(0, SYNC), *others]),
    )
    assert Heaps(sock).line(0, 300) == expected(300)
    assert not tag_warnings(capfd)


FAR = 1000 * MHZ


def test_a_tag_far_ahead_and_the_loss_after_it_are_warned_about(sock, capfd):
    """The sink cannot tell a wrong tag from a clock that was set."""
    tags = [(0, 0), (100, FAR), (200, 200), (250, 250)]
    sent = send_tagged(sock, 300, tags)
    assert sent.stats["gaps"] == sent.stats["steps_back"] == 1
    assert FAR in sent.heaps.samples_by_timestamp
    ahead, behind = tag_warnings(capfd)
    assert f"{FAR - 100} samples from" in ahead
    assert "behind" in behind
    assert "dropped" in behind


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
