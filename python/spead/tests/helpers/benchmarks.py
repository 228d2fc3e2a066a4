# Copyright 2026 The gr-spead authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Runs the programs of the benchmark."""

import subprocess
import sys

from places import BOUND, BUILD, NAMESPACES, ROOT

SCRIPTS = ROOT / "benchmark"
BUILT = BUILD / "benchmark"  # the programs in C++
# Before a command: root as in a container, which cannot make network namespaces.
WITHOUT_RIGHTS = ["setpriv", "--bounding-set=-sys_admin"] if NAMESPACES else []


def run_script(name, *options, before=()):
    """A script in a process of its own, since private networks change the process."""
    return subprocess.run(
        [*before, sys.executable, SCRIPTS / name, *map(str, options)],
        timeout=4 * BOUND,
        capture_output=True,
        text=True,
        check=False,
    )


def lines_of(done, name):
    """The fields of the lines that begin with a name."""
    assert "Traceback" not in done.stderr, done.stderr
    lines = (line.split() for line in done.stdout.splitlines())
    return [fields for fields in lines if fields and fields[0] == name]
