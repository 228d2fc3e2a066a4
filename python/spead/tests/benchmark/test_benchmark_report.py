# Copyright 2026 The gr-spead authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""The figures of a sweep are computed right from made-up results."""

import math

import pandas as pd
import pytest
import report
from programs import Program

PROGRAMS = [
    Program("own", (), "own"),
    Program("special", (), "own", bound="part"),
    Program("slow", ()),
    Program("fast", ()),
    Program("part", (), "bound"),
    Program("limit", (), "limit"),
]
NAMES = [program.name for program in PROGRAMS]


def runs(name, speeds, heap=8192, **columns):
    """A row for each round."""
    place = {"program": name, "packet": 1472, "heap": heap, "rate": 0, **columns}
    return [
        {"round": number, "mb_per_s": speed, "max_rss_mib": 10 + number, **place}
        for number, speed in enumerate(speeds, 1)
    ]


@pytest.fixture
def results():
    return report.data_frame(
        [
            *runs("limit", [200, 300, 800]),
            *runs("own", [100, 300, 200]),
            *runs("slow", [50, 50, 50]),
            *runs("fast", [100, 150, None]),
            *runs("own", [400, 400, 400], heap=65536),
        ]
    )


@pytest.fixture
def measured(results):
    return report.speeds(results, NAMES)


def test_ratios_are_those_of_the_rounds(measured):
    found = report.ratios(measured.own, measured.limit).loc[1472, 8192]
    assert list(found) == [0.5, 0.25, 1]  # median, minimum, maximum
    assert math.isnan(
        report.ratios(measured.own, measured.limit)["median"][1472, 65536]
    )


def test_the_best_peer_has_the_highest_median(measured):
    best = report.best_peers(measured, ["slow", "fast"])
    assert list(best.dropna()) == [100, 150]
    found = report.ratios(measured.own, best).loc[1472, 8192]
    assert list(found) == [1.5, 1, 2]


def test_the_table_of_throughput(measured):
    head, _, small, large = report.throughput_table(
        measured, PROGRAMS, 1472
    ).splitlines()
    assert (
        head == "| heap | own | slow | fast | limit | own / limit | own / best peer |"
    )
    ratios = "0.50 (0.25 to 1.00) | 1.50 (1.00 to 2.00)"
    assert small == f"| 8 KiB | 200 | 50 | 125 | 300 | {ratios} |"
    assert large == "| 64 KiB | 400 |  |  |  |  |  |"


def test_a_program_is_compared_with_its_bound():
    rows = [*runs("own", [100]), *runs("special", [30]), *runs("limit", [200])]
    bound = runs("part", [40])
    for part, other, ratio in ((bound, "part", "0.75"), ([], "limit", "0.15")):
        measured = report.speeds(report.data_frame(rows + part), NAMES)
        head, _, row = report.throughput_table(measured, PROGRAMS, 1472).splitlines()
        assert head.endswith(f"| own / limit | special / {other} |")
        assert row.endswith(f"| 0.50 | {ratio} |")


def test_cpu_time_is_that_of_the_additional_heaps():
    """A program takes 0.5 s to start, and 2 s for each GB."""
    rows = []
    for heaps, cpu in ((100, 0.7), (1100, 2.7)):
        paced = {"heap": 10**6, "rate": 50, "heaps": heaps, "cpu_s": cpu}
        rows += runs("own", [40, 45, 50], **paced)
    rows += runs("slow", [50], heap=10**6, rate=50, heaps=100, cpu_s=1)
    per_gigabyte, reached = report.cpu_time(report.data_frame(rows), NAMES)
    assert per_gigabyte.own[1472, 50] == pytest.approx(2)
    assert reached.own[1472, 50] == 45
    assert math.isnan(per_gigabyte.slow[1472, 50])
    table = report.cpu_table(per_gigabyte.loc[1472], reached.loc[1472])
    assert table.splitlines()[0] == "| rate | own | slow |"
    assert table.splitlines()[2] == "| 50 MB/s | 2.00 (only 45 MB/s) |  |"


def test_memory_is_the_highest_of_the_rounds(results):
    assert report.memory(results, NAMES).own[8192] == 13


def test_results_without_a_run_at_a_rate(results, tmp_path):
    report.write(results, PROGRAMS, {"command": "sweep.py"}, ["own: x"], tmp_path)
    text = (tmp_path / "report.md").read_text()
    assert "| command | sweep.py |" in text
    assert "## CPU time" not in text
    assert "- own: x" in text
    assert not (tmp_path / "cpu.svg").exists()


def test_results_with_failures_alone(tmp_path):
    failed = pd.concat(
        [report.data_frame(runs("own", [None], rate=rate)) for rate in (0, 5)]
    )
    report.write(failed, PROGRAMS, {}, ["own: x"], tmp_path)
    assert "- own: x" in (tmp_path / "report.md").read_text()
