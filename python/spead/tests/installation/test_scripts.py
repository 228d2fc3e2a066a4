# Copyright 2026 The gr-spead authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Scripts reject unknown arguments."""

import re
import subprocess

import pytest
from places import BOUND, ROOT


@pytest.mark.parametrize(
    "script",
    [
        *("analyze", "bootstrap", "check_links.py", "demo"),
        *("fuzz", "lint", "package", "sanitize"),
    ],
)
def test_an_unknown_argument_is_rejected(script):
    program = ROOT / "scripts" / script
    done = subprocess.run(
        [program, "--fxi"], capture_output=True, text=True, timeout=BOUND, check=False
    )
    assert done.returncode != 0
    assert done.stdout == ""
    assert re.fullmatch(f"usage: scripts/{script}.*\n", done.stderr)
