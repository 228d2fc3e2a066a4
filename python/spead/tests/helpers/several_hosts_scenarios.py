# Copyright 2026 The gr-spead authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""several_hosts_scenarios.py SCENARIO: receivers of a part of the channels each.

Runs in namespaces of its own.
"""

import json
import os
import re
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path

import numpy as np
from f_engine import (
    CHANNELS,
    OPTIONS,
    PARTS,
    RECEIVER_OPTIONS,
    SAMPLE_RATE,
    SUBSTREAMS,
    TICKS,
    Engine,
    arguments,
)
from places import BOUND, EXAMPLES, ROOT, eventually
from received_streams import Recorder
from streams import wait
from two_hosts import CLONE_NEWNET, libc, system_call, tool

sys.path.append(str(EXAMPLES / "several_hosts"))

import collect
import receive

GROUPS = "239.1.2.0+3:7148"
DESTINATIONS = [f"239.1.2.{i * PARTS // SUBSTREAMS}:7148" for i in range(SUBSTREAMS)]
SPECTRA = "239.1.3.0:7149"  # a group, for collect.py and the recorder
OWN = CHANNELS // PARTS


def make_hosts():
    """Create the namespaces with the commands of the documentation; enter the hub."""
    Path("/run/netns").mkdir(exist_ok=True)
    tool("mount", "-t", "tmpfs", "tmpfs", "/run/netns")
    page = (ROOT / "docs" / "several_hosts.md").read_text()
    (commands,) = re.findall(r"^```sh\n(ip netns add hub\n.*?)^```$", page, re.M | re.S)
    tool("bash", "-euc", commands)
    with open("/run/netns/hub") as hub:
        system_call(libc.setns(hub.fileno(), CLONE_NEWNET))


class Program:
    """A process whose lines are collected with the times of their arrival."""

    def __init__(self, *command):
        self.lines = []
        self.process = subprocess.Popen(
            [*map(str, command)],
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
        )
        threading.Thread(target=self.read, daemon=True).start()

    def read(self):
        for line in self.process.stdout:
            self.lines.append((time.monotonic(), line))

    def wait_for(self, text, since=0.0):
        """The time of the first line with a text."""

        def times():
            return [at for at, line in self.lines if text in line and at >= since]

        try:
            eventually(times)
        except AssertionError:
            raise AssertionError(f"no {text!r} in {self.lines}") from None
        return times()[0]

    def end(self, number=signal.SIGINT):
        self.process.send_signal(number)
        return self.process.wait(BOUND)


def start_part(part, sync_time):
    options = RECEIVER_OPTIONS | {"part": part, "sync-time": sync_time, "delay": 1}
    return Program(
        *("ip", "netns", "exec", f"part{part}", sys.executable, receive.__file__),
        *(GROUPS, SPECTRA, "--interface=eth0", *arguments(options)),
    )


def checked_spectra(recorder, engine, killed):
    """Check the spectra: each part is zero or equal to the sum at its tick.

    Returns how many have all parts, and the runs of those that lack the killed part.
    """
    spectra = recorder.samples()
    tags = [(at, tick) for at, key, tick in recorder.tags[0] if key == "timestamp"]
    whole, states = 0, []
    for i, spectrum in enumerate(spectra.reshape(-1, PARTS, OWN)):
        at, tick = [tag for tag in tags if tag[0] <= i][-1]
        expected = engine.integrated(tick + (i - at) * TICKS).reshape(PARTS, OWN)
        present = spectrum.any(axis=1)
        np.testing.assert_array_equal(spectrum[present], expected[present])
        whole += bool(present.all())
        if not states or states[-1] != present[killed]:
            states.append(bool(present[killed]))
    return whole, states


def one_part_is_killed(folder):
    make_hosts()
    sync_time = int(time.time())
    args = [SPECTRA, f"{folder}/spectra.png", "--interface=br0", *arguments(OPTIONS)]
    collector = Program(sys.executable, collect.__file__, *args)
    recording = collect.Collector(collect.parse(args))
    recorder = Recorder("float", 1, CHANNELS)
    recording.connect(recording.source, recorder)
    recording.start()

    def received(part):
        return recording.source.stats(part)["samples_received"]

    def go_on(*parts):
        before = [received(part) for part in parts]
        eventually(
            lambda: all(
                received(part) >= count + 5 * OWN
                for part, count in zip(parts, before, strict=True)
            )
        )

    collector.wait_for("part 0, channels 0 to 15, is missing")  # nothing arrives yet
    first_tick = round((time.time() - sync_time) * SAMPLE_RATE) // TICKS * TICKS
    with Engine(DESTINATIONS, first_tick, sync_time, interface="br0") as engine:
        parts = [start_part(part, sync_time) for part in range(PARTS)]
        for part in range(PARTS):
            collector.wait_for(f"part {part}, channels {16 * part} to")
            collector.wait_for(f"to {16 * part + 15}, arrives")
        go_on(*range(PARTS))
        begin = time.monotonic()
        parts[2].end(signal.SIGKILL)
        named = collector.wait_for("part 2, channels 32 to 47, is missing", begin)
        go_on(0, 1, 3)
        parts[2] = start_part(2, sync_time)
        collector.wait_for("part 2, channels 32 to 47, arrives", named)
        go_on(*range(PARTS))
    for part in parts:  # the stream has ended
        assert part.process.wait(BOUND) == 0, part.lines
    assert collector.end() == 0, collector.lines
    recording.stop()
    wait(recording)
    whole, states = checked_spectra(recorder, engine, 2)
    assert whole >= 10
    # before and after, the part may be missing
    assert "101" in "".join(str(int(state)) for state in states)
    return {"seconds until it was named": named - begin, "whole spectra": whole}


if __name__ == "__main__":
    report = globals()[sys.argv[1]](*sys.argv[2:])
    print(json.dumps({"scenario": sys.argv[1], **report}), flush=True)
    os._exit(0)
