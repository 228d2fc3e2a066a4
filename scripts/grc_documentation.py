#!/usr/bin/env python3
# Copyright 2026 The gr-spead authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Checks that GRC shows the documentation of the C++ headers; with --fix, copies it."""

import re
import sys
import textwrap
from pathlib import Path

TOP = Path(__file__).resolve().parent.parent
BLOCK = TOP / "grc" / "spead_sink.block.yml"
# names in Python, where GRC has one of its own
IN_PYTHON = {"sender_affinity": "affinity"}

sys.path.insert(0, str(TOP / "python" / "spead"))
from docstrings import block_comment, options, params, plain  # noqa: E402


def filled(text):
    return textwrap.fill(
        text,
        width=84,
        initial_indent="    ",
        subsequent_indent="    ",
        break_on_hyphens=False,
    )


def paragraphs(block):
    """About the sink, then each parameter: label, name, text. YAML folds lines.

    An empty line ends a line in the window, two empty lines a paragraph.
    """
    include = TOP / "include" / "gnuradio" / "spead"
    header = (include / "sink.h").read_text()
    _, texts = params(block_comment(header, "static sptr make("))
    texts |= options((include / "sink_options.h").read_text())
    about = plain(block_comment(header, "class SPEAD_API sink "))
    yield from map(filled, about.split("\n\n"))
    for name, label in re.findall(r"^-   id: (\w+)\n    label: (.+)", block, re.M):
        if text := texts.get(IN_PYTHON.get(name, name)):
            yield f"    {label} [{name}]:\n\n{filled(text)}"


def main():
    block = BLOCK.read_text()
    documentation = "\n\n\n".join(paragraphs(block))
    head, _ = block.split("documentation: >-\n")
    new = f"{head}documentation: >-\n{documentation}\n\nfile_format: 1\n"
    if "--fix" in sys.argv[1:]:
        BLOCK.write_text(new)
    elif new != block:
        sys.exit(f"{BLOCK}: not the documentation of the headers; scripts/lint --fix")


if __name__ == "__main__":
    main()
