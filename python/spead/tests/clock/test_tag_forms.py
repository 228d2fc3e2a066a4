# Copyright 2026 The gr-spead authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""The forms that the value of an rx_time tag may have."""

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
    tag,
    tag_warnings,
    tagged_source,
)

u64, integer, real = pmt.from_uint64, pmt.from_long, pmt.from_double
TIME = SYNC + 4  # 4 s are a whole number of heaps, 0.5 s are not
HALF = MHZ // 2


def tagged(offset, value):
    return gr.tag_utils.python_to_tag((offset, pmt.intern("rx_time"), value))


@pytest.mark.parametrize(
    ("value", "ticks"),
    [
        (pmt.make_tuple(u64(TIME), real(0.5)), HALF),  # gr-uhd, gr-soapy, spead.source
        (pmt.make_tuple(integer(TIME), real(0.5)), HALF),  # pmt.to_pmt((TIME, 0.5))
        (pmt.to_pmt([TIME, 0.5]), HALF),  # a vector
        (pmt.to_pmt((float(TIME), 0.5)), HALF),  # from math.modf()
        (pmt.cons(u64(TIME), real(0.5)), HALF),  # gr-pdu_utils
        (pmt.list2(u64(TIME), real(0.5)), HALF),
        # gr-timing_utils: time and position of the tag, and the sample rate
        (pmt.make_tuple(u64(TIME), real(0.5), u64(9), real(MHZ)), HALF),
        (pmt.to_pmt((TIME, 0)), 0),  # in whichever unit
        (pmt.make_tuple(u64(TIME - 1), real(1)), 0),  # a sum may round to 1
    ],
    ids=str,
)
def test_valid_forms_set_the_time(sock, capfd, value, ticks):
    sink = spead.sink(destination(sock), **OPTIONS)
    run(sink, tagged_source(samples(300), [tagged(0, value)]))
    start = 4 * MHZ + ticks
    dropped = -start % HEAP
    assert Heaps(sock).line(start + dropped, 300 - dropped) == expected(300, dropped)
    del sink
    assert not tag_warnings(capfd)


ELEMENTS = "allowed: a tuple, vector or pair of seconds and fraction"
SECONDS = "its seconds are not a whole number, 0 or more"
FRACTION = "its fraction is not a real number from 0 to 1"


@pytest.mark.parametrize(
    ("value", "text", "reason"),
    [
        (real(1.5), "1.5", ELEMENTS),
        (pmt.PMT_NIL, "()", ELEMENTS),
        (pmt.intern("noon\x1b[2J\n"), "noon?[2J?", ELEMENTS),
        (pmt.make_tuple(u64(1)), "{1}", ELEMENTS),
        (pmt.to_pmt((1, 0.5, 3.5, 4)), "{1 0.5 3.5 4}", ELEMENTS),
        (pmt.init_f64vector(2, [5, 0.5]), "#[5.0", ELEMENTS),
        (pmt.to_pmt(list(range(1000))), "#(0 1 2 3 4 5", ELEMENTS),
        (pmt.to_pmt((5.5, 0.5)), "{5.5 0.5}", SECONDS),
        (pmt.to_pmt((-1, 0.5)), "{-1 0.5}", SECONDS),
        (pmt.to_pmt((True, 0.5)), "{#t 0.5}", SECONDS),
        (pmt.to_pmt((1, 1)), "{1 1}", FRACTION),  # in which unit?
        (pmt.to_pmt((1, 2.5)), "{1 2.5}", FRACTION),
        (pmt.to_pmt((1, float("nan"))), "{1 nan}", FRACTION),
    ],
    ids=lambda value: str(value)[:20],
)
def test_other_forms_are_ignored_and_described_once(sock, capfd, value, text, reason):
    sink = spead.sink(destination(sock), **OPTIONS)
    tags = [tag(0, SYNC), tagged(100, value), tagged(200, value)]
    run(sink, tagged_source(samples(300), tags))
    assert Heaps(sock).line(0, 300) == expected(300)
    del sink
    (warning,) = tag_warnings(capfd)
    assert warning.isprintable()
    assert f"an rx_time tag with the value {text}" in warning
    assert warning.endswith(f" is ignored: {reason}")
    assert len(warning) < 300
