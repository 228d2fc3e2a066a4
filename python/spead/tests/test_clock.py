# Copyright 2026 The gr-spead authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Time tags from a source, and where the samples are by the timestamps that leave."""

from fractions import Fraction
from types import SimpleNamespace

import numpy as np
import pmt
import pytest
from conftest import Running, destination, run, source
from gnuradio import gr, spead

HEAP = 64
SYNC = 1_600_000_000
MHZ = 1_000_000


def tag(offset, time, key="rx_time"):
    """A tag of a time: an exact number of seconds since 1970."""
    seconds = int(time)
    fraction = float(time - seconds)
    value = pmt.make_tuple(pmt.from_uint64(seconds), pmt.from_double(fraction))
    return gr.tag_utils.python_to_tag((offset, pmt.intern(key), value))


class tagged_source(source):
    """Samples in pieces of the test's choice, with tags."""

    def __init__(self, samples, tags, piece=None):
        source.__init__(self, samples)
        self.piece = piece or len(samples)
        self.tags = sorted(tags, key=lambda t: t.offset)
        self.given = 0

    def start(self):
        self.given = 0
        return source.start(self)

    def work(self, inputs, outputs):
        done = self.at
        made = source.work(self, inputs, [outputs[0][: self.piece]])
        while self.given < len(self.tags) and self.tags[self.given].offset < self.at:
            given = self.tags[self.given]
            self.add_item_tag(0, given.offset, given.key, given.value)
            self.given += 1
        assert done <= self.at
        return made


