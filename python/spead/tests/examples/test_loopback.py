# Copyright 2026 The gr-spead authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""spead_loopback.grc, without a screen."""

import json
import os
import subprocess
import sys

from flow_graphs import compiled
from places import BOUND, HELPERS
from receiving import bound_socket, destination


def test_the_source_receives_what_the_sink_sends(tmp_path):
    compiled("spead_loopback", tmp_path)
    with bound_socket() as sock:
        endpoint = destination(sock)  # free, once it is closed
    program = subprocess.run(
        [sys.executable, HELPERS / "loopback_window.py", tmp_path, endpoint],
        env=os.environ | {"QT_QPA_PLATFORM": "offscreen"},
        stdout=subprocess.PIPE,
        text=True,
        timeout=BOUND,
        check=True,
    )
    (line,) = (line for line in program.stdout.splitlines() if line.startswith("{"))
    stats = json.loads(line)
    assert stats["samples_received"] >= 200_000
    assert stats["heaps_received"] >= 20
    assert stats["discontinuities"] == 0
    assert stats["packets_rejected"] == {}
