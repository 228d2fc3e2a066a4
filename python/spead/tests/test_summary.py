# Copyright 2026 The gr-spead authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""What the benchmark makes of its runs: medians, ratios, costs, and pictures."""

import pytest
from arguments import size
from measure import Run
from plots import draw_throughput
from programs import Program
from report import throughput_table
from summary import Summary, size_text


def test_medians_ratios_and_costs():
    own, peer, faster, limit = (
        Program(name, (), role)
        for name, role in [
            *(("own", "own"), ("peer", "peer"), ("faster", "peer")),
            ("limit", "limit"),
        ]
    )
    speeds = {
        ("own", 8192): (100, 300, 200),
        ("own", 65536): (400, 400, 400),
        ("peer", 8192): (50, 50, 50),
        ("faster", 8192): (100, 100, None),
        ("limit", 8192): (200, 300, 800),
    }
    runs = [
        Run(number, "drop", name, 1472, heap, 0, 9, speed, 1, 1, number)
        for (name, heap), each in speeds.items()
        for number, speed in enumerate(each, 1)
    ]
    # 0.5 s to start, then 2 s for each GB
    runs += [
        Run(number, "drop", "own", 9000, 10**6, 50, heaps, 49, cpu, 1, 9)
        for number in (1, 2, 3)
        for heaps, cpu in ((100, 0.7), (1100, 2.7))
    ]
    summary = Summary(runs, [own, peer, faster, limit])
    assert summary.speed("own", 1472, 8192) == 200
    # of the ratios 0.5, 1 and 0.25 of the rounds
    assert summary.ratio("own", "limit", 1472, 8192) == 0.5
    assert summary.best_peer(1472, 8192) == "faster"
    assert summary.ratio("own", "faster", 1472, 8192) == 2  # of two rounds
    assert summary.best_peer(1472, 65536) is None
    assert summary.speed("peer", 1472, 65536) is None
    assert summary.ratio("own", "peer", 1472, 65536) is None
    assert summary.flatness("own", 1472) == 0.5
    assert summary.memory("own", 8192) == 3
    per_gigabyte, reached = summary.cost("own", 9000, 50)
    assert per_gigabyte == pytest.approx(2)
    assert reached == 49
    assert summary.cost("peer", 9000, 50) is None


def test_the_ratio_to_the_best_peer_shows_a_difference_of_5_percent():
    speeds = {"own": 95.4, "peer": 100}
    runs = [Run(1, "drop", name, 1472, 8192, 0, 9, speeds[name]) for name in speeds]
    programs = [Program("own", (), "own"), Program("peer", ())]
    head, _, row = throughput_table(Summary(runs, programs), 1472).splitlines()
    assert head == "| heap | own | peer | own / best peer |"
    assert row == "| 8 KiB | 95 | 100 | 0.95 |"


def test_a_program_may_have_a_bound_of_its_own():
    programs = [
        Program("own", (), "own"),
        Program("special", (), "own", bound="part"),
        Program("part", (), "bound"),
        Program("limit", (), "limit"),
    ]
    speeds = {"own": 100, "special": 30, "part": 40, "limit": 200}
    runs = [
        Run(1, "drop", name, 1472, 8192, 0, 1, speed) for name, speed in speeds.items()
    ]
    summary = Summary(runs, programs)
    assert summary.reference("own") == "limit"
    assert summary.reference("special") == "part"
    header, _, row = throughput_table(summary, 1472).splitlines()
    assert header.endswith("| own / limit | special / part |")
    assert row.endswith("| 0.50 | 0.75 |")
    without = Summary([run for run in runs if run.program != "part"], programs)
    assert without.reference("special") == "limit"


@pytest.mark.parametrize(
    ("text", "value", "shown"),
    [
        ("1472", 1472, "1472 B"),
        ("8k", 8192, "8 KiB"),
        ("64K", 65536, "64 KiB"),
        ("16M", 1 << 24, "16 MiB"),
    ],
)
def test_sizes(text, value, shown):
    assert size(text) == value
    assert size_text(value) == shown


def test_the_same_figures_make_the_same_picture(tmp_path):
    runs = [Run(1, "drop", "a", 1472, 8192 << i, 0, 9, 1000 + i) for i in range(8)]
    summary = Summary(runs, [Program("a", ())])
    pictures = [tmp_path / "1.svg", tmp_path / "2.svg"]
    for picture in pictures:
        draw_throughput(summary, picture)
    assert pictures[0].read_text() == pictures[1].read_text()
