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
from places import BOUND, NEEDS_NAMESPACES
from refusals import (
    become_nobody,
    construct,
    hide_proc_and_make_read_only,
    in_a_process,
    limit,
    limit_what_blocks_can_do_without,
    packets,
    start,
)

BLOCKS = pytest.mark.parametrize("block", ["sink", "source"])
MIB = 1 << 20


@pytest.fixture(scope="module")
def stream():
    """The packets of a stream, for a source to receive."""
    return packets()


# A source needs fewer files, and GNU Radio allocates its buffer.
@pytest.mark.parametrize(
    ("resource_name", "left", "expected_error"),
    [
        ("RLIMIT_NOFILE", 1, "Too many open files"),
        ("RLIMIT_AS", 4 * MIB, "(not enough memory|cannot allocate) .*reduce"),
    ],
)
def test_construction_reports_an_exhausted_resource(
    resource_name, left, expected_error
):
    error, _ = in_a_process(construct, "sink", (), {}, limit, resource_name, left)
    assert re.fullmatch(f"spead.sink: .*{expected_error}.*", error)


@BLOCKS
def test_blocks_run_without_other_resources(stream, block):
    restrict = limit_what_blocks_can_do_without
    error, _ = in_a_process(construct, block, stream, {}, restrict)
    assert error is None


def test_start_logs_that_no_thread_can_be_created():
    """Not by a memory limit, since glibc may reuse the stacks of ended threads."""
    _, log = in_a_process(start, "sink", {}, limit, "RLIMIT_NPROC", 0)
    message = "cannot start, .*: no thread .*raise the limits .*ulimit -u.*ulimit -v"
    assert re.search(f"spead_sink.*{message}", log)


@BLOCKS
def test_blocks_run_with_small_thread_stacks(block):
    """In a new program, since glibc reads RLIMIT_STACK only at program start."""
    subprocess.run(
        [
            *(sys.executable, "-c"),
            "from refusals import construct, packets\n"
            f"assert construct('{block}', packets(), {{}}, lambda: None) is None",
        ],
        preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_STACK, (MIB, MIB)),
        env={**os.environ, "PYTHONPATH": os.pathsep.join(map(str, sys.path))},
        timeout=BOUND,
        check=True,
    )


@BLOCKS
@NEEDS_NAMESPACES
def test_blocks_run_without_proc_and_writable_files(stream, block):
    restrict = hide_proc_and_make_read_only
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
    options = {"endpoint": "127.0.0.1:80"}
    error, _ = in_a_process(construct, "source", stream, options, become_nobody)
    assert re.match("spead.source: endpoints = .*:80.*Permission denied", error)
