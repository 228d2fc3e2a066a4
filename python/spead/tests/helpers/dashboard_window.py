# Copyright 2026 The gr-spead authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""dashboard_window.py FOLDER DESTINATION: the generated dashboard, moved by a program.

Moves the sliders once the figures are there, then prints a line of JSON, and goes on
until the standard input ends.
"""

import json
import sys
import threading

sys.path.insert(0, sys.argv[1])
import spead_dashboard
from qt_events import QtEvents


def main():
    events = QtEvents()
    graph = spead_dashboard.spead_dashboard(sys.argv[2])
    ended = threading.Event()

    threading.Thread(target=lambda: (sys.stdin.read(), ended.set())).start()
    graph.start()
    graph.show()
    label = graph._figures_label
    first = label.text()
    events.wait_until(
        lambda: "MB/s" in label.text() and graph.spead_sink_0.heaps_sent()
    )
    before = label.text()
    events.wait_until(lambda: label.text() != before)
    sent = graph.spead_sink_0.heaps_sent()
    graph.set_rate(3e6)
    graph.set_frequency(50e3)
    graph.set_digitiser_id(7)
    print(
        json.dumps(
            {
                "first": first,
                "label": label.text(),
                "heaps_sent": sent,
                "rate": graph.spead_sink_0.rate(),
                "frequency": graph.tone.frequency(),
            }
        ),
        flush=True,
    )
    events.wait_until(ended.is_set)
    graph.stop()
    graph.wait()


if __name__ == "__main__":
    main()
