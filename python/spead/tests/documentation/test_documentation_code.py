# Copyright 2026 The gr-spead authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""The code blocks of README.md and the Python blocks of docs/ run.

scripts/docs runs the other blocks, too.
"""

import subprocess
import sys

import pytest
from places import BOUND, ROOT

PROGRAM = ROOT / "scripts" / "documentation_code.py"
# The tutorial takes minutes: it runs in scripts/docs only.
PAGES = [page for page in (ROOT / "docs").rglob("*.md") if page.stem != "tutorial"]


def run(*arguments):
    return subprocess.run(
        [sys.executable, PROGRAM, *arguments],
        capture_output=True,
        text=True,
        timeout=4 * BOUND,
        check=False,
    )


def test_every_page_has_valid_marks():
    assert run("--list").returncode == 0


def test_readme_runs():
    done = run(ROOT / "README.md")
    assert done.returncode == 0, done.stdout


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_python_blocks_run(page):
    done = run("--python", page)
    assert done.returncode == 0, done.stdout


@pytest.mark.parametrize(
    ("block", "error"),
    [
        ("```python\n1 / 0\n```", "ZeroDivisionError"),
        ("```sh\nfalse | true\n```", "exit status 1"),
        ("<!-- nut run: x -->\n\n```sh\ntrue\n```", "unknown mark 'nut run'"),
        ("<!-- not run -->\n\n```sh\nfalse\n```", "without a reason"),
        ("```sh\necho 10.1.2.3\n```", "may be another host"),
        (
            "```sh\necho 1\n```\n\n<!-- output -->\n\n```text\n2\n```",
            "the output was\n1",
        ),
        ("<!-- background -->\n\n```sh\ntrue\n```", "no block follows"),
    ],
)
def test_a_wrong_block_is_reported(block, error, tmp_path):
    page = tmp_path / "page.md"
    page.write_text(f"# Page\n\n{block}\n")
    done = run(page)
    assert done.returncode == 1
    assert error in done.stdout
