# Copyright 2026 The gr-spead authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""The soak runs, and its account finds uncounted losses."""

import os
import subprocess
import sys
from pathlib import Path

import pytest
from places import BOUND, NEEDS_NAMESPACES
from soak import Account

SOAK = Path(__file__).with_name("soak.py")
PLACES = {
    "entered": 10,
    "arrived": 4,
    "repeated": 1,
    "sender drops": 0,
    "port not ready": 0,
    "cut": 5,
    "lost": 2,
    "queues": 0,
    "full socket": 1,
}


def account(sent=10, received=3, **changes):
    before = dict.fromkeys(PLACES, 100)
    now = {name: 100 + n for name, n in (PLACES | changes).items()}
    return Account(before, now, sent, received)


def test_a_balanced_account_is_exact():
    assert account().is_exact
    assert account(sent=None).is_exact
    # "sender drops" may include packets of other protocols
    assert account(**{"sent": 12, "sender drops": 3}).is_exact
    assert account().unexplained == (0, 0, 0)


@pytest.mark.parametrize(
    "wrong",
    [
        {"sent": 11},  # lost by the sender without a fault
        {"sent": 9},
        {"sent": 13, "sender drops": 2},
        {"arrived": 3, "received": 2},  # lost on the way
        {"received": 2},
        {"received": 4, "sent": 11},  # two errors that cancel in the sum
    ],
)
def test_an_unbalanced_account_is_not_exact(wrong):
    assert not account(**wrong).is_exact


@NEEDS_NAMESPACES
def test_the_soak_passes():
    """Two streams with all four ends, in about 15 s."""
    done = subprocess.run(
        [sys.executable, SOAK, "--minutes", "0", "--seed", "25"],
        env={**os.environ, "PYTHONPATH": os.pathsep.join(map(str, sys.path))},
        timeout=5 * BOUND,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    assert "soak: passed" in done.stdout
    assert done.stdout.count("unexplained at") == 2
