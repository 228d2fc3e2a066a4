# Copyright 2026 The gr-spead authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""The version is the one in CMakeLists.txt, wherever it appears."""

import re
from pathlib import Path

from gnuradio import spead
from places import ROOT

(CMAKE,) = re.findall(
    r"^project\(gr-spead VERSION (\S+)", (ROOT / "CMakeLists.txt").read_text(), re.M
)


def newest(path, pattern):
    return re.search(pattern, Path(ROOT / path).read_text(), re.M)[1]


def test_python():
    assert spead.__version__ == CMAKE


def test_changelog():
    assert newest("CHANGELOG.md", r"^## (\d\S+)") == CMAKE


def test_debian_changelog():
    assert newest("debian/changelog", r"^gr-spead \((.+)-\d+\) ") == CMAKE


def test_debian_library_package():
    """Its name has the version, as the shared library has, which is not stable."""
    package = newest("debian/control", r"^Package: (libgnuradio-spead\d.*)")
    assert package == f"libgnuradio-spead{CMAKE}"
