# Copyright 2026 The gr-spead authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Runs programs, times them, and finds how much each can send in a given time."""

import contextlib
import os
import re
import select
import signal
import subprocess
import tempfile
import time
from dataclasses import dataclass

SPEED = re.compile(r"([0-9.]+) MB/s")
FIRST_GUESS = 200  # MB/s
MOST_GROWTH = 32  # from a guess to the next; short runs say little


class Failure(Exception):
    """A program did not do what it was started for; the text is what it said."""


@dataclass(frozen=True)
class Cell:
    """What is measured with each of the programs."""

    packet: int
    heap: int
    rate: float = 0  # MB/s, 0 for as fast as it goes
    seconds: float = 1


@dataclass(frozen=True)
class Run:
    """One run of one program; the fields are the columns of results.csv."""

    round: int
    network: str
    program: str
    packet: int
    heap: int
    rate: float
    heaps: int | None = None  # None if the program counts seconds
    mb_per_s: float | None = None  # None if it failed
    cpu_s: float | None = None
    wall_s: float | None = None
    # At least that of the process that started it, which Linux counts in.
    max_rss_mib: float | None = None


def ended_within(pid, seconds):
    """Wait for a child, but leave it to wait4() to take its end in."""
    descriptor = os.pidfd_open(pid)
    try:
        watcher = select.poll()
        watcher.register(descriptor, select.POLLIN)
        return bool(watcher.poll(seconds * 1000))
    finally:
        os.close(descriptor)


@dataclass(frozen=True)
class Ended:
    """What is left of a program."""

    output: str
    said: str  # to standard error
    wall: float  # s
    usage: object  # resources, as of wait4()


def run_to_end(command, patience):
    """Run a command that succeeds in so many seconds; Failure if it does not."""
    with (
        tempfile.TemporaryFile("w+", errors="replace") as out,
        tempfile.TemporaryFile("w+", errors="replace") as err,
    ):
        begin = time.monotonic()
        # An interrupt while it is started would leave it behind.
        interrupts = {signal.SIGINT, signal.SIGTERM}
        mask = signal.pthread_sigmask(signal.SIG_BLOCK, interrupts)
        try:
            # A session of its own, so that Ctrl-C reaches it through this process only.
            child = subprocess.Popen(
                command,
                stdin=subprocess.DEVNULL,
                stdout=out,
                stderr=err,
                start_new_session=True,
                preexec_fn=lambda: signal.pthread_sigmask(signal.SIG_SETMASK, mask),
            )
        except OSError as error:
            signal.pthread_sigmask(signal.SIG_SETMASK, mask)
            raise Failure(str(error)) from None
        ended = False
        try:
            signal.pthread_sigmask(signal.SIG_SETMASK, mask)
            ended = ended_within(child.pid, patience)
        finally:
            if not ended:
                # The number is still the child's, whose end was not taken in.
                with contextlib.suppress(ProcessLookupError):
                    os.killpg(child.pid, signal.SIGKILL)
            _, status, usage = os.wait4(child.pid, 0)
            child.returncode = os.waitstatus_to_exitcode(status)
        wall = time.monotonic() - begin
        out.seek(0)
        err.seek(0)
        output, said = out.read(), err.read().strip()
    if not ended:
        raise Failure(f"{said}\nended after {patience:.0f} s".strip())
    if child.returncode != 0:
        raise Failure(said or f"exit status {child.returncode}")
    return Ended(output, said, wall, usage)


def execute(command, patience):
    """Run a command that says how fast it was; its speed, seconds and resources."""
    ended = run_to_end(command, patience)
    speeds = SPEED.findall(ended.output)
    try:
        speed = float(speeds[-1])
    except (IndexError, ValueError):
        speed = 0.0
    if not speed > 0:
        raise Failure(f"{ended.said}\nsaid no speed in MB/s".strip())
    return speed, ended.wall, ended.usage


class Meter:
    """Measures programs on a network; remembers how fast they were."""

    def __init__(self, network):
        self.network = network
        self.speeds = {}  # MB/s by program and cell

    def measure(self, number, program, cell):
        """A run of a round; Failure if it failed."""
        if cell.rate:
            heaps = heaps_for(cell.rate, cell)
            measured = self._run(program, cell, heaps)
        elif program.counts:
            heaps, measured = self._sized(program, cell)
        else:
            heaps, measured = None, self._run(program, cell, 0)
        speed, wall, usage = measured
        return Run(
            round=number,
            network=self.network.kind,
            program=program.name,
            packet=cell.packet,
            heap=cell.heap,
            rate=cell.rate,
            heaps=heaps,
            mb_per_s=speed,
            cpu_s=round(usage.ru_utime + usage.ru_stime, 4),
            wall_s=round(wall, 4),
            max_rss_mib=round(usage.ru_maxrss / 1024, 1),
        )

    def _sized(self, program, cell):
        """A run that takes about the time; what is much too short only tells the speed.

        What came before is the first guess: the last round, or the heap size before.
        """
        before = (program.name, cell.packet)
        known = self.speeds.get((*before, cell.heap), self.speeds.get(before))
        if known:
            heaps = heaps_for(known, cell)
        else:
            heaps = max(heaps_for(FIRST_GUESS, cell) // 4, 2)
        while True:
            measured = self._run(program, cell, heaps)
            speed = measured[0]
            self.speeds[before] = self.speeds[(*before, cell.heap)] = speed
            wanted = min(heaps_for(speed, cell), MOST_GROWTH * heaps)
            if wanted <= 2 * heaps:
                return heaps, measured
            heaps = wanted

    def _run(self, program, cell, heaps):
        command = program.fill(
            heaps=heaps,
            heap=cell.heap,
            packet=cell.packet,
            seconds=cell.seconds,
            rate=cell.rate,
            network=self.network,
        )
        return execute(command, patience=30 + 20 * cell.seconds)


def heaps_for(speed, cell):
    """So many heaps take about the time of a cell at a speed in MB/s."""
    return max(round(speed * 1e6 * cell.seconds / cell.heap), 2)
