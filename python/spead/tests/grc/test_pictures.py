# Copyright 2026 The gr-spead authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""scripts/pictures without the packages that it needs."""

import os
import subprocess

from places import ROOT


def test_missing_packages_are_listed(tmp_path):
    folder = tmp_path / "pictures"
    done = subprocess.run(
        [ROOT / "scripts" / "pictures", folder],
        env=os.environ | {"PATH": str(tmp_path)},
        capture_output=True,
        text=True,
        timeout=120,
    )
    assert done.returncode == 1
    # Other packages may be missing as well.
    missing = done.stderr.partition("needs Debian packages: apt install ")[2].split()
    assert {"gnuradio", "xvfb"} <= set(missing)
    assert not folder.exists()
