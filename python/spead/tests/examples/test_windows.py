# Copyright 2026 The gr-spead authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""The flow graphs with a window, rendered offscreen."""

import contextlib
import json
import os
import re
import subprocess
import sys
from types import SimpleNamespace

import pytest
import spead_packet
from flow_graphs import compiled
from gnuradio import spead
from places import BOUND, HELPERS, eventually
from receiving import arrived, bound_socket, destination
from streams import noise, run, source


@contextlib.contextmanager
def window(name, folder, endpoint):
    """Run a flow graph in windows.py, which returns `result` at exit."""
    compiled(name, folder)
    with subprocess.Popen(
        [sys.executable, HELPERS / "windows.py", name, folder, endpoint],
        env=os.environ | {"QT_QPA_PLATFORM": "offscreen"},
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    ) as program:
        try:
            running = SimpleNamespace(stdout=program.stdout)
            yield running
            # Closing standard input ends the flow graph.
            printed, _ = program.communicate(timeout=BOUND)
        finally:
            program.kill()
    assert program.returncode == 0
    (line,) = (line for line in printed.splitlines() if line.startswith("{"))
    running.result = json.loads(line)


def test_dashboard_sliders_change_the_stream_and_the_label_its_counters(sock, tmp_path):
    def has_digitiser_id(value):
        packets = map(spead_packet.parse, arrived(sock))
        return any((True, 0x3101, value) in packet.items for packet in packets)

    with window("spead_dashboard", tmp_path, destination(sock)) as running:
        eventually(lambda: has_digitiser_id(0))
        eventually(lambda: has_digitiser_id(7))
    result = running.result
    assert (result["rate"], result["frequency"]) == (3e6, 50e3)
    for row in (r"rate\D+\d+\.\d\d MB/s", r"heaps sent\D+[1-9]", r"errors\D+0<"):
        assert re.search(row, result["label"])


@pytest.mark.parametrize("name", ["spead_loopback", "ska_low_station_beam"])
def test_a_flow_graph_receives_what_it_sends(tmp_path, name):
    with bound_socket() as sock:
        endpoint = destination(sock)  # a port that is free after the socket closes
    with window(name, tmp_path, endpoint) as running:
        pass
    stats = running.result
    assert stats["samples_received"] >= 200_000
    assert stats["discontinuities"] == 0
    assert stats["packets_rejected"] == {}


def test_nothing_is_cut_off_in_the_window_of_receive_f_engine(tmp_path):
    with window("receive_f_engine", tmp_path, "127.0.0.1:0"):
        pass


def test_receive_spectrum_shows_the_counters_of_the_stream(tmp_path):
    with window("receive_spectrum", tmp_path, "127.0.0.1:0") as running:
        port = next(line for line in running.stdout if line.strip().isdigit()).strip()
        sink = spead.sink(f"127.0.0.1:{port}", 1000, send_stop=False)
        run(sink, source(noise(100_000)))
    result = running.result
    assert (result["heaps_received"], result["samples_missing"]) == (100, 0)
    assert "samples missing&nbsp;&nbsp;</td><td align=right>0<" in result["label"]
