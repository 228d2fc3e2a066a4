# Copyright 2026 The gr-spead authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""dask_scenarios.py all|killed FOLDER: spectra of a LocalCluster with four workers.

In the scenario "killed", worker 2 is killed after its receiver has started.
"""

import json
import os
import signal
import socket
import sys
import threading
import time
from pathlib import Path

import numpy as np
from distributed import Client, LocalCluster
from f_engine import (
    CHANNELS,
    PARTS,
    RECEIVER_OPTIONS,
    SAMPLE_RATE,
    SUBSTREAMS,
    TICKS,
    Engine,
    arguments,
)
from places import EXAMPLES, eventually

sys.path.append(str(EXAMPLES / "several_hosts"))

import dask_spectra

START, COUNT = 100 * TICKS, 6
FIRST_TICK = START - 3 * TICKS  # that is sent


def free_ports(count):
    sockets = [socket.socket(socket.AF_INET, socket.SOCK_DGRAM) for _ in range(count)]
    for sock in sockets:
        sock.bind(("127.0.0.1", 0))
    ports = [sock.getsockname()[1] for sock in sockets]
    for sock in sockets:
        sock.close()
    return ports


def bound_ports():
    """The UDP ports bound on this host."""
    lines = Path("/proc/net/udp").read_text().splitlines()[1:]
    return {int(line.split()[1].rpartition(":")[2], 16) for line in lines}


def kill_worker(cluster, name):
    with Client(cluster.scheduler_address) as client:
        processes = client.run(os.getpid)
        workers = client.scheduler_info()["workers"]
    (address,) = (one for one, worker in workers.items() if worker["name"] == name)
    os.kill(processes[address], signal.SIGKILL)


def send(cluster, ports, killed):
    """Send when all receivers are ready, until their spectra are complete."""
    eventually(lambda: set(ports) <= bound_ports())
    if killed is not None:
        kill_worker(cluster, killed)
    destinations = [
        f"127.0.0.1:{ports[i * PARTS // SUBSTREAMS]}" for i in range(SUBSTREAMS)
    ]
    with Engine(destinations, FIRST_TICK, time.time() - FIRST_TICK / SAMPLE_RATE):
        # also that of the killed worker, whose receiver remains
        eventually(lambda: not set(ports) & bound_ports())


def main(scenario, folder):
    killed = 2 if scenario == "killed" else None
    os.environ["TMPDIR"] = folder  # a killed worker leaves files
    ports = free_ports(PARTS)
    endpoints = ",".join(f"127.0.0.1:{port}" for port in ports)
    path = Path(folder) / "spectra.npz"
    options = RECEIVER_OPTIONS | {"start": START, "count": COUNT}
    with LocalCluster(
        n_workers=PARTS,
        threads_per_worker=1,
        processes=True,
        dashboard_address=None,
        local_directory=folder,
    ) as cluster:
        sender = threading.Thread(
            target=send, args=(cluster, ports, killed), daemon=True
        )
        sender.start()
        status = dask_spectra.main(
            [cluster.scheduler_address, endpoints, str(path), *arguments(options)]
        )
        sender.join()
    check(path, killed)
    print(json.dumps({"scenario": scenario, "status": status}), flush=True)


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
