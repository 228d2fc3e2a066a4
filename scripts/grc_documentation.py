#!/usr/bin/env python3
# Copyright 2026 The gr-spead authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Checks that GRC shows the documentation of the C++ headers; with --fix, copies it."""

import re
import sys
import textwrap
from pathlib import Path

TOP = Path(__file__).resolve().parent.parent
# names in Python, where GRC has one of its own
IN_PYTHON = {"sender_affinity": "affinity"}

# Block -> an example of its use.
EXAMPLES = {
    "sink": """\
Example: connect a Signal Source of type Float to a Throttle and to this block, with
Input type "Float" and Destinations "127.0.0.1:7148". Before it starts, run in a
terminal "receive.py 7148 --spectrogram received.png". When the flow graph stops, it
draws what it received. It needs spead2, and is one of the examples of gr-spead, in the
folder share/gnuradio/examples/spead of the installation. So are the flow graphs
spead_noise.grc and spead_dashboard.grc, which has a window with sliders and figures.

Receivers of your own can use spead2: https://spead2.readthedocs.io
""",
    "source": """\
Example: connect this block, with Output type "Float" and Endpoints "127.0.0.1:7148",
to a QT GUI Time Sink of type Float. Start the flow graph, and then a sender to this
endpoint: another flow graph with a SPEAD Sink. The flow graph spead_loopback.grc has
both blocks. It is one of the examples of gr-spead, in the folder
share/gnuradio/examples/spead of the installation.

Senders of your own can use spead2: https://spead2.readthedocs.io
""",
}

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


def paragraphs(name, description):
    """About a block, an example, then each tab and its parameters. YAML folds lines.

    An empty line ends a line in the window, two empty lines a paragraph.
    """
    include = TOP / "include" / "gnuradio" / "spead"
    header = (include / f"{name}.h").read_text()
    _, texts = params(block_comment(header, "static sptr make("))
    for options in option_groups((include / f"{name}_options.h").read_text()).values():
        texts |= options
    about = plain(block_comment(header, f"class SPEAD_API {name} "))
    what, how, *rest = about.split("\n\n")
    for text in [what, how, *EXAMPLES[name].split("\n\n"), *rest]:
        yield filled(text)
    tab = None
    field = r"^-   id: (\w+)\n    label: (.+)(?:\n    category: (.+))?"
    for key, label, category in re.findall(field, description, re.M):
        if (category or "General") != tab and key != "check":
            tab = category or "General"
            yield f"    --- {tab} ---"
        if text := texts.get(IN_PYTHON.get(key, key)):
            yield f"    {label}:\n\n{filled(text)}"


def main():
    for name in EXAMPLES:
        path = TOP / "grc" / f"spead_{name}.block.yml"
        description = path.read_text()
        documentation = "\n\n\n".join(paragraphs(name, description))
        head, _ = description.split("documentation: >-\n")
        new = f"{head}documentation: >-\n{documentation}\n\nfile_format: 1\n"
        if "--fix" in sys.argv[1:]:
            path.write_text(new)
        elif new != description:
            sys.exit(
                f"{path}: not the documentation of the headers; scripts/lint --fix"
            )


if __name__ == "__main__":
    main()
