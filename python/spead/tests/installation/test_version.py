# Copyright 2026 The gr-spead authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Every file with a version number agrees with CMakeLists.txt."""

import re
from pathlib import Path

from gnuradio import spead
from places import ROOT

(CMAKE_VERSION,) = re.findall(
    r"^project\(gr-spead VERSION (\S+)", (ROOT / "CMakeLists.txt").read_text(), re.M
)


def first_match(path, pattern):
    return re.search(pattern, Path(ROOT / path).read_text(), re.M)[1]


def test_the_python_package_has_the_version():
    assert spead.__version__ == CMAKE_VERSION


def test_the_changelog_has_the_version():
    assert first_match("CHANGELOG.md", r"^## (\d\S+)") == CMAKE_VERSION


def test_the_conda_recipe_has_the_version():
    path = "packaging/conda/recipe.yaml"
    assert first_match(path, r"^  version: (\S+)") == CMAKE_VERSION


def test_the_debian_changelog_has_the_version():
    assert first_match("debian/changelog", r"^gr-spead \((.+)-\d+\) ") == CMAKE_VERSION


def test_the_debian_library_package_has_the_version_in_its_name():
    """The soname has it, too: the ABI is not stable."""
    package = first_match("debian/control", r"^Package: (libgnuradio-spead\d.*)")
    assert package == f"libgnuradio-spead{CMAKE_VERSION}"
