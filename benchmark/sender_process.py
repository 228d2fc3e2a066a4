# Copyright 2026 The gr-spead authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Runs measured_sender.py in a separate process."""

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
    """The sender failed; the text is the reason."""


class Sender:
    """A sending process. Leaving the context kills it."""

    def __init__(self, sink, **source):
        command = [sys.executable, str(PROGRAM), json.dumps({"sink": sink, **source})]
        pipe = subprocess.PIPE
        self.process = subprocess.Popen(command, stdin=pipe, stdout=pipe, text=True)

    @property
    def running(self):
        return self.process.poll() is None

    def after(self, *steps):
        """Call functions in the background.

        steps: pairs of a delay in seconds and a function. A delay starts when the
            previous function returns.
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
        """Stop the flow graph; the sink still sends its buffer."""
        with contextlib.suppress(OSError):
            self.process.stdin.close()

    def stats(self):
        """Wait for the end, and return the counters of the sink."""
        self.process.stdin = None  # communicate() fails if it is closed
        try:
            output, _ = self.process.communicate(timeout=TIMEOUT)
        except subprocess.TimeoutExpired:
            raise SenderError("the sender did not end") from None
        if self.process.returncode != 0:
            raise SenderError(f"the sender failed with {self.process.returncode}")
        return json.loads(output.splitlines()[-1])  # after the log lines

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.process.kill()  # works even while it is paused
        self.process.wait()
