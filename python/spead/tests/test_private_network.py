# Copyright 2026 The gr-spead authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""What the benchmark's programs do where a private network cannot be made.

What they do where it can is in test_sweep.py and test_measuring.py.
"""

import errno

import private_network
import pytest
from benchmarks import run_program
from conftest import NEEDS_NAMESPACES
from private_network import NetworkError, possible


@pytest.fixture
def without(tmp_path):
    """What to put before a command for which a tool says that it cannot."""

    def before(tool, complaint):
        fake = tmp_path / "bin" / tool
        fake.parent.mkdir()
        fake.write_text(f"#!/bin/sh\necho '{complaint}' >&2\nexit 2\n")
        fake.chmod(0o755)
        return ["sh", "-c", f'PATH={fake.parent}:$PATH exec "$@"', "sh"]

    return before


def test_what_rights_it_takes_is_said_where_they_are_missing():
    denied = OSError(errno.EPERM, "Operation not permitted")
    assert "sudo" in str(NetworkError(denied))
    assert "sudo" in str(NetworkError("ip link: RTNETLINK: Operation not permitted"))
    assert "sudo" not in str(NetworkError("ip link: Unknown device type."))
    assert "sudo" not in str(NetworkError(FileNotFoundError(errno.ENOENT, "tc")))


@NEEDS_NAMESPACES
@pytest.mark.parametrize("kind", [None, "drop", "veth", "cut"])
def test_it_is_tried_before_it_is_promised(monkeypatch, capsys, kind):
    assert possible(kind)

    def missing(name, *args):
        raise NetworkError(f"{name} is missing")

    monkeypatch.setattr(private_network, "tool", missing)
    assert not possible(kind)
    assert capsys.readouterr().err == (
        "on loopback: no private network: ip is missing\n"
    )


@NEEDS_NAMESPACES
def test_the_default_is_loopback_where_the_device_cannot_be_made(tmp_path, without):
    sweep = ("sweep.py", "--output", tmp_path / "out", "--heaps", "8k", "--rounds", 1)
    peer = ("--programs", "", "--peer", "fake=echo 5 MB/s {seconds}", "--rates", "")
    before = without("tc", "Specified qdisc kind is unknown.")
    done = run_program(*sweep, *peer, before=before)
    assert done.returncode == 0, done.stderr
    assert "on loopback: no private network: tc qdisc" in done.stderr
    assert "kind is unknown" in done.stderr
    assert "sudo" not in done.stderr
    assert "the loopback device" in (tmp_path / "out" / "report.md").read_text()


@NEEDS_NAMESPACES
def test_one_that_was_asked_for_is_refused(tmp_path, without):
    sweep = ("sweep.py", "--output", tmp_path / "out", "--network", "cut")
    peer = ("--programs", "", "--peer", "fake=echo 5 MB/s {seconds}")
    done = run_program(*sweep, *peer, before=without("ethtool", "Cannot set that"))
    assert done.returncode == 1
    assert done.stderr == (
        "sweep.py: --network cut: no private network: "
        "ethtool -K v0 tx-udp-segmentation off: Cannot set that\n"
    )
