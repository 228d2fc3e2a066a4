# Copyright 2026 The gr-spead authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""What a program does at Ctrl-C."""

import contextlib
import signal


@contextlib.contextmanager
def at_interrupt(end):
    """Call `end()` at Ctrl-C, instead of raising KeyboardInterrupt anywhere.

    A second Ctrl-C ends the program at once.
    """

    def handler(*_):
        signal.signal(signal.SIGINT, signal.SIG_DFL)
        end()

    before = signal.signal(signal.SIGINT, handler)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)
