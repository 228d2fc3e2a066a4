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
from udp_losses import unread_bytes

START_TIME = 20  # s that a receiver may take to listen
SETTLE_TIME = 0.1  # s from there to the end of its preparations
END_TIME = 5  # s that it may take to read what is left, and to end
PLACEHOLDERS = ("port", "heap", "heaps", "packet", "json")


def check(template):
    """The template, if it is one of a receiver; ValueError says what is wrong."""
    parts = shlex.split(template)
    if not any("{port}" in part for part in parts):
        raise ValueError(f"{template!r} lacks {{port}}")
    try:
        for part in parts:
            part.format_map(dict.fromkeys(PLACEHOLDERS, 0))
    except (KeyError, ValueError, IndexError, AttributeError) as error:
        known = ", ".join("{" + name + "}" for name in PLACEHOLDERS)
        raise ValueError(f"{template!r}: {error}; there are {known}") from None
    return template


class Receiver:
    """A process that listens once this is open, and has ended when it is closed.

    One that does not end with the stream is interrupted when it has read everything.
    """

    def __init__(self, template, **values):
        parts = shlex.split(template)
        self.command = [part.format_map(values) for part in parts]
        self.port = values["port"]
        reports = any("{json}" in part for part in parts)
        self.summary = Path(values["json"]) if reports else None

    def __enter__(self):
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
        end = time.monotonic() + START_TIME
        while unread_bytes(self.port) is None:
            if self.process.poll() is not None or time.monotonic() > end:
                self.process.kill()
                self.process.wait()
                raise Failure(f"it does not listen: {shlex.join(self.command)}")
            time.sleep(0.01)
        time.sleep(SETTLE_TIME)
        return self

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
            return json.loads(self.summary.read_text())["complete"]
        except (OSError, ValueError, KeyError):
            raise Failure("the receiver wrote no summary") from None
