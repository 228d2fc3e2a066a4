# Copyright 2026 The gr-spead authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""The blocks in GRC, and what becomes of their fields."""

import functools
from dataclasses import dataclass

import grc_lint
import pytest
from gnuradio import spead
from places import ROOT
from possible_options import AT, TO


@functools.cache
def platform():
    """GRC with these blocks; it takes a while to come up."""
    return grc_lint.load_platform(ROOT / "grc")


@dataclass(frozen=True)
class GrcBlock:
    """The block of spead.sink or spead.source; calling it makes one in a flow graph."""

    name: str
    endpoints: str  # the parameter
    endpoint: str  # with which any host makes the block
    streams: str  # "inputs" or "outputs"

    def __str__(self):
        return self.name

    @property
    def id(self):
        return f"spead_{self.name}"

    @property
    def description(self):
        return ROOT / "grc" / f"{self.id}.block.yml"

    @property
    def python(self):
        return getattr(spead, self.name)

    def in_python(self, key):
        """What a parameter of GRC is called in Python."""
        return "affinity" if key == "sender_affinity" else key

    def in_grc(self, name):
        """What a parameter of Python is called in GRC."""
        return "sender_affinity" if name == "affinity" else name

    def written(self, options):
        """Options as a user writes them in the fields."""
        return {
            self.in_grc(name): value if isinstance(value, str) else repr(value)
            for name, value in options.items()
        }

    def with_streams(self, count):
        """Fields for so many inputs or outputs, with endpoints that any host has."""
        return {
            f"num_{self.streams}": str(count),
            self.endpoints: repr([self.endpoint] * count),
        }

    def __call__(self, **fields):
        """A block with some fields filled in, the way a user does."""
        return grc_lint.make_block(platform(), self.id, **fields)

    def arguments(self, block):
        """What the generated program will pass to spead.`name`, by name."""
        name, sources = grc_lint.call(block.templates.render("make"))
        assert name == f"spead.{self.name}"
        return {key: eval(source, {"spead": spead}) for key, source in sources.items()}

    def make(self, block):
        """What the generated program will make."""
        return self.python(**self.arguments(block))


sink = GrcBlock("sink", "destinations", TO, "inputs")
source = GrcBlock("source", "endpoints", AT, "outputs")
BLOCKS = [sink, source]

each_block = pytest.mark.parametrize("grc", BLOCKS, ids=str)
