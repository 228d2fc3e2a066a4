# Copyright 2026 The gr-spead authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""receive_spectrum.grc, without a screen."""

import json
import os
import subprocess
import sys

from flow_graphs import compiled
from gnuradio import spead
from places import BOUND, HELPERS
from streams import noise, run, source


def test_figures_of_the_stream_are_shown(tmp_path):
    compiled("receive_spectrum", tmp_path)
    with subprocess.Popen(
        [sys.executable, HELPERS / "spectrum_window.py", tmp_path],
        env=os.environ | {"QT_QPA_PLATFORM": "offscreen"},
        stdout=subprocess.PIPE,
        text=True,
    ) as program:
        try:
            lines = (line for line in program.stdout if line.strip().isdigit())
            to = f"127.0.0.1:{next(lines).strip()}"
            run(spead.sink(to, 1000, send_stop=False), source(noise(100_000)))
            printed, _ = program.communicate(timeout=BOUND)
        finally:
            program.kill()
    assert program.returncode == 0
    (line,) = (line for line in printed.splitlines() if line.startswith("{"))
    seen = json.loads(line)
    assert seen["stats"]["heaps_received"] == 100
    assert seen["stats"]["samples_missing"] == 0
    assert "samples missing&nbsp;&nbsp;</td><td align=right>0<" in seen["label"]
