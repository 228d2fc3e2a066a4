# Copyright 2026 The gr-spead authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Limits of the process (ulimit), and no rights: blocks work, or say what they lack."""

import os
import re
import resource
import subprocess
import sys
import tempfile

import pytest
from places import BOUND, NEEDS_NAMESPACES, without_notice
from refusals import (
    become_nobody,
    construct,
    hide_proc,
    in_a_process,
    limit,
    make_read_only,
    packets,
    start,
)

BLOCKS = pytest.mark.parametrize("block", ["sink", "source"])
MIB = 1 << 20
NO_MEMORY = "(not enough memory|cannot allocate) .*reduce"

# the limit, what is left, and the error
CONSTRUCTION = [
    ("RLIMIT_NOFILE", 1, "Too many open files"),
    ("RLIMIT_AS", 4 * MIB, NO_MEMORY),
    ("RLIMIT_DATA", 4 * MIB, NO_MEMORY),
    *(
        (name, 0, None)
        for name in (
            *("RLIMIT_MEMLOCK", "RLIMIT_FSIZE", "RLIMIT_CORE", "RLIMIT_RTPRIO"),
            *("RLIMIT_NICE", "RLIMIT_SIGPENDING", "RLIMIT_MSGQUEUE", "RLIMIT_RTTIME"),
        )
        if hasattr(resource, name)
    ),
]


@pytest.fixture(scope="module")
def stream():
    return packets()


@pytest.mark.parametrize(
    ("block", "kind", "left", "said"),
    [
        (block, *case)
        for block in ("sink", "source")
        for case in CONSTRUCTION
        # a source needs fewer files, and GNU Radio allocates its buffer
        if block == "sink" or not case[-1]
    ],
)
def test_construction(stream, block, kind, left, said):
    refusal, _ = in_a_process(construct, block, stream, {}, limit, kind, left)
    if said:
        assert re.fullmatch(f"spead.{block}: .*{said}.*", refusal)
    else:
        assert refusal is None


def test_start():
    """Less memory may be enough: glibc keeps the stacks of threads that ended."""
    _, log = in_a_process(start, "sink", {}, False, limit, "RLIMIT_NPROC", 0)
    said = "cannot start, .*: no thread .*raise the limits .*ulimit -u.*ulimit -v"
    assert re.search(f"spead_sink.*{said}", log)


STACKED = """
import sys
from refusals import construct, packets
assert construct(sys.argv[1], packets(), {}, lambda: None) is None
"""


@BLOCKS
def test_small_stacks_of_threads(block):
    """The C library reads this limit when a program begins."""
    size = 1 << 20
    done = subprocess.run(
        [sys.executable, "-c", STACKED, block],
        preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_STACK, (size, size)),
        env={**os.environ, "PYTHONPATH": os.pathsep.join(map(str, sys.path))},
        timeout=BOUND,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert not without_notice(done.stdout) + done.stderr


@BLOCKS
@NEEDS_NAMESPACES
@pytest.mark.parametrize("lack", [hide_proc, make_read_only])
def test_without_files(stream, block, lack):
    refusal, _ = in_a_process(construct, block, stream, {}, lack)
    assert refusal is None


@BLOCKS
@NEEDS_NAMESPACES
def test_without_rights(stream, block):
    with tempfile.TemporaryDirectory() as home:
        os.chmod(home, 0o777)
        refusal, _ = in_a_process(construct, block, stream, {}, become_nobody, home)
    assert refusal is None


@NEEDS_NAMESPACES
def test_nobody_has_no_low_port(stream):
    to = {"to": "127.0.0.1:80"}
    refusal, _ = in_a_process(construct, "source", stream, to, become_nobody)
    assert re.match("spead.source: endpoints = .*:80.*Permission denied", refusal)
