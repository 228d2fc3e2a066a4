# Copyright 2026 The gr-spead authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""The documentation of the blocks in GRC, from the C++ headers."""

import re
import sys
import textwrap
from pathlib import Path

TOP = Path(__file__).resolve().parent.parent
# GRC parameters whose option has another name: GRC reserves "affinity".
OPTION_NAMES = {"sender_affinity": "affinity"}

# A usage example per block.
EXAMPLES = {
    "sink": """\
Example: connect a Signal Source to a Throttle and to this block. Before the flow graph
starts, run in a terminal "spead2_receiver.py 7148 --spectrogram received.png". When the
flow graph stops, it draws what it received. It needs spead2, and is one of the examples
of gr-spead, in the folder share/gnuradio/examples/spead of the installation. So are the
flow graphs spead_noise.grc and spead_dashboard.grc, which has a window with sliders and
figures.

Receivers of your own can use spead2: https://spead2.readthedocs.io
""",
    "source": """\
Example: connect this block to a QT GUI Time Sink. Start the flow graph, and then a
sender to its endpoint, 127.0.0.1:7148: another flow graph with a SPEAD UDP Sink. The
flow graph spead_loopback.grc has both blocks. It is one of the examples of gr-spead, in
the folder share/gnuradio/examples/spead of the installation.

Senders of your own can use spead2: https://spead2.readthedocs.io
""",
}

sys.path.insert(0, str(TOP / "python" / "spead"))
from docstrings import block_comment, option_groups, params, plain  # noqa: E402


def wrap(text):
    return textwrap.fill(
        text,
        width=84,
        initial_indent="    ",
        subsequent_indent="    ",
        break_on_hyphens=False,
    )


def documentation(name, block):
    """The documentation of a block, as YAML that folds lines.

    An empty line becomes a line break, two become an empty line.
    """
    return "documentation: >-\n" + "\n\n\n".join(_paragraphs(name, block)) + "\n\n"


def _paragraphs(name, description):
    """The description of a block, an example, then each tab and its parameters."""
    include = TOP / "include" / "gnuradio" / "spead"
    header = (include / f"{name}.h").read_text()
    _, texts = params(block_comment(header, "static sptr make("))
    for options in option_groups((include / f"{name}_options.h").read_text()).values():
        texts |= options
    class_text = plain(block_comment(header, f"class SPEAD_API {name} "))
    summary, usage, *details = class_text.split("\n\n")
    # the API for programs
    details = [
        text for text in details if not re.match(r"The constructor|stats\(", text)
    ]
    for text in [summary, usage, *EXAMPLES[name].split("\n\n"), *details]:
        yield wrap(text)
    tab = None
    field = r"^-   id: (\w+)\n(?:    #.*\n)*    label: (.+)(?:\n    category: (.+))?"
    for key, label, category in re.findall(field, description, re.M):
        if (category or "General") != tab and key != "check":
            tab = category or "General"
            yield f"    --- {tab} ---"
        if text := texts.get(OPTION_NAMES.get(key, key)):
            yield f"    {label}:\n\n{wrap(text)}"
