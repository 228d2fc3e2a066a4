# Copyright 2026 The gr-spead authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Handling of Ctrl-C and of closed pipes."""

import contextlib
import signal


def end_at_closed_pipe():
    """End quietly if nobody reads the output, as in "| head"."""
    signal.signal(signal.SIGPIPE, signal.SIG_DFL)


@contextlib.contextmanager
def at_interrupt(stop):
    """Call `stop()` at Ctrl-C, instead of raising KeyboardInterrupt anywhere.

    A second Ctrl-C kills the program.
    """

    def handler(*_):
        signal.signal(signal.SIGINT, signal.SIG_DFL)
        stop()

    previous = signal.signal(signal.SIGINT, handler)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, previous)
