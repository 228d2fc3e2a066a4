# Copyright 2026 The gr-spead authors
# SPDX-License-Identifier: GPL-3.0-or-later

"""GNU Radio Companion without its GUI, with stricter validation.

GRC itself accepts a flow graph with unknown blocks, and only logs errors in a block
description.
"""

import ast

from gnuradio import gr

# Must come first: newer versions of GRC have circular imports.
from gnuradio.grc.core.platform import Platform  # isort: skip
from gnuradio.grc.core import schema_checker
from gnuradio.grc.core.io import yaml


def load_platform(blocks_directory):
    """GRC with the blocks of GNU Radio and those of a directory."""
    platform = Platform(
        name="grc_lint",
        prefs=gr.prefs(),
        version=gr.version(),
        version_parts=(gr.major_version(), gr.api_version(), gr.minor_version()),
    )
    # The last description of a block wins, so this directory overrides installed ones.
    platform.build_library([*platform.config.block_paths, str(blocks_directory)])
    return platform


def schema_errors(description):
    """The errors that GRC's schema finds in a block description."""
    checker = schema_checker.Validator(schema_checker.BLOCK_SCHEME)
    checker.run(yaml.safe_load(description.read_text()))
    return [str(message) for message in checker.messages]


def make_block(platform, block_id, **values):
    """A block in a flow graph of its own, with some fields filled in."""
    flow_graph = platform.make_flow_graph()
    flow_graph.options_block.params["id"].set_value("lint")
    block = flow_graph.new_block(block_id)
    block.params["id"].set_value("block")
    for key, value in values.items():
        block.params[key].set_value(value)
    flow_graph.rewrite()
    flow_graph.validate()
    return block


def load_flow_graph(platform, path):
    """Load a flow graph from its file and validate it."""
    flow_graph = platform.make_flow_graph(str(path))
    flow_graph.rewrite()
    flow_graph.validate()
    return flow_graph


def block_errors(block):
    """GRC's errors in a block, except for unconnected ports."""
    return [
        message
        for _, message in block.iter_error_messages()
        if "is not connected" not in message
    ]


def flow_graph_errors(flow_graph):
    """GRC's errors in a flow graph, and its unknown blocks."""
    unknown = [
        f"unknown block {block.key}"
        for block in flow_graph.blocks
        if block.is_dummy_block
    ]
    return unknown + [
        f"{element}: {message}" for element, message in flow_graph.iter_error_messages()
    ]


def call(template):
    """Parse a rendered template: a single call with only keyword arguments.

    Returns the name of the callable, and its arguments by name as source text.
    """
    expression = ast.parse(template, mode="eval").body
    if not isinstance(expression, ast.Call) or expression.args:
        raise ValueError(f"not a call with keywords only: {template}")
    return ast.unparse(expression.func), {
        keyword.arg: ast.unparse(keyword.value) for keyword in expression.keywords
    }
