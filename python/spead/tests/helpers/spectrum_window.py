# Copyright 2026 The gr-spead authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""spectrum_window.py FOLDER: the generated receive_spectrum, until it shows figures.

Prints its port, and later a line of JSON: the text of its label and the stats.
"""

import json
import sys

sys.path.insert(0, sys.argv[1])
import receive_spectrum
from qt_events import QtEvents


def main():
    events = QtEvents()
    graph = receive_spectrum.receive_spectrum("127.0.0.1:0")
    source = graph.spead_source_0
    graph.start()
    graph.show()
    print(source.ports()[0], flush=True)
    label = graph._figures_label
    received = "heaps received&nbsp;&nbsp;</td><td align=right>100<"
    events.wait_until(lambda: received in label.text())
    print(json.dumps({"label": label.text(), "stats": source.stats()}), flush=True)
    graph.stop()
    graph.wait()


if __name__ == "__main__":
    main()
