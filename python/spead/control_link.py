# Copyright 2026 The gr-spead authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""The control connection of spead-bench: lines of JSON over TCP."""

import json
import time

PROTOCOL = 1  # of the messages; both ends need the same
TIMEOUT = 10  # seconds for an answer


class PeerError(Exception):
    """The other end does not do its part; the text is the reason."""


def endpoint_text(address, port):
    return f"[{address}]:{port}" if ":" in address else f"{address}:{port}"


def address_text(name):
    """The address of getsockname() or getpeername(), with the scope of IPv6."""
    address, _, *rest = name
    scope = f"%{rest[1]}" if rest and rest[1] else ""
    return address.removeprefix("::ffff:") + scope


def printable(text):
    """A text of the other end, without control sequences."""
    return "".join(c if c.isprintable() else "?" for c in text[:200])


class Link:
    """Sends and receives messages. Lines that are longer than the limit are refused."""

    def __init__(self, sock, limit):
        self._sock = sock
        self._limit = limit
        self._received = b""
        self.peer = endpoint_text(
            address_text(sock.getpeername()), sock.getpeername()[1]
        )

    def send(self, **message):
        self._sock.settimeout(TIMEOUT)
        try:
            self._sock.sendall(json.dumps(message).encode() + b"\n")
        except OSError as error:
            raise PeerError(f"{self.peer}: {error.strerror or error}") from None

    def receive(self, seconds=TIMEOUT, meanwhile=lambda: None, interval=0.2):
        """The next message, a dict; calls meanwhile() at intervals while it waits."""
        end = time.monotonic() + seconds
        while b"\n" not in self._received:
            meanwhile()
            if time.monotonic() > end:
                raise PeerError(f"{self.peer} sent no message for {seconds:.0f} s")
            self._sock.settimeout(interval)
            try:
                data = self._sock.recv(1 << 16)
            except TimeoutError:
                continue
            except OSError as error:
                raise PeerError(f"{self.peer}: {error.strerror or error}") from None
            if not data:
                raise PeerError(f"{self.peer} has closed the connection")
            self._received += data
            if len(self._received) > self._limit:
                raise self.not_understood()
        line, _, self._received = self._received.partition(b"\n")
        try:
            message = json.loads(line)
        except (ValueError, RecursionError):
            raise self.not_understood() from None
        if not isinstance(message, dict):
            raise self.not_understood()
        if "error" in message:
            raise PeerError(f"{self.peer}: {printable(str(message['error']))}")
        return message

    def not_understood(self):
        return PeerError(f"{self.peer} is not spead-bench, or of another version")

    def integer(self, message, name, low, high):
        """An integer of a message within limits."""
        value = message.get(name)
        if type(value) is not int or not low <= value <= high:
            raise PeerError(
                f"{name}: {printable(str(value))} is out of range [{low}, {high}]"
            )
        return value
