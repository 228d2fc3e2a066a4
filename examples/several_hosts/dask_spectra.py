#!/usr/bin/env python3
# Copyright 2026 The gr-spead authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Integrate spectra on the workers of Dask, which receive the parts of a MeerKAT
F-engine with receive.py, and save them. The worker named K receives part K."""

import argparse
import json
import subprocess
import sys
import tempfile
import time
from pathlib import Path

sys.path.append(str(Path(__file__).resolve().parents[1]))

import numpy as np
from common.arguments import option, positive
from receive import add_stream_options, check_stream_options

POLL_SECONDS = 0.5
RESULT_SECONDS = 60  # to fetch spectra, unless the worker dies just then


def integrate(program, endpoints, options):
    """Runs receive.py in a worker; returns spectra and counters."""
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "part.npz"
        arguments = [f"--{name}={value}" for name, value in options.items()]
        done = subprocess.run(
            [sys.executable, program, endpoints, file, *arguments],
            stderr=subprocess.PIPE,
            text=True,
        )
        if done.returncode:
            raise RuntimeError(done.stderr.strip().rpartition("\n")[2])
        with np.load(file) as part:
            return part["spectra"], json.loads(str(part["counters"]))


class Parts:
    """A task for each part, on the worker that receives its groups and on no other.

    results: part -> spectra and counters
    errors: part -> why it is missing
    """

    def __init__(self, client, args, options):
        self.client = client
        self.results, self.errors, self.futures = {}, {}, {}
        named = {str(name): worker for worker, name in self.workers().items()}
        self.addresses = {part: named.get(str(part)) for part in range(args.of)}
        program = str(Path(__file__).resolve().with_name("receive.py"))
        for part, address in self.addresses.items():
            if not address:
                self.errors[part] = f"no worker has the name {part}"
                continue
            # An address and not a name, which a restarted worker would also have: it
            # would start after the first tick.
            self.futures[part] = client.submit(
                integrate,
                program,
                args.endpoints,
                options | {"part": part},
                workers=[address],
                allow_other_workers=False,
                retries=0,
                pure=False,
            )

    def workers(self):
        """The names of the workers by address."""
        workers = self.client.scheduler_info()["workers"]
        return {address: worker["name"] for address, worker in workers.items()}

    def wait(self):
        while self.futures:
            time.sleep(POLL_SECONDS)
            alive = self.workers()
            for part, future in list(self.futures.items()):
                if future.done():
                    try:
                        self.results[part] = future.result(RESULT_SECONDS)
                    except Exception as error:  # of any kind, from the worker
                        self.errors[part] = str(error) or type(error).__name__
                elif self.addresses[part] not in alive:
                    future.cancel()
                    self.errors[part] = "its worker has died"
                else:
                    continue
                del self.futures[part]


def parse(argv):
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("scheduler", help="address of Dask's scheduler: host:port")
    parser.add_argument("endpoints", help="of all parts, such as 239.1.2.0+3:7148")
    parser.add_argument("output", help="file for the spectra, such as spectra.npz")
    option(parser, "--of N", positive, "number of parts", 1)
    option(parser, "--count N", positive, "integrated spectra", 10)
    add_stream_options(parser)
    args = parser.parse_args(argv)
    check_stream_options(parser, args)
    return args


def main(argv=None):
    args = parse(argv)
    try:
        from distributed import Client
    except ImportError as error:
        sys.exit(f"{error}: apt install python3-distributed")
    skipped = "scheduler", "endpoints", "output", "sync_time", "sample_rate", "delay"
    options = {
        name.replace("_", "-"): value
        for name, value in vars(args).items()
        if name not in skipped
    }
    try:
        with Client(args.scheduler) as client:
            parts = Parts(client, args, options)
            parts.wait()
    except OSError as error:
        sys.exit(f"dask_spectra.py: {error}")
    spectra = np.full((args.count, args.of, args.channels // args.of), np.nan, "f4")
    for part, (power, _) in parts.results.items():
        spectra[: len(power), part] = power
    counters = {part: stats for part, (_, stats) in parts.results.items()}
    np.savez(
        args.output,
        spectra=spectra.reshape(args.count, -1),
        counters=json.dumps(counters),
        start=args.start,
    )
    for part, reason in sorted(parts.errors.items()):
        print(f"part {part} is missing: {reason}", file=sys.stderr)
    print(f"{args.count} spectra of {len(counters)} of {args.of} parts: {args.output}")
    return 1 if parts.errors else 0


if __name__ == "__main__":
    sys.exit(main())
