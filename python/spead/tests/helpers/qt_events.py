# Copyright 2026 The gr-spead authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Qt in a program of a test, which waits for conditions."""

import sys

from PyQt5 import Qt


class QtEvents:
    """The application, which works during wait_until()."""

    def __init__(self):
        self.application = Qt.QApplication(sys.argv[:1])
        # wakes processEvents()
        self.timer = Qt.QTimer()
        self.timer.timeout.connect(lambda: None)
        self.timer.start(10)

    def wait_until(self, condition):
        while not condition():
            self.application.processEvents(Qt.QEventLoop.WaitForMoreEvents)
