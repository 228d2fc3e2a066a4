# Copyright 2026 The gr-spead authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""scripts/pictures, where it cannot run."""

import os
import subprocess

from places import ROOT


def test_missing_packages_are_named(tmp_path):
    folder = tmp_path / "pictures"
    done = subprocess.run(
        [ROOT / "scripts" / "pictures", folder],
        env=os.environ | {"PATH": str(tmp_path)},
        capture_output=True,
        text=True,
        timeout=120,
    )
    assert done.returncode == 1
    assert "needs Debian packages: apt install gnuradio xvfb" in done.stderr
    assert not folder.exists()
