# Copyright 2026 The gr-spead authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Runs a program and measures its speed, CPU time and memory."""

import os
import re
import select
import signal
import subprocess
import tempfile
import time
from dataclasses import dataclass

SPEED = re.compile(r"([\d.]+) MB/s")
FIRST_GUESS = 50  # MB/s
MAX_GROWTH = 32  # of the number of heaps per repetition: short runs are inaccurate


class Failure(Exception):
    """A program failed; the text is the reason."""


@dataclass(frozen=True)
class Cell:
    """The conditions of a measurement."""

    packet: int
    heap: int
    rate: float  # MB/s, 0 for as fast as possible
    seconds: float

    def heaps_at(self, speed):
        """The number of heaps for `seconds` at a speed in MB/s."""
        return max(round(speed * 1e6 * self.seconds / self.heap), 2)


def execute(command, timeout):
    """Run a command that prints its speed; return columns of the results."""
    with (
        tempfile.TemporaryFile("w+", errors="replace") as out,
        tempfile.TemporaryFile("w+", errors="replace") as err,
    ):
        begin = time.monotonic()
        try:
            # A new process group, to kill all processes that the command starts.
            child = subprocess.Popen(
                command,
                stdin=subprocess.DEVNULL,
                stdout=out,
                stderr=err,
                start_new_session=True,
            )
        except OSError as error:
            raise Failure(str(error)) from None
        try:
            pidfd = os.pidfd_open(child.pid)
            ended, _, _ = select.select([pidfd], [], [], timeout)
            os.close(pidfd)
        finally:
            os.killpg(child.pid, signal.SIGKILL)
            _, status, usage = os.wait4(child.pid, 0)
            child.returncode = os.waitstatus_to_exitcode(status)
        wall = time.monotonic() - begin
        out.seek(0)
        err.seek(0)
        speeds, errors = SPEED.findall(out.read()), err.read().strip()
    if not ended:
        raise Failure(f"{errors}\nkilled after {timeout:.0f} s".strip())
    if child.returncode:
        raise Failure(errors or f"exit status {child.returncode}")
    if not speeds or not float(speeds[-1]):
        raise Failure(f"{errors}\nprinted no speed in MB/s".strip())
    return {
        "mb_per_s": float(speeds[-1]),
        "cpu_s": round(usage.ru_utime + usage.ru_stime, 4),
        "wall_s": round(wall, 4),
        "max_rss_mib": round(usage.ru_maxrss / 1024, 1),
    }


class Meter:
    """Measures programs on a network, and caches their speeds."""

    def __init__(self, network):
        self.network = network
        self.speeds = {}  # MB/s by program and cell

    def measure(self, program, cell):
        """Run a program; return columns of the results, or raise Failure.

        Without a rate, the number of heaps depends on the speed of the program. If a
        run is much too short, it is repeated with more heaps.
        """
        if not program.counts_heaps:
            return self._run(program, cell, None)
        if cell.rate:
            return self._run(program, cell, cell.heaps_at(cell.rate))
        key = program.name, cell.packet
        guess = self.speeds.get((*key, cell.heap), self.speeds.get(key, FIRST_GUESS))
        heaps = cell.heaps_at(guess)
        while True:
            result = self._run(program, cell, heaps)
            self.speeds[key] = self.speeds[(*key, cell.heap)] = result["mb_per_s"]
            wanted = min(cell.heaps_at(result["mb_per_s"]), MAX_GROWTH * heaps)
            if wanted <= 2 * heaps:
                return result
            heaps = wanted

    def _run(self, program, cell, heaps):
        command = program.fill(
            heaps=heaps,
            heap=cell.heap,
            bytes=(heaps or 0) * cell.heap,
            packet=cell.packet,
            seconds=cell.seconds,
            rate=f"{cell.rate:g}",
            rate_gbps=f"{cell.rate * 8e-3:g}",
            host=self.network.host,
            port=self.network.port,
        )
        return {"heaps": heaps, **execute(command, timeout=30 + 20 * cell.seconds)}
