# Copyright 2026 The gr-spead authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Runs measured_sender.py."""

import contextlib
import json
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path

PROGRAM = Path(__file__).resolve().parent / "measured_sender.py"
PATIENCE = 10  # s that it may take to end


class SenderError(Exception):
    """The sender failed; the text is what it said."""


class Sender:
    """A process that sends, as long as this object is open at most."""

    def __init__(self, sink, **source):
        command = [sys.executable, PROGRAM, json.dumps({"sink": sink, **source})]
        pipe = subprocess.PIPE
        # A session of its own, so that Ctrl-C reaches it through this process only.
        self.process = subprocess.Popen(
            command, stdin=pipe, stdout=pipe, text=True, start_new_session=True
        )

    @property
    def running(self):
        return self.process.poll() is None

    def after(self, *steps):
        """Do one thing after the other: pairs of seconds to wait, and what to do then.

        A busy machine makes a wait longer, but does not take that from the next one.
        """

        def run():
            for seconds, action in steps:
                time.sleep(seconds)
                action()

        threading.Thread(target=run, daemon=True).start()

    def pause(self):
        self.process.send_signal(signal.SIGSTOP)

    def resume(self):
        self.process.send_signal(signal.SIGCONT)

    def end(self):
        """Have it stop its flow graph; it still sends what is left."""
        with contextlib.suppress(OSError):
            self.process.stdin.close()

    def stats(self):
        """What the sink says at its end."""
        self.process.stdin = None  # closed or not, communicate() is not to flush it
        try:
            output, _ = self.process.communicate(timeout=PATIENCE)
        except subprocess.TimeoutExpired:
            raise SenderError("the sender did not end") from None
        if self.process.returncode != 0:
            raise SenderError(f"the sender failed with {self.process.returncode}")
        return json.loads(output)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        if self.running:
            self.process.kill()  # also if it is paused
        self.process.wait()
