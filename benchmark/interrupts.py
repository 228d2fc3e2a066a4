# Copyright 2026 The gr-spead authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""How the programs here end when they are told to."""

import signal

INTERRUPTED = 130  # the exit status that shells give to what Ctrl-C ends


def run(main):
    """Run a main(); its exit status, or INTERRUPTED after Ctrl-C and SIGTERM.

    Both come as an exception, so that children end with this process. SIGINT does so in
    the background of a script, too, where it is ignored, by children as well.
    """
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, signal.default_int_handler)
    try:
        return main()
    except KeyboardInterrupt:
        return INTERRUPTED
