# Copyright 2026 The gr-spead authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""dask_scenarios.py all|killed FOLDER: spectra of Dask's workers on four hosts.

In the scenario "killed", worker 2 is killed after its receiver has started. Runs in
namespaces of its own.
"""

import json
import os
import signal
import sys
import time
from pathlib import Path

import numpy as np
from distributed import Client
from f_engine import (
    CHANNELS,
    PARTS,
    RECEIVER_OPTIONS,
    SAMPLE_RATE,
    TICKS,
    Engine,
    arguments,
)
from places import BOUND, EXAMPLES, eventually
from several_hosts_scenarios import DESTINATIONS, GROUPS, Program, make_hosts

sys.path.append(str(EXAMPLES / "several_hosts"))

import dask_spectra

SCHEDULER = "10.78.0.1:8786"
START, COUNT = 100 * TICKS, 6
FIRST_TICK = START - 3 * TICKS  # that is sent


def start_scheduler():
    host, port = SCHEDULER.split(":")
    options = {"host": host, "port": port}
    return Program(
        *(sys.executable, "-m", "dask", "scheduler", "--no-dashboard"),
        *arguments(options),
    )


def start_worker(part, folder):
    options = {"name": part, "nworkers": 1, "nthreads": 1, "local-directory": folder}
    return Program(
        *("ip", "netns", "exec", f"part{part}", sys.executable, "-m", "dask", "worker"),
        *(SCHEDULER, "--no-dashboard", *arguments(options)),
    )


def worker_processes():
    """The processes of all workers, by name; those that `dask worker` restarts."""
    with Client(SCHEDULER, timeout=BOUND) as client:
        client.wait_for_workers(PARTS, timeout=BOUND)
        processes = client.run(os.getpid)
        workers = client.scheduler_info()["workers"]
    return {worker["name"]: processes[at] for at, worker in workers.items()}


def has_joined(part, process):
    """Whether the host of a process receives the group of a part."""
    group = f"{part:02X}0201EF"  # 239.1.2.part
    return group in Path(f"/proc/{process}/net/igmp").read_text()


def main(scenario, folder):
    killed = 2 if scenario == "killed" else None
    os.environ["TMPDIR"] = folder  # a killed worker leaves files
    make_hosts()
    programs = [start_scheduler()]
    programs += [start_worker(part, folder) for part in range(PARTS)]
    processes = worker_processes()
    path = Path(folder) / "spectra.npz"
    options = RECEIVER_OPTIONS | {"start": START, "count": COUNT, "interface": "eth0"}
    client = Program(
        *(sys.executable, dask_spectra.__file__, SCHEDULER, GROUPS, path),
        *arguments(options),
    )
    eventually(
        lambda: all(has_joined(part, process) for part, process in processes.items())
    )
    if killed is not None:
        os.kill(processes[killed], signal.SIGKILL)
    sync_time = time.time() - FIRST_TICK / SAMPLE_RATE
    with Engine(DESTINATIONS, FIRST_TICK, sync_time, interface="br0") as engine:
        # A sample of each polarisation and channel lasts two ticks for each channel.
        samples = START + COUNT * TICKS - FIRST_TICK
        eventually(lambda: engine.sink.stats()["samples_sent"] >= samples)
    # At this rate, the end of the stream ends a receiver sooner than its --count.
    status = client.process.wait(BOUND)
    if killed is None:
        assert status == 0, client.lines
    else:
        assert status == 1, client.lines
        client.wait_for(f"part {killed} is missing: its worker has died")
    check(path, killed)


def check(path, killed):
    """The spectra equal those of numpy; those of the killed worker are missing."""
    engine = Engine("127.0.0.1:9", FIRST_TICK, 0)
    expected = np.array([engine.integrated(START + i * TICKS) for i in range(COUNT)])
    expected = expected.reshape(COUNT, PARTS, -1).astype(float)
    with np.load(path) as saved:
        counters = json.loads(str(saved["counters"]))
        spectra = saved["spectra"]
    if killed is not None:
        expected[:, killed] = np.nan
    np.testing.assert_array_equal(spectra, expected.reshape(COUNT, CHANNELS))
    assert set(counters) == {str(part) for part in range(PARTS) if part != killed}
    assert all(stats["samples_missing"] == 0 for stats in counters.values())


if __name__ == "__main__":
    main(*sys.argv[1:])
    os._exit(0)
