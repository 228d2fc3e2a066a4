# Copyright 2026 The gr-spead authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""The programs that sweep.py compares, each a command with placeholders."""

import importlib.util
import shutil
import sys
from dataclasses import dataclass
from pathlib import Path

from templates import words

HERE = Path(__file__).resolve().parent
PEERS = HERE / "peers"
BUILD = HERE.parent / "build" / "benchmark"

PLACEHOLDERS = {
    "heaps": "how many heaps to send",
    "heap": "samples in a heap, a byte each",
    "packet": "bytes in a packet, without the headers of UDP and IP",
    "bytes": "how many samples to send, heaps x heap",
    "seconds": "how long to send, for programs that do not count heaps",
    "host": "an address",
    "port": "a number",
    "rate": "MB/s, 0 for as fast as it goes",
    "rate_gbps": "the same in Gb/s",
}


@dataclass(frozen=True)
class Program:
    """A command; its last line of output that ends in "MB/s" says how fast it was."""

    name: str
    command: tuple[str, ...]
    role: str = "peer"  # or "own", "limit", "bound"
    requires: tuple[str, ...] = ()  # modules
    by_default: bool = True
    bound: str | None = (
        None  # the program that it is compared with instead of the limit
    )

    def names(self, *placeholders):
        """Whether one of the placeholders is in the command."""
        fields = ("{" + placeholder + "}" for placeholder in placeholders)
        return any(field in part for field in fields for part in self.command)

    @property
    def counts(self):
        """Whether it can be told how much to send."""
        return self.names("heaps", "bytes")

    @property
    def paces(self):
        return self.names("rate", "rate_gbps")

    def fill(self, *, heaps, heap, packet, seconds, network, rate=0):
        values = {
            "heaps": heaps,
            "heap": heap,
            "packet": packet,
            "bytes": heaps * heap,
            "seconds": seconds,
            "host": network.host,
            "port": network.port,
            "rate": f"{rate:g}",
            "rate_gbps": f"{rate * 8e-3:g}",
        }
        return [part.format_map(values) for part in self.command]

    def lacks(self):
        """What it needs and does not find, or None."""
        for module in self.requires:
            parent = module.partition(".")[0]
            if not importlib.util.find_spec(parent):
                return f"Python module {parent}"
            if not importlib.util.find_spec(module):
                return f"Python module {module}"
        return None if shutil.which(self.command[0]) else self.command[0]


def python_peer(name, script, *args, **properties):
    return Program(name, (sys.executable, str(PEERS / script), *args), **properties)


def built_in(build):
    """The programs that come with the project, some of them built in a folder."""
    heaps = ("-n", "{heaps}", "-H", "{heap}", "-p", "{packet}")
    samples = ("-b", "{bytes}", "-p", "{packet}")
    rate = ("-r", "{rate}")
    to = ("{host}", "{port}")
    send_perf = str(build / "send_perf")
    limit = (str(build / "limit"), "-p", "{packet}", "-s", "{seconds}", *to)
    return [
        Program("gr-spead", (send_perf, *heaps, *rate, *to), role="own"),
        python_peer(
            "spead2 Python",
            "spead2_sender.py",
            *(*heaps, *rate, *to),
            requires=("spead2", "numpy"),
        ),
        python_peer(
            "network.udp_sink",
            "gnuradio_sink.py",
            *(*samples, *rate, "udp", *to),
            requires=("gnuradio", "gnuradio.network"),
        ),
        python_peer(
            "null sink",
            "gnuradio_sink.py",
            *(*samples, "null"),
            requires=("gnuradio", "gnuradio.network"),
            role="bound",
        ),
        Program("limit", limit, role="limit"),
        *instruments(send_perf, heaps, to),
        Program(
            "Volk",
            (str(build / "volk_limit"), "{seconds}"),
            role="bound",
            by_default=False,
        ),
    ]


def instruments(send_perf, heaps, to):
    """The sink with what instruments need; to be asked for by name."""

    def sink(name, *options, bound=None):
        command = (send_perf, *options, *heaps, *to)
        return Program(name, command, role="own", by_default=False, bound=bound)

    return [
        sink("gr-spead 2 inputs", "-i", "2"),
        sink("gr-spead 8 destinations", "-d", "8"),
        sink("gr-spead float", "-t", "float", bound="Volk"),
    ]


def parse_peer(text):
    """A program from NAME=COMMAND; ValueError says what is wrong with it."""
    name, equals, command = text.partition("=")
    name, command = name.strip(), words(command, PLACEHOLDERS)
    if not (name and equals and command):
        raise ValueError(f"{text!r} is not NAME=COMMAND")
    peer = Program(name, command)
    if not (peer.counts or peer.names("seconds")):
        raise ValueError(f"{text!r} has none of {{heaps}}, {{bytes}} and {{seconds}}")
    return peer
