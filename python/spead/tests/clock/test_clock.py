# Copyright 2026 The gr-spead authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""rx_time tags determine the timestamps of the heaps that the sink sends."""

from fractions import Fraction

import pytest
from gnuradio import spead
from inputs import connected
from places import NEEDS_BUFFER, eventually
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
    tagged_source,
)

PIECES = [None, 7, HEAP]


@pytest.mark.parametrize("piece", PIECES)
@pytest.mark.parametrize("misalignment", [0, 10])
def test_a_misaligned_start_drops_samples_up_to_the_next_heap(
    sock, misalignment, piece
):
    start = 5 * HEAP + misalignment
    sent = send_tagged(sock, 300, [(0, start)], piece)
    dropped = -misalignment % HEAP
    first = start + dropped
    assert sent.heaps.timestamps[0] == first
    assert sent.heaps.line(first, 300 - dropped) == expected(300, dropped)
    assert sent.stats["samples_dropped"] == dropped


GAPS = [3, HEAP - 1, HEAP, 10 * HEAP + 5]


@pytest.mark.parametrize("piece", PIECES)
@pytest.mark.parametrize("gap", GAPS)
def test_zero_fill_fills_a_gap(sock, gap, piece):
    tags = [(0, 0), (100, 100 + gap)]
    sent = send_tagged(sock, 300, tags, piece, on_gap="zero_fill")
    line = expected(300)
    assert sent.heaps.line(0, 300 + gap) == line[:100] + [0] * gap + line[100:]
    assert sent.stats["gaps"] == 1
    assert sent.stats["samples_missing"] == gap
    assert sent.stats["samples_zero_filled"] == gap
    assert sent.stats["samples_dropped"] == 0


@pytest.mark.parametrize("piece", PIECES)
@pytest.mark.parametrize("gap", GAPS)
def test_realign_starts_a_new_heap_after_a_gap(sock, gap, piece):
    sent = send_tagged(sock, 300, [(0, 0), (100, 100 + gap)], piece)
    first = -(-(100 + gap) // HEAP) * HEAP  # the first heap boundary after the gap
    dropped = first - 100 - gap
    line = expected(300)
    # The sink drops the incomplete heap before the gap.
    assert sent.heaps.line(0, HEAP) == line[:HEAP]
    assert HEAP not in sent.heaps.at or first == HEAP
    assert sent.heaps.line(first, 200 - dropped) == line[100 + dropped :]
    assert sent.stats["samples_dropped"] == 100 - HEAP + dropped
    assert sent.stats["samples_missing"] == gap


@pytest.mark.parametrize("piece", PIECES)
@pytest.mark.parametrize("on_gap", ["realign", "zero_fill"])
def test_a_step_back_sends_no_timestamp_twice(sock, on_gap, piece):
    sent = send_tagged(sock, 300, [(0, 640), (100, 700)], piece, on_gap=on_gap)
    line = expected(300)
    # Samples 100 to 139 repeat times that were already sent.
    assert sent.heaps.line(640, 260) == line[:100] + line[140:]
    assert sent.stats["samples_dropped"] == 40
    assert sent.stats["steps_back"] == 1


@pytest.mark.parametrize("piece", PIECES)
def test_consistent_tags_change_nothing(sock, piece):
    tags = [(0, 0), (0, 0), (50, 50), (51, 51), (64, 64), (128, 128), (299, 299)]
    sent = send_tagged(sock, 300, tags, piece)
    assert sent.heaps.line(0, 300) == expected(300)
    assert sent.stats["gaps"] == sent.stats["steps_back"] == 0


@pytest.mark.parametrize("piece", PIECES)
def test_two_gaps_in_one_buffer_are_filled(sock, piece):
    tags = [(0, 0), (100, 105), (110, 120)]
    sent = send_tagged(sock, 300, tags, piece, on_gap="zero_fill")
    line = expected(300)
    assert sent.heaps.line(0, 310) == (
        line[:100] + [0] * 5 + line[100:110] + [0] * 5 + line[110:]
    )
    assert sent.stats["gaps"] == 2


RATES = [1_712_000_000, Fraction(8 * MHZ, 7), 44100]


@pytest.mark.parametrize("rate", RATES)
@pytest.mark.parametrize("years", [0, 30])
def test_timestamps_are_exact_years_after_the_sync_time(sock, rate, years):
    """The double in a tag is off by less than half a sample."""
    start = years * 365 * 86400 * Fraction(rate) // HEAP * HEAP + 3 * HEAP
    ratio = Fraction(rate)
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


def test_the_second_run_starts_at_its_own_tag(sock):
    sink = spead.sink(destination(sock), **OPTIONS)
    for start in (0, 6400):
        run(sink, tagged_source(samples(300), [tag(0, SYNC + Fraction(start, MHZ))]))
        heaps = Heaps(sock)
        assert heaps.timestamps[0] == start
        assert heaps.line(start, 300) == expected(300)


@NEEDS_BUFFER
def test_a_gap_larger_than_the_packet_ring_is_filled(sock):
    """Backpressure applies to zeros as it does to samples."""
    gap = 20_000 * HEAP
    sent = send_tagged(
        sock, 300, [(0, 0), (100, 100 + gap)], on_gap="zero_fill", buffer_size=4096
    )
    assert len(sent.heaps.timestamps) == (300 + gap + HEAP - 1) // HEAP
    assert sent.heaps.line(100 + gap, 200) == expected(300, 100)
    assert sent.stats["heaps_sent"] == len(sent.heaps.timestamps)


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


@pytest.mark.parametrize("piece", PIECES)
def test_each_input_has_its_own_timestamps(piece):
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
            tagged_source(samples(300), with_gap, piece),
            tagged_source(samples(200), misaligned, piece),
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
