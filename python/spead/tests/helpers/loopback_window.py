# Copyright 2026 The gr-spead authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""loopback_window.py FOLDER ENDPOINT: the generated loopback, until it has received.

Prints a line of JSON: the stats of the source.
"""

import json
import sys

sys.path.insert(0, sys.argv[1])
import spead_loopback
from qt_events import QtEvents

SAMPLES = 200_000


def main():
    events = QtEvents()
    graph = spead_loopback.spead_loopback(sys.argv[2])
    source = graph.spead_source_0
    graph.start()
    graph.show()
    events.wait_until(lambda: source.samples_received() >= SAMPLES)
    graph.stop()
    graph.wait()
    print(json.dumps(source.stats()), flush=True)


if __name__ == "__main__":
    main()
