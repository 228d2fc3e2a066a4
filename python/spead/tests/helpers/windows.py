# Copyright 2026 The gr-spead authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""windows.py EXAMPLE FOLDER ENDPOINT: run a generated flow graph with a GUI.

Calls the function below that has the name of the example. Waits for the end of the
standard input, then prints the result of the function as a line of JSON.
"""

import importlib
import json
import sys
import threading

from PyQt5 import Qt


def wait_until(condition):
    """Process GUI events until a condition holds."""
    while not condition():
        Qt.QApplication.processEvents(Qt.QEventLoop.WaitForMoreEvents)


def spead_dashboard(graph):
    """Move the sliders after the label has shown and updated its counters."""
    label, sink = graph.figures.qwidget(), graph.spead_sink_0
    wait_until(lambda: "MB/s" in label.text() and sink.heaps_sent())
    before = label.text()
    wait_until(lambda: label.text() != before)
    graph.set_rate(3e6)
    graph.set_frequency(50e3)
    graph.set_digitiser_id(7)
    return {
        "label": label.text(),
        "rate": sink.rate(),
        "frequency": graph.tone.frequency(),
    }


def received(source):
    wait_until(lambda: source.samples_received() >= 200_000)
    return source.stats()


def spead_loopback(graph):
    return received(graph.spead_source_0)


def ska_low_station_beam(graph):
    return received(graph.receiver)


def receive_spectrum(graph):
    source, label = graph.spead_source_0, graph.figures.qwidget()
    print(source.ports()[0], flush=True)
    received = "heaps received&nbsp;&nbsp;</td><td align=right>100<"
    wait_until(lambda: received in label.text())
    return {"label": label.text(), **source.stats()}


def receive_f_engine(graph):
    return {}


def check_nothing_is_cut_off(window):
    """At its first size, a window needs no scroll bars."""
    Qt.QApplication.processEvents()
    area = window.top_scroll
    hidden = [area.horizontalScrollBar().maximum(), area.verticalScrollBar().maximum()]
    assert hidden == [0, 0], f"{window.size()} hides {hidden} pixels"


def main(example, folder, endpoint):
    sys.path.insert(0, folder)
    application = Qt.QApplication(sys.argv[:1])
    timer = Qt.QTimer(application)  # wakes processEvents()
    timer.timeout.connect(lambda: None)
    timer.start(10)
    parameter = "destination" if example == "spead_dashboard" else "endpoint"
    module = importlib.import_module(example)
    graph = getattr(module, example)(**{parameter: endpoint})
    if hasattr(module, "snippets_main_after_init"):
        module.snippets_main_after_init(graph)
    ended = threading.Event()
    threading.Thread(
        target=lambda: (sys.stdin.read(), ended.set()), daemon=True
    ).start()
    graph.start()
    graph.show()
    check_nothing_is_cut_off(graph)
    result = globals()[example](graph)
    wait_until(ended.is_set)
    graph.stop()
    graph.wait()
    print(json.dumps(result), flush=True)


if __name__ == "__main__":
    main(*sys.argv[1:])
