# Copyright 2026 The gr-spead authors
#
# SPDX-License-Identifier: GPL-3.0-or-later

"""SPEAD: streams of samples to radio astronomy's receivers, over UDP.

sink(destinations, heap_samples=8192, ...) sends, source(endpoints, ...) receives;
timestamp(), samples() and immediate() say what heaps hold.
"""

# the base classes of the block
from gnuradio import gr as _gr  # noqa: F401

from .spead_python import __version__ as __version__
from .spead_python import immediate, item, samples, sink, source, timestamp

__all__ = ["immediate", "item", "samples", "sink", "source", "timestamp"]
