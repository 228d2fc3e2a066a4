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

EXAMPLE = """\
Example: connect a Signal Source of type Float to a Throttle and to this block, with
Input type "Float" and Destinations "127.0.0.1:7148". Before it starts, run in a
terminal "receive.py 7148 --spectrogram received.png". When the flow graph stops, it
draws what it received. It needs spead2, and is one of the examples of gr-spead, in the
folder share/gnuradio/examples/spead of the installation. So are the flow graphs
spead_noise.grc and spead_dashboard.grc, which has a window with sliders and figures.

Receivers of your own can use spead2: https://spead2.readthedocs.io
"""

sys.path.insert(0, str(TOP / "python" / "spead"))
from docstrings import block_comment, option_groups, params, plain  # noqa: E402


def filled(text):
    return textwrap.fill(
        text,
        width=84,
        initial_indent="    ",
        subsequent_indent="    ",
        break_on_hyphens=False,
    )


def paragraphs(block):
    """About the sink, an example, then each tab and its parameters. YAML folds lines.

    An empty line ends a line in the window, two empty lines a paragraph.
    """
    include = TOP / "include" / "gnuradio" / "spead"
    header = (include / "sink.h").read_text()
    _, texts = params(block_comment(header, "static sptr make("))
    for options in option_groups((include / "sink_options.h").read_text()).values():
        texts |= options
    about = plain(block_comment(header, "class SPEAD_API sink "))
    what, how, *rest = about.split("\n\n")
    for text in [what, how, *EXAMPLE.split("\n\n"), *rest]:
        yield filled(text)
    tab = None
    field = r"^-   id: (\w+)\n    label: (.+)(?:\n    category: (.+))?"
    for name, label, category in re.findall(field, block, re.M):
        if (category or "General") != tab and name != "check":
            tab = category or "General"
            yield f"    --- {tab} ---"
        if text := texts.get(IN_PYTHON.get(name, name)):
            yield f"    {label}:\n\n{filled(text)}"


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
