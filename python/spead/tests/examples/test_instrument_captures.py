# Copyright 2026 The gr-spead authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""The captures of instruments, received as spead-inspect and the manual say."""

import json
import os
import subprocess
import sys
from pathlib import Path

import instrument_captures
import pytest
from gnuradio import blocks, gr, spead
from places import NEEDS_LIBPCAP
from received_streams import Receiving

pytestmark = NEEDS_LIBPCAP
PROGRAM = Path(os.environ["GR_SPEAD_BUILD"]) / "spead-inspect"


@pytest.mark.parametrize("name", instrument_captures.CAPTURES)
def test_the_source_of_spead_inspect_receives_every_heap(tmp_path, name):
    path = tmp_path / f"{name}.pcap"
    sent = instrument_captures.write_capture(path, name, seconds=2)
    program = subprocess.run(
        [sys.executable, PROGRAM, path, "--json"], capture_output=True, check=True
    )
    report = json.loads(program.stdout)
    assert sum(stream["heaps"] for stream in report["streams"]) == sent["heaps_sent"]
    call = report["call"].replace("spead.source(", "dict(endpoints=", 1)
    with Receiving(**eval(call, {"spead": spead})) as receiving:
        receiving.wait()
    stats = receiving.stats
    assert stats["heaps_received"] == sent["heaps_sent"] > 0
    assert stats["samples_missing"] == stats["samples_skipped"] == 0
    assert stats["packets_rejected"] == {}


def test_slow_blocks_downstream_lose_nothing(tmp_path):
    """The file has 256 KiB of one polarisation, then of the other."""
    path = tmp_path / "digitiser.pcap"
    sent = instrument_captures.write_capture(path, "meerkat_digitiser", seconds=10)
    items = [
        spead.timestamp(),
        spead.immediate(0x3101, "digitiser_id", [0, 1]),
        spead.samples(),
    ]
    for _ in range(5):
        source = spead.source(str(path), num_outputs=2, items=items)
        graph = gr.top_block()
        for i in range(2):
            graph.connect((source, i), blocks.vector_sink_b())
        graph.run()
        assert source.stats()["heaps_received"] == sent["heaps_sent"]
