# Copyright 2026 The gr-spead authors
#
# SPDX-License-Identifier: GPL-3.0-or-later

"""SPEAD: streams of samples to radio astronomy's receivers, over UDP.

sink(destinations, heap_samples=8192, ...) sends, source(endpoints, ...) receives;
timestamp(), samples() and immediate() say what heaps hold.
heap_source(endpoints) and heap_sink(destination) receive and send whole heaps as PDUs.
"""

# also loads the base classes of the blocks
from gnuradio import gr as _gr

from .heap_blocks import heap_sink, heap_source
from .heap_pdus import heap_from_numpy, heap_to_numpy
from .live_figures import figures
from .spead_python import __version__ as __version__
from .spead_python import immediate, item, samples, sink, source, timestamp


def _set_from_grc(block, method, value):
    """Call a method with a value that GRC changes while the flow graph runs.

    value: a function without arguments
    A refused value is logged and has no effect: an exception in a callback of Qt would
    end the program.
    """
    try:
        getattr(block, method)(value())
    except (TypeError, ValueError) as error:
        _gr.logger(block.alias()).warn(f"{method} ignored: {error}")


sink._set_from_grc = _set_from_grc

__all__ = [
    "figures",
    "heap_from_numpy",
    "heap_sink",
    "heap_source",
    "heap_to_numpy",
    "immediate",
    "item",
    "samples",
    "sink",
    "source",
    "timestamp",
]
