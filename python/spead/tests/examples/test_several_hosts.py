# Copyright 2026 The gr-spead authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Receivers of a part of the channels each, and programs that join their spectra."""

import importlib.util
import shutil
import signal
import subprocess
import sys
from types import SimpleNamespace

import collect
import numpy as np
import pmt
import pytest
import receive
import yaml
from f_engine import OPTIONS, RECEIVER_OPTIONS, TICKS, arguments
from gnuradio import blocks, gr
from inputs import run_all
from places import (
    BOUND,
    EXAMPLES,
    HELPERS,
    NEEDS_NAMESPACES,
    eventually,
)
from streams import wait

FOLDER = EXAMPLES / "several_hosts"
PART = ["239.1.2.0+3:7148", "127.0.0.1:7149", "--part=2", *arguments(RECEIVER_OPTIONS)]


def run_alone(script, *args):
    """Run a scenario in namespaces of its own. Its processes end with it."""
    namespaces = "--net", "--mount", "--pid", "--fork", "--kill-child", "--mount-proc"
    done = subprocess.run(
        ["unshare", *namespaces, sys.executable, HELPERS / script, *args],
        timeout=8 * BOUND,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr


@NEEDS_NAMESPACES
def test_a_killed_part_is_named_and_lines_up_after_its_restart(tmp_path):
    """The hosts are those of the documentation."""
    run_alone("several_hosts_scenarios.py", "one_part_is_killed", str(tmp_path))
    assert (tmp_path / "spectra.png").read_bytes()[:4] == b"\x89PNG"


def test_a_part_receives_its_share_of_the_endpoints():
    args = receive.parse([*PART, "--start=0"])
    assert receive.own_endpoints(args) == "239.1.2.2:7148"
    args.endpoints = "239.1.2.0+7:7148"
    assert receive.own_endpoints(args) == "239.1.2.4:7148,239.1.2.5:7148"
    args.endpoints = "0.0.0.0:7148"
    assert receive.own_endpoints(args) == "0.0.0.0:7148"
    args.endpoints = "239.1.2.0+2:7148"
    with pytest.raises(ValueError, match="3 endpoints cannot be divided by --of 4"):
        receive.own_endpoints(args)


def test_all_parts_start_at_multiples_of_an_integration(monkeypatch):
    sync_time = 1_700_000_000
    options = ["--sync-time", str(sync_time), "--delay=2", "--sample-rate=1M"]
    for elapsed in (0, 0.5, 1000.0000005):
        now = sync_time * 10**9 + round(elapsed * 1e9)
        monkeypatch.setattr(receive.time, "time_ns", lambda now=now: now)
        start = receive.parse([*PART, *options]).start
        assert start % TICKS == 0
        assert 0 <= start - (elapsed + 2) * 1e6 < TICKS


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ([], "--sync-time or --start is required"),
        (["--start=1"], f"--start 1 is not a multiple of an integration, {TICKS}"),
        (["--start=0", "--part=4"], "--part 4 is not below --of 4"),
        (["--start=0", "--substreams=2"], "--channels must be a multiple of"),
    ],
)
def test_impossible_parts_are_refused(options, message, capsys):
    with pytest.raises(SystemExit):
        receive.parse([*PART, *options])
    assert message in capsys.readouterr().err


def test_a_file_needs_a_number_of_spectra(capsys):
    with pytest.raises(SystemExit):
        receive.parse([PART[0], "part.npz", "--start=0"])
    assert "part.npz needs --count" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("ticks", "count"), [({0: 7}, 100), ({0: 7, 60: 500}, 60), ({0: 500}, 0)]
)
def test_a_part_ends_where_the_samples_do_not_continue(ticks, count):
    tags = [
        gr.tag_utils.python_to_tag((at, pmt.intern("timestamp"), pmt.from_uint64(tick)))
        for at, tick in ticks.items()
    ]
    samples = np.arange(200, dtype=np.float32)
    source = blocks.vector_source_f(samples, False, 2, tags)
    continuous, received = receive.Continuous(2, 7), blocks.vector_sink_f(2)
    graph = gr.top_block()
    graph.connect(source, continuous, received)
    graph.run()
    np.testing.assert_array_equal(received.data(), samples[: 2 * count])
    error = None if count == 100 else "the stream continues at tick 500: start again"
    assert continuous.error == error


