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
    # on some machines others are missing, too
    needed = done.stderr.partition("needs Debian packages: apt install ")[2].split()
    assert {"gnuradio", "xvfb"} <= set(needed)
    assert not folder.exists()
