# Copyright 2026 The gr-spead authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Scripts reject unknown arguments."""

import subprocess

import pytest
from places import BOUND, ROOT


@pytest.mark.parametrize(
    ("script", "usage"),
    [
        ("analyze", ""),
        ("bootstrap", "[--run]"),
        ("check_links.py", "SITE, a folder of HTML pages"),
        ("demo", ""),
        (
            "fuzz",
            "[SECONDS [TARGET]], TARGET one of "
            "endpoint frame_dissector packer packet_parser receive sender "
            "timestamp_aligner",
        ),
        ("lint", "[--fix]"),
        ("package", ""),
        ("sanitize", ""),
    ],
)
def test_an_unknown_argument_is_rejected(script, usage):
    program = ROOT / "scripts" / script
    done = subprocess.run(
        [program, "--fxi"], capture_output=True, text=True, timeout=BOUND, check=False
    )
    assert done.returncode != 0
    assert done.stdout == ""
    line = f"usage: scripts/{script} {usage}".strip()
    assert done.stderr == f"{line}\n"
