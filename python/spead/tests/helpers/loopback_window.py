# Copyright 2026 The gr-spead authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""loopback_window.py FOLDER ENDPOINT: the generated loopback, until it has received.

Prints a line of JSON: the stats of the source.
"""

import json
import sys

sys.path.insert(0, sys.argv[1])
import spead_loopback
from PyQt5 import Qt

SAMPLES = 200_000


def main():
    application = Qt.QApplication(sys.argv[:1])
    graph = spead_loopback.spead_loopback(sys.argv[2])
    source = graph.spead_source_0
    # wakes processEvents()
    timer = Qt.QTimer()
    timer.timeout.connect(lambda: None)
    timer.start(10)
    graph.start()
    graph.show()
    while source.samples_received() < SAMPLES:
        application.processEvents(Qt.QEventLoop.WaitForMoreEvents)
    graph.stop()
    graph.wait()
    print(json.dumps(source.stats()), flush=True)


if __name__ == "__main__":
    main()