class Heaps:
    """What arrived: the sample at each tick, which heaps, and that none came twice."""

    def __init__(self, sock, step=HEAP):
        self.timestamps = []
        self.at = {}
        sock.settimeout(5)
        while True:
            packet = sock.recv(65536)
            count = int.from_bytes(packet[6:8], "big")
            words = np.frombuffer(packet, ">u8", count, 8).tolist()
            items = {w >> 40 & 0x7FFFFF: w & (1 << 40) - 1 for w in words}
            if 0x06 in items:
                break
            samples = np.frombuffer(packet, np.int8, offset=8 + 8 * count)
            assert items[0x02] == len(samples)  # heaps of one packet
            timestamp = items[0x1600]
            assert timestamp % step == 0
            self.timestamps.append(timestamp)
            self.at[timestamp] = samples
        assert self.timestamps == sorted(set(self.timestamps))

    def line(self, start, n, step=HEAP):
        """The samples of ticks, None where there are none."""
        found = []
        for tick in range(start, start + n):
            heap = self.at.get(tick // step * step)
            place = tick % step
            gone = heap is None or place >= len(heap)
            found.append(None if gone else int(heap[place]))
        return found


OPTIONS = {
    "heap_samples": HEAP,
    "descriptors": "none",
    "timestamp_source": "rx_time",
    "sample_rate": MHZ,
    "sync_time": str(SYNC),
}


def samples(n):
    """Never 0, so that zeros that are filled in show; the place shows by the value."""
    return (np.arange(n) % 127 + 1).astype(np.int8)


def send_tagged(sock, n, tags, piece=None, rate=MHZ, **options):
    """Tags are pairs of an offset and a place in samples since the synchronisation."""
    made = [tag(offset, SYNC + Fraction(place) / rate) for offset, place in tags]
    sink = spead.sink(destination(sock), **{**OPTIONS, **options})
    run(sink, tagged_source(samples(n), made, piece))
    stats = sink.stats()
    assert stats["samples_in"] == stats["samples_sent"] + stats["samples_dropped"] == n
    return SimpleNamespace(sink=sink, stats=stats, heaps=Heaps(sock))


def expected(n, offset=0):
    return samples(n)[offset:].tolist()


PIECES = [None, 1, 7, HEAP, 100]


@pytest.mark.parametrize("piece", PIECES)
def test_a_start_on_the_grid(sock, piece):
    sent = send_tagged(sock, 300, [(0, 5 * HEAP)], piece)
    assert sent.heaps.timestamps == [HEAP * i for i in range(5, 10)]
    assert sent.heaps.line(5 * HEAP, 300) == expected(300)
    assert sent.stats["samples_dropped"] == 0


@pytest.mark.parametrize("piece", PIECES)
def test_a_start_off_the_grid_drops_up_to_it(sock, piece):
    sent = send_tagged(sock, 300, [(0, 5 * HEAP + 10)], piece)
    assert sent.heaps.timestamps[0] == 6 * HEAP
    assert sent.heaps.line(6 * HEAP, 300 - 54) == expected(300, 54)
    assert sent.stats["samples_dropped"] == 54


@pytest.mark.parametrize("piece", PIECES)
def test_a_start_off_the_grid_filled_with_zeros(sock, piece):
    sent = send_tagged(sock, 300, [(0, 5 * HEAP + 10)], piece, on_start="zero_fill")
    assert sent.heaps.timestamps[0] == 5 * HEAP
    assert sent.heaps.line(5 * HEAP, 310) == [0] * 10 + expected(300)
    assert sent.stats["samples_dropped"] == 0
    assert sent.stats["samples_zero_filled"] == 10
    assert sent.stats["samples_sent"] == 300


GAPS = [3, HEAP - 1, HEAP, 10 * HEAP + 5]


@pytest.mark.parametrize("piece", PIECES)
@pytest.mark.parametrize("gap", GAPS)
def test_a_gap_filled_with_zeros(sock, gap, piece):
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
def test_a_gap_begins_a_heap_anew(sock, gap, piece):
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


@pytest.mark.parametrize("gap", GAPS)
def test_a_gap_ignored_is_counted(sock, gap):
    sent = send_tagged(sock, 300, [(0, 0), (100, 100 + gap)], on_gap="ignore")
    assert sent.heaps.line(0, 300) == expected(300)
    assert sent.stats["gaps"] == 1
    assert sent.stats["samples_missing"] == gap


@pytest.mark.parametrize("piece", PIECES)
@pytest.mark.parametrize("on_gap", ["realign", "zero_fill", "ignore"])
def test_a_step_backwards_sends_no_timestamp_twice(sock, on_gap, piece):
    sent = send_tagged(sock, 300, [(0, 640), (100, 700)], piece, on_gap=on_gap)
    line = expected(300)
    if on_gap == "ignore":
        assert sent.heaps.line(640, 300) == line
    else:
        # samples 100 to 139 are those of the times before
        assert sent.heaps.line(640, 260) == line[:100] + line[140:]
        assert sent.stats["samples_dropped"] == 40
    assert sent.stats["steps_back"] == 1


@pytest.mark.parametrize("piece", PIECES)
def test_tags_that_say_what_is_known_change_nothing(sock, piece):
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


RATES = [1_712_000_000, Fraction(8 * MHZ, 7), MHZ, 800_000_000, 44100]


@pytest.mark.parametrize("rate", RATES)
@pytest.mark.parametrize("years", [0, 1, 30])
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


def warnings(capfd):
    out = capfd.readouterr()
    return [line for line in (out.out + out.err).splitlines() if "rx_time" in line]


def test_an_offset_between_samples_is_warned_about_once(sock, capfd):
    tags = [(0, 64 + Fraction(3, 10)), (64, 128 + Fraction(3, 10))]
    sent = send_tagged(sock, 128, tags)
    assert sent.heaps.timestamps == [64, 128]
    assert len(warnings(capfd)) == 1


def test_without_a_tag_it_counts_and_says_so_once(sock, capfd):
    sent = send_tagged(sock, 300, [], timestamp_start=6400)
    assert sent.heaps.line(6400, 300) == expected(300)
    said = warnings(capfd)
    assert len(said) == 1
    assert "timestamp_start" in said[0]


def test_a_known_time_is_not_warned_about(sock, capfd):
    send_tagged(sock, 300, [(0, 64), (100, 164)])
    assert not warnings(capfd)


def test_times_before_the_synchronisation_are_dropped(sock, capfd):
    sent = send_tagged(sock, 300, [(0, -100)])
    assert sent.heaps.line(0, 200) == expected(300, 100)
    assert sent.stats["samples_dropped"] == 100
    assert len(warnings(capfd)) == 1


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
    assert len(warnings(capfd)) == 1


def test_tags_of_other_keys_mean_nothing(sock):
    other = tag(100, SYNC + 5, key="rx_rate")
    sink = spead.sink(destination(sock), **OPTIONS)
    run(sink, tagged_source(samples(300), [tag(0, SYNC), other]))
    assert Heaps(sock).line(0, 300) == expected(300)


def test_tags_mean_nothing_to_a_sink_that_counts(sock):
    options = {"heap_samples": HEAP, "descriptors": "none"}
    sink = spead.sink(destination(sock), **options)
    run(sink, tagged_source(samples(300), [tag(0, SYNC), tag(100, SYNC + 5)]))
    assert Heaps(sock).line(0, 300) == expected(300)


def test_a_second_run_begins_behind_the_first(sock):
    sink = spead.sink(destination(sock), **OPTIONS)
    for start in (0, 6400):
        run(sink, tagged_source(samples(300), [tag(0, SYNC + Fraction(start, MHZ))]))
        heaps = Heaps(sock)
        assert heaps.timestamps[0] == start
        assert heaps.line(start, 300) == expected(300)


def test_a_gap_of_many_rings_is_filled_while_the_network_takes_it(sock):
    """Zeros that do not fit wait for room as samples do."""
    gap = 20_000 * HEAP
    sent = send_tagged(
        sock, 300, [(0, 0), (100, 100 + gap)], on_gap="zero_fill", buffer_size=4096
    )
    assert len(sent.heaps.timestamps) == (300 + gap + HEAP - 1) // HEAP
    assert sent.heaps.line(100 + gap, 200) == expected(300, 100)
    assert sent.stats["heaps_sent"] == len(sent.heaps.timestamps)


def test_rx_time_can_be_endless(sock):
    """An endless stream stops at once."""
    with Running(destination(sock), **OPTIONS) as sink:
        sock.recv(65536)
    assert sink.stats()["samples_pending"] == 0
