# Copyright 2026 The gr-spead authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Runs a receiver, whichever it is, for lossless.py."""

import contextlib
import json
import shlex
import signal
import subprocess
import time
from pathlib import Path

from measure import Failure
from templates import words
from udp_losses import unread_bytes

START_TIME = 20  # s that a receiver may take to listen
SETTLE_TIME = 0.1  # s from there to the end of its preparations
END_TIME = 5  # s that it may take to read what is left, and to end
PLACEHOLDERS = ("port", "heap", "heaps", "packet", "json")


def parse_receiver(template):
    """The words of a receiver's command; ValueError says what is wrong with it."""
    command = words(template, PLACEHOLDERS)
    if not any("{port}" in word for word in command):
        raise ValueError(f"{template!r} lacks {{port}}")
    return command


class Receiver:
    """A process that listens once this is open, and has ended when it is closed.

    One that does not end with the stream is interrupted when it has read everything.
    """

    def __init__(self, command, **values):
        self.command = [word.format_map(values) for word in command]
        self.port = values["port"]
        reports = any("{json}" in word for word in command)
        self.summary = Path(values["json"]) if reports else None

    def __enter__(self):
        if unread_bytes(self.port) is not None:
            raise Failure(f"port {self.port} is taken; --port chooses another")
        if self.summary:
            self.summary.unlink(missing_ok=True)
        try:
            # A session of its own, so that Ctrl-C reaches it through this process only.
            self.process = subprocess.Popen(
                self.command,
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                stderr=subprocess.DEVNULL,
                start_new_session=True,
            )
        except OSError as error:
            raise Failure(str(error)) from None
        try:
            self._await_listening()
        except BaseException:  # Ctrl-C as well: then there is nobody else to end it
            self.process.kill()
            self.process.wait()
            raise
        return self

    def _await_listening(self):
        end = time.monotonic() + START_TIME
        while unread_bytes(self.port) is None:
            if self.process.poll() is not None or time.monotonic() > end:
                raise self._failure("does not listen")
            time.sleep(0.01)
        time.sleep(SETTLE_TIME)
        # Then another one has the port, which was too late for it.
        if self.process.poll() is not None:
            raise self._failure("ended before there was anything to receive")

    def _failure(self, what):
        return Failure(f"the receiver {what}: {shlex.join(self.command)}")

    def __exit__(self, *_):
        end = time.monotonic() + END_TIME
        while unread_bytes(self.port) and time.monotonic() < end:
            time.sleep(0.01)
        for patience, then in (
            (0.2, signal.SIGINT),
            (END_TIME, signal.SIGTERM),
            (END_TIME, signal.SIGKILL),
        ):
            with contextlib.suppress(subprocess.TimeoutExpired):
                self.process.wait(patience)
                return
            self.process.send_signal(then)
        self.process.wait()

    def complete(self):
        """What its summary says, if it writes one."""
        if self.summary is None:
            return True
        try:
            found = json.loads(self.summary.read_text())
            complete = found["complete"]
        except (OSError, ValueError, KeyError):
            raise Failure("the receiver wrote no summary") from None
        if found.get("heaps") == 0:
            raise Failure(
                "the receiver knew none of the heaps; without {json} in its command "
                "they need not be known, see --help"
            )
        return complete
