# Copyright 2026 The gr-spead authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Prints the build targets of tests, from the JSON of ctest on standard input."""

import json
import sys

labels = set()
for test in json.load(sys.stdin)["tests"]:
    for entry in test["properties"]:
        if entry["name"] == "LABELS":
            labels.update(entry["value"])
print("\n".join(sorted(labels - {"cxx"})))
