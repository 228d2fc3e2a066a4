# Copyright 2026 The gr-spead authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Time tags from a source, and where the samples are by the timestamps that leave."""

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
@pytest.mark.parametrize("off", [0, 10])
def test_start_off_the_grid_drops_samples_up_to_it(sock, off, piece):
    sent = send_tagged(sock, 300, [(0, 5 * HEAP + off)], piece)
    lost = -off % HEAP
    first = 5 * HEAP + off + lost
    assert sent.heaps.timestamps[0] == first
    assert sent.heaps.line(first, 300 - lost) == expected(300, lost)
    assert sent.stats["samples_dropped"] == lost


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
    first = -(-(100 + gap) // HEAP) * HEAP  # the multiple behind the gap
    lost = first - 100 - gap
    line = expected(300)
    # the heap that the gap is in was not finished
    assert sent.heaps.line(0, HEAP) == line[:HEAP]
    assert HEAP not in sent.heaps.at or first == HEAP
    assert sent.heaps.line(first, 200 - lost) == line[100 + lost :]
    assert sent.stats["samples_dropped"] == 100 - HEAP + lost
    assert sent.stats["samples_missing"] == gap


@pytest.mark.parametrize("piece", PIECES)
@pytest.mark.parametrize("on_gap", ["realign", "zero_fill"])
def test_step_back_sends_no_timestamp_twice(sock, on_gap, piece):
    sent = send_tagged(sock, 300, [(0, 640), (100, 700)], piece, on_gap=on_gap)
    line = expected(300)
    # samples 100 to 139 are those of the times before
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
def test_two_gaps_in_one_buffer(sock, piece):
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
def test_no_tick_is_lost_years_after_the_synchronisation(sock, rate, years):
    """What a tag's double cannot say is less than half a sample."""
    place = years * 365 * 86400 * Fraction(rate) // HEAP * HEAP + 3 * HEAP
    ratio = Fraction(rate)
    sent = send_tagged(
        sock,
        4 * HEAP,
        [(0, place)],
        rate=ratio,
        heap_address_bits=40,
        sample_rate=(ratio.numerator, ratio.denominator),
    )
    first = int(place) % 2**40
    assert sent.heaps.timestamps == [(first + HEAP * i) % 2**40 for i in range(4)]


def test_a_synchronisation_with_a_fraction(sock):
    """A decimal string and nanoseconds are the same time, and exact."""
    for sync in ("1600000000.123456789", 1_600_000_000_123_456_789):
        exact = Fraction(1_600_000_000_123_456_789, 10**9)
        time = exact + Fraction(10 * HEAP, MHZ)
        sink = spead.sink(destination(sock), **{**OPTIONS, "sync_time": sync})
        run(sink, tagged_source(samples(HEAP), [tag(0, time)]))
        assert Heaps(sock).timestamps == [10 * HEAP]


def test_sink_without_sample_rate_ignores_tags(sock):
    options = {"heap_samples": HEAP, "descriptors": "none"}
    sink = spead.sink(destination(sock), **options)
    run(sink, tagged_source(samples(300), [tag(0, SYNC), tag(100, SYNC + 5)]))
    assert Heaps(sock).line(0, 300) == expected(300)


def test_second_run_starts_at_its_own_tag(sock):
    sink = spead.sink(destination(sock), **OPTIONS)
    for start in (0, 6400):
        run(sink, tagged_source(samples(300), [tag(0, SYNC + Fraction(start, MHZ))]))
        heaps = Heaps(sock)
        assert heaps.timestamps[0] == start
        assert heaps.line(start, 300) == expected(300)


@NEEDS_BUFFER
def test_a_gap_of_many_rings_is_filled_while_the_network_takes_it(sock):
    """Zeros that do not fit wait for room as samples do."""
    gap = 20_000 * HEAP
    sent = send_tagged(
        sock, 300, [(0, 0), (100, 100 + gap)], on_gap="zero_fill", buffer_size=4096
    )
    assert len(sent.heaps.timestamps) == (300 + gap + HEAP - 1) // HEAP
    assert sent.heaps.line(100 + gap, 200) == expected(300, 100)
    assert sent.stats["heaps_sent"] == len(sent.heaps.timestamps)


# A network that takes nothing, and 10 s of zeros at most, which take much longer here.
LONG_GAP = {
    "rate": 1,
    "burst_size": 1,
    "when_full": "drop",
    "on_gap": "zero_fill",
}


def test_stop_in_the_middle_of_a_long_gap(sock):
    inputs = 2
    rate = 10**11
    options = {**OPTIONS, "sample_rate": rate, **LONG_GAP}
    sink = spead.sink(destination(sock), num_inputs=inputs, **options)
    gap = [tag(0, SYNC), tag(100, SYNC + 9)]
    sources = [tagged_source(samples(300), gap) for _ in range(inputs)]
    graph = connected(sink, *sources)
    graph.start()
    eventually(lambda: sink.heaps_dropped() > 1_000_000)
    # the others are behind the gap
    eventually(lambda: sink.samples_in() == 100 * inputs)
    graph.stop()
    wait(graph)
    stats = sink.stats()
    assert stats["samples_pending"] == 0
    assert balanced(stats)


def test_samples_behind_a_long_gap_wait_for_no_network(sock):
    """As many calls as it takes to drop the zeros follow each other at once."""
    rate = 10**12
    options = {"heap_samples": 10**7, "timestamp_step": 10**7, "sample_rate": rate}
    sink = spead.sink(destination(sock), **{**OPTIONS, **options, **LONG_GAP})
    gap = [tag(0, SYNC), tag(100, SYNC + Fraction(1, 20))]
    run(sink, tagged_source(samples(300), gap))
    stats = sink.stats()
    assert stats["samples_in"] == 300
    assert stats["samples_missing"] == rate // 20 - 100
    assert balanced(stats)


@pytest.mark.parametrize("piece", PIECES)
def test_each_input_has_a_time_of_its_own(piece):
    with bound_socket() as first, bound_socket() as second:
        sink = spead.sink(
            [destination(first), destination(second)],
            num_inputs=2,
            on_gap="zero_fill",
            **OPTIONS,
        )
        with_gap = [tag(0, SYNC), tag(100, SYNC + Fraction(105, MHZ))]
        off_the_grid = [tag(0, SYNC + Fraction(70, MHZ))]
        graph = connected(
            sink,
            tagged_source(samples(300), with_gap, piece),
            tagged_source(samples(200), off_the_grid, piece),
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
