# Copyright 2026 The gr-spead authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""The documentation site, made of the Markdown pages by scripts/docs.

The pages are plain Markdown for a forge. What only the site needs is added here:

- a toctree for each section of index.md, from its list of links,
- the text of comments that begin with "<!-- site", such as the API.
"""

import inspect
import re
from pathlib import Path

TOP = Path(__file__).resolve().parent.parent

project = "gr-spead"
author = "The gr-spead authors"
project_copyright = f"2026 {author}"
release = re.search(
    r"project\(gr-spead VERSION (\S+)", (TOP / "CMakeLists.txt").read_text()
)[1]

extensions = ["myst_parser", "sphinx.ext.autodoc"]
# The source directory is the top: so the links between README.md and docs/ work.
root_doc = "docs/index"
include_patterns = ["*.md", "docs/**", "examples/*.md"]
exclude_patterns = [".*", "**/.*", "build*", "sweep-results"]
source_suffix = {".md": "markdown"}
myst_heading_anchors = 4

html_theme = "furo"
html_title = f"gr-spead {release}"
html_static_path = ["static"]
html_css_files = ["site.css"]
html_show_sourcelink = True
pygments_style = "friendly"

# A longer signature has one parameter per line.
python_maximum_signature_line_length = 88

linkcheck_timeout = 15  # seconds
linkcheck_retries = 2
# The texts of the API have straight quotes around values.
smartquotes = False
# Types of other libraries in signatures, which have no page here.
nitpick_ignore_regex = [(r"py:(class|obj|data)", r".*")]


def add_toctrees(text):
    """A hidden toctree after each section: its list of links."""
    first, *sections = re.split(r"^(?=## )", text, flags=re.M)
    for section in sections:
        title = re.match("## (.*)", section)[1]
        pages = re.findall(r"^- \[(.*?)\]\((\S+)\.md\)", section, re.M)
        entries = "\n".join(f"{name} <{page}>" for name, page in pages)
        first += (
            f"{section}\n```{{toctree}}\n:hidden:\n:caption: {title}\n\n{entries}\n"
        )
        first += "```\n\n"
    return first


def read_source(app, page, source):
    text = re.sub(r"<!-- site\n(.*?)\n-->", r"\1", source[0], flags=re.S)
    source[0] = add_toctrees(text) if page == root_doc else text


def definition_list(app, what, name, obj, settings, lines):
    """Turn lists "name: text" of the docstrings into definition lists."""
    made = []
    # with types and defaults
    options = inspect.signature(obj).parameters if hasattr(obj, "__signature__") else {}
    for line in lines:
        if group := re.fullmatch(r"([A-Z]\w+):", line):
            made += ["", f".. rubric:: {group[1]}", ""]
        elif entry := re.fullmatch(r"([a-z]\w*): (.*)", line):
            option = str(options.get(entry[1], entry[1]))
            term = re.sub(r"[\w.]+\.(?=Sequence|Fraction|item\b)", "", option)
            made += ["", f"``{term}``", f"    {entry[2]}"]
        else:
            made.append(line)
    lines[:] = made


def setup(app):
    app.connect("source-read", read_source)
    app.connect("autodoc-process-docstring", definition_list)
