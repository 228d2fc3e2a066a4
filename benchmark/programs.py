# Copyright 2026 The gr-spead authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""The programs that senders.py compares, as commands with placeholders."""

import importlib.util
import shlex
import shutil
import sys
from dataclasses import dataclass
from pathlib import Path

HERE = Path(__file__).resolve().parent
BUILD = HERE.parent / "build" / "benchmark"

PLACEHOLDERS = {
    "heaps": "number of heaps to send",
    "heap": "samples per heap, one byte each",
    "packet": "bytes per packet, without UDP and IP headers",
    "bytes": "heaps x heap",
    "seconds": "duration, for programs that do not count heaps",
    "host": "address of the receiver",
    "port": "port of the receiver",
    "rate": "rate in MB/s, 0: as fast as possible",
    "rate_gbps": "the same in Gb/s",
}


@dataclass(frozen=True)
class Program:
    """A command. Its result is the last speed in MB/s that it prints."""

    name: str
    command: tuple[str, ...]
    role: str = "peer"  # or "own" (gr-spead), "limit", "bound"
    module: str | None = None  # required Python module
    by_default: bool = True
    bound: str = "limit"  # program that gives the upper limit of this one

    def has(self, *placeholders):
        """Whether the command has any of the placeholders."""
        return any(
            f"{{{name}}}" in word for name in placeholders for word in self.command
        )

    @property
    def counts_heaps(self):
        return self.has("heaps", "bytes")

    @property
    def has_rate(self):
        return self.has("rate", "rate_gbps")

    def fill(self, **values):
        return [word.format(**values) for word in self.command]

    def missing(self):
        """The missing program or Python module, or None."""
        if not shutil.which(self.command[0]):
            return self.command[0]
        if self.module and not importlib.util.find_spec(self.module):
            return f"Python module {self.module}"
        return None


def peer(text):
    """Parse NAME=COMMAND into a Program; raises ValueError if it is invalid."""
    name, _, command = text.partition("=")
    program = Program(name.strip(), tuple(shlex.split(command)))
    try:
        program.fill(**dict.fromkeys(PLACEHOLDERS, 0))
    except (KeyError, IndexError) as error:
        raise ValueError(f"unknown placeholder {error}") from None
    if not (program.name and (program.counts_heaps or program.has("seconds"))):
        raise ValueError("needs a name, and {heaps}, {bytes} or {seconds}")
    return program


def built_in(build):
    """The programs of this folder; `build` has the compiled ones."""
    heaps = ("-n", "{heaps}", "-H", "{heap}", "-p", "{packet}")
    samples = ("-b", "{bytes}", "-p", "{packet}")
    rate = ("-r", "{rate}")
    destination = ("{host}", "{port}")

    def send_perf(name, *options, **properties):
        command = (str(build / "send_perf"), *heaps, *options, *destination)
        return Program(name, command, role="own", **properties)

    def python(name, script, *options, **properties):
        command = (sys.executable, str(HERE / "peers" / script), *options)
        return Program(name, command, **properties)

    limit = ("-p", "{packet}", "-s", "{seconds}", *destination)
    volk = (str(build / "volk_limit"), "{seconds}")
    spead2 = ("spead2_sender.py", *heaps, *rate, *destination)
    udp_sink = ("gnuradio_sink.py", *samples, *rate, "udp", *destination)
    null_sink = ("gnuradio_sink.py", *samples, "null")
    special: dict = {"by_default": False}
    return [
        send_perf("gr-spead", *rate),
        python("spead2 Python", *spead2, module="spead2"),
        python("network.udp_sink", *udp_sink, module="gnuradio"),
        python("null sink", *null_sink, module="gnuradio", role="bound"),
        Program("limit", (str(build / "send_limit"), *limit), role="limit"),
        send_perf("gr-spead 2 inputs", "-i", "2", **special),
        send_perf("gr-spead 8 destinations", "-d", "8", **special),
        send_perf("gr-spead float", "-t", "float", bound="Volk", **special),
        Program("Volk", volk, role="bound", **special),
    ]
