# Copyright 2026 The gr-spead authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""The GRC blocks, and the Python calls that GRC generates from their fields."""

import functools
from dataclasses import dataclass

import grc_lint
import pytest
from gnuradio import spead
from places import BUILD
from possible_options import AT, TO


@functools.cache
def platform():
    """GRC with the blocks of this project; cached because loading it is slow."""
    return grc_lint.load_platform(BUILD / "grc")


@dataclass(frozen=True)
class GrcBlock:
    """The GRC block of spead.sink or spead.source.

    Calling it adds such a block to a flow graph.
    """

    name: str
    endpoints: str  # name of the parameter
    endpoint: str  # an endpoint that is valid on any host
    streams: str  # "inputs" or "outputs"

    def __str__(self):
        return self.name

    @property
    def id(self):
        return f"spead_{self.name}"

    @property
    def description(self):
        return BUILD / "grc" / f"{self.id}.block.yml"

    @property
    def python(self):
        return getattr(spead, self.name)

    def in_python(self, key):
        """The Python name of a GRC parameter."""
        return "affinity" if key == "sender_affinity" else key

    def in_grc(self, name):
        """The GRC name of a Python parameter."""
        return "sender_affinity" if name == "affinity" else name

    def written(self, options):
        """Options as a user enters them in the fields.

        Text needs quotes only where a field also takes numbers.
        """
        return {
            self.in_grc(name): value
            if isinstance(value, str) and name != "timestamp_start"
            else repr(value)
            for name, value in options.items()
        }

    def with_streams(self, count):
        """Fields for `count` inputs or outputs, with endpoints valid on any host."""
        return {
            f"num_{self.streams}": str(count),
            self.endpoints: repr([self.endpoint] * count),
        }

    def __call__(self, **fields):
        """A block in a flow graph of its own, with some fields filled in."""
        return grc_lint.make_block(platform(), self.id, **fields)

    def arguments(self, block):
        """The keyword arguments that the generated program passes to spead.`name`."""
        name, sources = grc_lint.call(block.templates.render("make"))
        assert name == f"spead.{self.name}"
        return {key: eval(source, {"spead": spead}) for key, source in sources.items()}

    def make(self, block):
        """The object that the generated program constructs."""
        return self.python(**self.arguments(block))


sink = GrcBlock("sink", "destinations", TO, "inputs")
source = GrcBlock("source", "endpoints", AT, "outputs")
BLOCKS = [sink, source]

each_block = pytest.mark.parametrize("grc", BLOCKS, ids=str)
