# Copyright 2026 The gr-spead authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""starting_receiver.py ENDPOINT INTERFACE TICK: a receiver that begins at a tick.

Makes its source after it has read a line, and prints a line when packets can arrive. At
the end of the stream, prints the first times, the missing ranges, and a digest of the
other samples.
"""

import hashlib
import json
import sys

import numpy as np
from received_streams import Receiving


def main(endpoint, interface, tick):
    sys.stdin.readline()
    with Receiving(
        endpoint, interface=interface, timestamp_start=int(tick), max_delay=0
    ) as receiving:
        print("ready", flush=True)
        receiving.wait()
    samples = receiving.samples()
    missing = receiving.tags("missing")
    report = {
        "times": receiving.tags("timestamp"),
        "count": len(samples),
        "missing": missing,
        "early": receiving.stats["samples_early"],
        "digest": hashlib.sha256(np.delete(samples, ranges(missing))).hexdigest(),
    }
    print(json.dumps(report), flush=True)


def ranges(missing):
    """The offsets of missing samples."""
    return [i for at, n in missing for i in range(at, at + n)]


if __name__ == "__main__":
    main(*sys.argv[1:])
