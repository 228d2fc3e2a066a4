# Copyright 2026 The gr-spead authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Resource limits and missing privileges: blocks run, or name the missing resource."""

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

# the resource, the amount left, and the error, or None if construction succeeds
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
    """The packets of a stream, for a source to receive."""
    return packets()


@pytest.mark.parametrize(
    ("block", "resource_name", "left", "expected_error"),
    [
        (block, *case)
        for block in ("sink", "source")
        for case in CONSTRUCTION
        # A source needs fewer files, and GNU Radio allocates its buffer.
        if block == "sink" or not case[-1]
    ],
)
def test_construction_reports_an_exhausted_resource(
    stream, block, resource_name, left, expected_error
):
    error, _ = in_a_process(construct, block, stream, {}, limit, resource_name, left)
    if expected_error:
        assert re.fullmatch(f"spead.{block}: .*{expected_error}.*", error)
    else:
        assert error is None


def test_start_logs_that_no_thread_can_be_created():
    """Not by a memory limit, since glibc may reuse the stacks of ended threads."""
    _, log = in_a_process(start, "sink", {}, False, limit, "RLIMIT_NPROC", 0)
    message = "cannot start, .*: no thread .*raise the limits .*ulimit -u.*ulimit -v"
    assert re.search(f"spead_sink.*{message}", log)


CONSTRUCT_BLOCK = """
import sys
from refusals import construct, packets
assert construct(sys.argv[1], packets(), {}, lambda: None) is None
"""


@BLOCKS
def test_blocks_run_with_small_thread_stacks(block):
    """In a new program, since glibc reads RLIMIT_STACK only at program start."""
    done = subprocess.run(
        [sys.executable, "-c", CONSTRUCT_BLOCK, block],
        preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_STACK, (MIB, MIB)),
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
@pytest.mark.parametrize("restrict", [hide_proc, make_read_only])
def test_blocks_run_without_proc_or_writable_files(stream, block, restrict):
    error, _ = in_a_process(construct, block, stream, {}, restrict)
    assert error is None


@BLOCKS
@NEEDS_NAMESPACES
def test_blocks_run_without_privileges(stream, block):
    with tempfile.TemporaryDirectory() as home:
        os.chmod(home, 0o777)
        error, _ = in_a_process(construct, block, stream, {}, become_nobody, home)
    assert error is None


@NEEDS_NAMESPACES
def test_a_source_without_privileges_cannot_bind_a_privileged_port(stream):
    options = {"to": "127.0.0.1:80"}
    error, _ = in_a_process(construct, "source", stream, options, become_nobody)
    assert re.match("spead.source: endpoints = .*:80.*Permission denied", error)
