# Copyright 2026 The gr-spead authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""All flow graphs in examples, as GNU Radio Companion loads and draws them."""

import grc_lint
import pytest
from gnuradio.grc.core.io import yaml
from grc_blocks import BLOCKS, platform
from places import EXAMPLES

GRID = 8  # pixels

each_flow_graph = pytest.mark.parametrize(
    "path", sorted(EXAMPLES.glob("*.grc")), ids=lambda path: path.stem
)


@each_flow_graph
def test_the_flow_graph_is_valid(path):
    graph = grc_lint.load_flow_graph(platform(), path)
    assert grc_lint.flow_graph_errors(graph) == []


@each_flow_graph
def test_the_file_has_the_parameters_that_the_blocks_have_now(path):
    """As GRC saves it."""
    ours = {grc.id: set(grc().params) - {"id", "showports"} for grc in BLOCKS}
    saved = yaml.safe_load(path.read_text())["blocks"]
    found = [(each["id"], set(each["parameters"])) for each in saved]
    found = [(id, parameters) for id, parameters in found if id in ours]
    assert found
    assert found == [(id, ours[id]) for id, _ in found]


@each_flow_graph
def test_blocks_are_on_the_grid(path):
    """GRC aligns the centre of a block: half of its height may be half a step."""
    graph = platform().make_flow_graph(str(path))
    places = {block.name: block.states["coordinate"] for block in graph.blocks}
    steps = {name: (x % GRID, y % (GRID // 2)) for name, (x, y) in places.items()}
    assert {name for name, step in steps.items() if step != (0, 0)} == set()


@each_flow_graph
def test_wires_lead_to_the_right(path):
    graph = platform().make_flow_graph(str(path))
    assert graph.connections
    for wire in graph.connections:
        begin, _ = wire.source_block.states["coordinate"]
        end, _ = wire.sink_block.states["coordinate"]
        assert end - begin > 100, wire
