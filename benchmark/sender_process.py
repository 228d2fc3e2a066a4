# Copyright 2026 The gr-spead authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Runs measured_sender.py in a process of its own."""

import contextlib
import json
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path

PROGRAM = Path(__file__).resolve().parent / "measured_sender.py"
TIMEOUT = 10  # s, for the sender to end


class SenderError(Exception):
    """The sender failed; the text says how."""


class Sender:
    """A process that sends, until this object is closed at the latest."""

    def __init__(self, sink, **source):
        command = [sys.executable, PROGRAM, json.dumps({"sink": sink, **source})]
        pipe = subprocess.PIPE
        self.process = subprocess.Popen(command, stdin=pipe, stdout=pipe, text=True)

    @property
    def running(self):
        return self.process.poll() is None

    def after(self, *steps):
        """Calls functions in the background: pairs of seconds to wait and a function.

        A wait begins when the previous function returns, however late that is.
        """

        def run():
            for seconds, function in steps:
                time.sleep(seconds)
                function()

        threading.Thread(target=run, daemon=True).start()

    def pause(self):
        self.process.send_signal(signal.SIGSTOP)

    def resume(self):
        self.process.send_signal(signal.SIGCONT)

    def end(self):
        """Stops the flow graph; the sink still sends its buffer."""
        with contextlib.suppress(OSError):
            self.process.stdin.close()

    def stats(self):
        """The counters of the sink at the end."""
        self.process.stdin = None  # communicate() would flush it, and it may be closed
        try:
            output, _ = self.process.communicate(timeout=TIMEOUT)
        except subprocess.TimeoutExpired:
            raise SenderError("the sender did not end") from None
        if self.process.returncode != 0:
            raise SenderError(f"the sender failed with {self.process.returncode}")
        return json.loads(output.splitlines()[-1])  # behind lines of the log

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.process.kill()  # also if it is paused
        self.process.wait()
