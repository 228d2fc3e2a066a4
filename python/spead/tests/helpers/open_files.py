# Copyright 2026 The gr-spead authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""open_files.py DESTINATIONS [OPTION=VALUE]: makes a sink with few files left to open.

Prints what came of it with none left, with one, and so on, until the sink was made.
"""

import json
import os
import resource
import sys

from gnuradio import spead


def make(left, destinations, options):
    """Why there is no sink, or None."""
    lowest = os.dup(0)
    os.close(lowest)
    _, hard = limits = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (lowest + left, hard))
    try:
        # nobody listens, which would be said
        sink = spead.sink(destinations, send_stop=False, **options)
        sink.start()
        sink.stop()
    except (RuntimeError, ValueError) as error:
        return f"{type(error).__name__}: {error}"
    finally:
        resource.setrlimit(resource.RLIMIT_NOFILE, limits)
    return None


destinations, *options = sys.argv[1:]
refusals = []
while said := make(len(refusals), destinations, dict(o.split("=") for o in options)):
    refusals.append(said)
    assert len(refusals) < 100
print(json.dumps(refusals))
