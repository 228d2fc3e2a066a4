# Copyright 2026 The gr-spead authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Whatever arrives, spead-inspect prints a short, printable report."""

import json

from crafted_packets import addressed, descriptor, descriptor_heap, immediate, packet
from gnuradio.spead.inspect_program import as_json
from gnuradio.spead.spead_python import _inspector
from gnuradio.spead.stream_report import report
from gnuradio.spead.suggestion import tried_suggestion
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

IDS = st.one_of(
    st.sampled_from([1, 3, 5, 0x10, 0x1600, 0x3300, 0x4300]), st.integers(0, 2**15 - 1)
)
BITS = st.sampled_from([40, 48])
SENDERS = st.sampled_from([f"127.0.0.1:{port}" for port in range(1, 20)])


@st.composite
def packets(draw):
    """Packets of a few item IDs with any values, or damaged."""
    ids = draw(st.lists(IDS, min_size=1, max_size=6))
    bits = draw(BITS)
    made = []
    for i in range(draw(st.integers(0, 30))):
        counter = draw(st.sampled_from([0, 1, i, 2 * i, 2**40 - i, i << 32]))
        if draw(st.integers(0, 5)) == 0:
            descriptors = [
                descriptor(
                    draw(st.text(max_size=8)),
                    draw(st.sampled_from(ids)),
                    draw(st.none() | st.text(max_size=40)),
                    draw(
                        st.lists(
                            st.tuples(
                                st.sampled_from("iufcbx\x9b"), st.integers(0, 99)
                            ),
                            max_size=3,
                        )
                    ),
                    draw(
                        st.sampled_from([(), (None,), (2, 3), (8,), (0,), (2**30,) * 3])
                    ),
                    bits,
                )
                for _ in range(draw(st.integers(1, 3)))
            ]
            data = descriptor_heap(descriptors, counter, bits)
        else:
            values = st.sampled_from([0, 1, i, 1000 * i, 2**bits - 1])
            kind = st.sampled_from([immediate, addressed])
            items = [
                draw(kind)(id, draw(values), bits)
                for id in draw(st.permutations(ids))[: draw(st.integers(0, len(ids)))]
            ]
            payload = bytes(draw(st.sampled_from([0, 1, 8, 100, 1000])))
            length = draw(st.sampled_from([None, 0, len(payload), 4 * len(payload)]))
            offset = draw(st.sampled_from([0, 0, len(payload)]))
            data = packet(counter, items, payload, offset, length, bits)
        damaged = bytearray(data)
        for _ in range(draw(st.sampled_from([0, 0, 0, 1, 3]))):
            damaged[draw(st.integers(0, len(damaged) - 1))] = draw(st.integers(0, 255))
        made.append((draw(SENDERS), bytes(damaged)))
    return made + draw(st.lists(st.tuples(SENDERS, st.binary(max_size=80)), max_size=3))


@settings(
    max_examples=300,
    deadline=None,
    derandomize=True,
    database=None,
    suppress_health_check=[HealthCheck.too_slow],  # the machine may be busy
)
@given(packets())
def test_any_packets_give_a_short_printable_report(packets):
    inspector = _inspector("127.0.0.1:0")
    for sender, data in packets:
        inspector.add(data, sender, 0)
    suggestion = tried_suggestion(inspector, "127.0.0.1:0")
    lines = list(report(inspector, suggestion, "127.0.0.1:0", 1.0))
    assert len(lines) < 200
    for line in report(inspector, suggestion, "127.0.0.1:0", 1.0, explain=True):
        assert line == "" or line.isprintable()
    json.loads(json.dumps(as_json(inspector, suggestion, True), allow_nan=False))
