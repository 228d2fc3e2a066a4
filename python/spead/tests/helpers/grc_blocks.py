# Copyright 2026 The gr-spead authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""The block of the sink in GRC, and what becomes of its fields."""

import functools

import grc_lint
from gnuradio import spead
from places import ROOT

DESCRIPTION = ROOT / "grc" / "spead_sink.block.yml"


# What a field is called in Python, where that is not its name in GRC.
IN_PYTHON = {"sender_affinity": "affinity"}
IN_GRC = {python: grc for grc, python in IN_PYTHON.items()}


@functools.cache
def platform():
    """GRC with this block; it takes a while to come up."""
    return grc_lint.load_platform(DESCRIPTION.parent)


def written(options):
    """Options as a user writes them in the fields."""
    return {
        IN_GRC.get(name, name): value if isinstance(value, str) else repr(value)
        for name, value in options.items()
    }


def sink(**fields):
    """A block with some fields filled in, the way a user does."""
    return grc_lint.make_block(platform(), "spead_sink", **fields)


def arguments(block):
    """What the generated program will pass to spead.sink, by name."""
    name, sources = grc_lint.call(block.templates.render("make"))
    assert name == "spead.sink"
    return {key: eval(source, {"spead": spead}) for key, source in sources.items()}
