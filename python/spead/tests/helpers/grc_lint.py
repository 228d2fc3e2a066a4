# Copyright 2026 The gr-spead authors
# SPDX-License-Identifier: GPL-3.0-or-later

"""GNU Radio Companion without its window, and stricter.

By itself GRC calls a flow graph valid that lacks a block it does not know, and only
logs what is wrong with a block description.
"""

import ast

from gnuradio import gr

# first: the modules of a newer GRC import each other in a circle
from gnuradio.grc.core.platform import Platform  # isort: skip
from gnuradio.grc.core import schema_checker
from gnuradio.grc.core.io import yaml


def load_platform(blocks_directory):
    """GRC with the blocks of GNU Radio and those in a directory."""
    platform = Platform(
        name="grc_lint",
        prefs=gr.prefs(),
        version=gr.version(),
        version_parts=(gr.major_version(), gr.api_version(), gr.minor_version()),
    )
    # The last description of a block counts: ours, and not an installed one.
    platform.build_library([*platform.config.block_paths, str(blocks_directory)])
    return platform


def schema_errors(description):
    """What GRC's schema does not allow in a block description."""
    checker = schema_checker.Validator(schema_checker.BLOCK_SCHEME)
    checker.run(yaml.safe_load(description.read_text()))
    return [str(message) for message in checker.messages]


def make_block(platform, block_id, **values):
    """A block alone in a flow graph, with some of its fields filled in."""
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
    """A flow graph from its file, checked."""
    flow_graph = platform.make_flow_graph(str(path))
    flow_graph.rewrite()
    flow_graph.validate()
    return flow_graph


def block_errors(block):
    """What GRC has against a block, apart from ports that are not connected."""
    return [
        message
        for _, message in block.iter_error_messages()
        if "is not connected" not in message
    ]


def flow_graph_errors(flow_graph):
    """What GRC has against a flow graph, unknown blocks included."""
    unknown = [
        f"unknown block {block.key}"
        for block in flow_graph.blocks
        if block.is_dummy_block
    ]
    return unknown + [
        f"{element}: {message}" for element, message in flow_graph.iter_error_messages()
    ]


def call(template):
    """A rendered template, which has to be one call with keyword arguments only.

    Returns the name of what is called, and its arguments as source text.
    """
    expression = ast.parse(template, mode="eval").body
    if not isinstance(expression, ast.Call) or expression.args:
        raise ValueError(f"not a call with keywords only: {template}")
    return ast.unparse(expression.func), {
        keyword.arg: ast.unparse(keyword.value) for keyword in expression.keywords
    }
