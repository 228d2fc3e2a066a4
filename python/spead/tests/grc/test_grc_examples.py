# Copyright 2026 The gr-spead authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""GRC loads all example flow graphs without errors, and draws them tidily."""

import json
import subprocess

import grc_lint
import numpy as np
import pytest
from flow_graphs import compiled, running
from gnuradio.grc.core import Messages
from gnuradio.grc.core.io import yaml
from grc_blocks import BLOCKS, platform
from places import BOUND, EXAMPLES, ROOT
from receiving import destination

GRID = 8  # pixels

each_flow_graph = pytest.mark.parametrize(
    "path", sorted(EXAMPLES.glob("*.grc")), ids=lambda path: path.stem
)


@each_flow_graph
def test_the_flow_graph_is_valid(path):
    graph = grc_lint.load_flow_graph(platform(), path)
    assert grc_lint.flow_graph_errors(graph) == []


@each_flow_graph
def test_the_saved_parameters_are_those_of_the_blocks(path):
    ours = {grc.id: set(grc().params) - {"id", "showports"} for grc in BLOCKS}
    blocks = yaml.safe_load(path.read_text())["blocks"]
    saved = [block for block in blocks if block["id"] in ours]
    assert saved
    for block in saved:
        assert set(block["parameters"]) == ours[block["id"]]


@each_flow_graph
def test_blocks_are_on_the_grid(path):
    """GRC aligns block centres, so y may be off the grid by half a step."""
    graph = platform().make_flow_graph(str(path))
    positions = {block.name: block.states["coordinate"] for block in graph.blocks}
    offsets = {name: (x % GRID, y % (GRID // 2)) for name, (x, y) in positions.items()}
    assert {name for name, offset in offsets.items() if offset != (0, 0)} == set()


def test_nothing_on_a_canvas_is_cut_off_or_covered():
    done = subprocess.run(
        [ROOT / "scripts" / "pictures", "--check"],
        capture_output=True,
        text=True,
        timeout=4 * BOUND,
    )
    assert done.returncode == 0, done.stderr


@each_flow_graph
def test_grc_gives_no_wrong_advice_on_throttles(path, tmp_path, monkeypatch):
    graph = grc_lint.load_flow_graph(platform(), path)
    texts = []
    monkeypatch.setattr(Messages, "MESSENGERS_LIST", [texts.append])
    platform().Generator(graph, str(tmp_path)).write()
    text = "".join(texts)
    assert "removing the throttle" not in text
    if "spead_source" in {block.key for block in graph.blocks}:
        assert "flow control" not in text


@each_flow_graph
def test_a_sender_does_not_send_as_fast_as_it_can(path):
    graph = grc_lint.load_flow_graph(platform(), path)
    throttled = "blocks_throttle" in {block.key for block in graph.blocks}
    for block in graph.blocks:
        if block.key == "spead_sink":
            assert throttled or block.params["rate"].get_evaluated() > 0


def test_every_sample_of_the_noise_arrives(sock, receiver, tmp_path):
    with running(
        compiled("spead_noise", tmp_path),
        *("--destination", destination(sock)),
        *("--sample-rate", "1M", "--duration", "0.5"),
    ) as ended:
        heaps = receiver.until_end().heaps
    assert [heap.timestamp for heap in heaps] == list(range(0, 500_000, 8192))
    samples = np.concatenate([heap.samples for heap in heaps])
    assert len(samples) == 500_000
    spectrum = np.abs(np.fft.rfft(samples))
    assert np.argmax(spectrum[1:]) + 1 == 500_000 / 8
    assert 19 < np.std(samples) < 22
    _, _, text = ended.printed.partition("SPEAD_STATS ")
    stats = json.loads(text.splitlines()[0])
    assert stats["samples_in"] == stats["samples_sent"] == 500_000