def parts_of(counters, silence=BOUND):
    """Parts with the counters (samples_received, samples_missing) of a list."""
    names = "samples_received", "samples_missing"
    return collect.Parts(
        lambda part: dict(zip(names, counters[part], strict=True)), 2, silence
    )


def test_a_part_is_missing_while_only_the_others_are_received():
    counters = [(0, 0), (0, 0)]
    parts = parts_of(counters)
    assert parts.update() == []
    counters[:] = (16, 0), (0, 16)
    assert parts.update() == [0, 1]
    assert parts.are_present == [True, False]
    counters[:] = (32, 0), (0, 32)
    assert parts.update() == []
    counters[:] = (48, 0), (16, 32)
    assert parts.update() == [1]
    assert parts.are_present == [True, True]


def test_all_parts_are_missing_after_silence():
    parts = parts_of([(0, 0), (0, 0)], silence=-1)
    assert parts.update() == [0, 1]
    assert parts.are_present == [False, False]


def test_the_collector_names_the_parts_that_do_not_send():
    program = subprocess.Popen(
        [sys.executable, collect.__file__, "127.0.0.1:0", "-", *arguments(OPTIONS)],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    for part in range(4):
        expected = f"part {part}, channels {16 * part} to {16 * part + 15}, is missing"
        assert expected in program.stdout.readline()
    program.send_signal(signal.SIGINT)
    _, error = program.communicate(timeout=BOUND)
    assert program.returncode == 1
    assert "collect.py: " in error


def test_spectra_of_two_parts_are_joined(monkeypatch):
    monkeypatch.setattr(collect, "MAX_DELAY", BOUND)  # one part is sent after the other
    layout = {"channels": 4, "spectra": 1, "integrate": 1, "of": 2}
    collector = collect.Collector(
        collect.parse(["127.0.0.1:0", "-", *arguments(layout)])
    )
    received = blocks.vector_sink_f(4)
    collector.connect(collector.source, received)
    collector.start()
    output = f"127.0.0.1:{collector.source.ports()[0]}"
    power = np.arange(40, dtype=np.float32).reshape(10, 4)
    for part in range(2):
        args = SimpleNamespace(
            output=output, part=part, start=8 * 100, interface="", **layout
        )
        run_all(receive.collector_sink(args), power[:, 2 * part : 2 * part + 2])
    eventually(lambda: len(received.data()) == power.size)
    collector.stop()
    wait(collector)
    np.testing.assert_array_equal(received.data(), power.ravel())
    np.testing.assert_array_equal(collector.spectra.power[:10], power)


def test_the_service_is_valid():
    if not shutil.which("systemd-analyze"):
        pytest.skip("needs systemd-analyze")
    unit = FOLDER / "spead-part@.service"
    command = ["systemd-analyze", "verify", str(unit)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=BOUND)
    assert done.returncode == 0, done.stderr


def test_the_alert_is_about_a_scraped_job():
    config = yaml.safe_load((FOLDER / "prometheus.yml").read_text())
    jobs = {job["job_name"] for job in config["scrape_configs"]}
    assert all((FOLDER / file).is_file() for file in config["rule_files"])
    alerts = yaml.safe_load((FOLDER / "alerts.yml").read_text())
    (rule,) = alerts["groups"][0]["rules"]
    assert rule["expr"] == 'up{job="spead-parts"} == 0'
    assert "spead-parts" in jobs


NEEDS_DASK = pytest.mark.skipif(
    importlib.util.find_spec("distributed") is None,
    reason="needs Dask: apt install python3-distributed",
)


@NEEDS_NAMESPACES
@NEEDS_DASK
def test_workers_of_dask_sum_as_numpy_does(tmp_path):
    run_alone("dask_scenarios.py", "all", tmp_path)


@NEEDS_NAMESPACES
@NEEDS_DASK
def test_a_worker_that_dies_is_a_missing_part(tmp_path):
    run_alone("dask_scenarios.py", "killed", tmp_path)
