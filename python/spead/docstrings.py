# Copyright 2026 The gr-spead authors
#
# SPDX-License-Identifier: GPL-3.0-or-later
"""docstrings.py INCLUDE_DIR OUTPUT: Python's docstrings out of the C++ headers.

One text serves both languages: the comments of the headers.
"""

import re
import sys
import textwrap
from pathlib import Path

from signatures import block_headers, methods, signatures


def plain(comment):
    """The text of a comment, without its marks and its Doxygen commands."""
    text = re.sub(r"^\s*(\*|//!<?) ?", "", comment, flags=re.M)
    text = re.sub(r"\\(ingroup \w+|brief|details|\{) ?", "", text)
    return re.sub(r"\n{3,}", "\n\n", text).strip()


def one_line(comment):
    return " ".join(plain(comment).split())


def option_groups(header):
    """Name -> its options, for each group of a struct of options, in order.

    The options are name -> text.
    """
    body = re.search(r"struct SPEAD_API \w+_options \{(.*?)\n\};", header, re.S)[1]
    _, *groups = re.split(r" *//! \\name (\w+)\n", body)
    field = r"((?: *//!.*\n)+) *[\w:<>, ]+ (\w+) = "
    return {
        group: {name: one_line(text) for text, name in re.findall(field, members)}
        for group, members in zip(groups[::2], groups[1::2], strict=True)
    }


def stats(header):
    """Name -> text of each figure, in order."""
    field = r" (\w+)(?:\{\}| = \w+)?; *//!< (.*)"
    return {name: text.strip() for name, text in re.findall(field, header)}


def block_comment(header, declaration):
    """The comment in front of a declaration."""
    end = header.index(declaration)
    return header[header.rindex("/*!", 0, end) + 3 : header.rindex("*/", 0, end)]


def method_comment(header, name):
    """The comment before a method, or before its first overload, or after it."""
    method = rf"((?: *//!.*\n)*) *virtual [\w:<>]+\s+{name}\([^;]*;(?: *//!< (.*))?"
    before, after = re.search(method, header).groups()
    return one_line(before) or after


def params(comment):
    """Summary, and name -> text of each param of a comment."""
    summary, *rest = re.split(r"\\param ", plain(comment))
    return summary.strip(), {
        name: " ".join(text.split()) for name, text in (p.split(" ", 1) for p in rest)
    }


def parameter_list(parameters):
    return "\n".join(
        textwrap.fill(
            f"{name}: {text}",
            width=80,
            subsequent_indent="    ",
            break_on_hyphens=False,
        )
        for name, text in parameters.items()
    )


def parameter_groups(header, option_header):
    """Name -> its parameters, name -> text, for each group of a block."""
    _, endpoints = params(block_comment(header, "static sptr make("))
    endpoints.pop("options")
    groups = option_groups(option_header)
    groups["General"] = {**endpoints, **groups["General"]}
    return groups


def block_docs(header, option_header, stats_header):
    """Docstrings of a block, of its stats, and of each figure."""
    groups = parameter_groups(header, option_header)
    figures = stats(stats_header)
    block = [
        plain(block_comment(header, "class SPEAD_API ")),
        "Parameters:",
        *(f"{group}:\n\n{parameter_list(texts)}" for group, texts in groups.items()),
    ]
    counters = [
        method_comment(header, "stats"),
        plain(block_comment(stats_header, "struct SPEAD_API ")),
        parameter_list(figures),
    ]
    return "\n\n".join(block), "\n\n".join(counters), figures


def label(name):
    """The label of a parameter in GRC, without its unit."""
    words = {"destinations": "to", "endpoints": "listen", "id": "ID", "ttl": "TTL"}
    text = " ".join(words.get(word, word) for word in name.split("_"))
    return text[0].upper() + text[1:]


def docstrings(include):
    """Name -> docstring of everything that the Python package exports."""
    items = (include / "item.h").read_text()
    docs = {"item": plain(block_comment(items, "struct item {"))}
    for name in ("timestamp", "samples", "immediate"):
        summary, parameters = params(block_comment(items, f"{name}(std::int64_t id"))
        docs[name] = f"{summary}\n\n{parameter_list(parameters)}"
    for block in ("sink", "source"):
        header, *others = block_headers(include, block)
        for name in methods(header):
            docs[f"{block}.{name}"] = method_comment(header, name)
        docs[block], docs[f"{block}.stats"], figures = block_docs(header, *others)
        docs.update({f"{block}.{name}": text for name, text in figures.items()})
    return docs


def bound_texts(include):
    """Name -> text of everything that the bindings need.

    The docstring of a function begins with a signature without types, which CPython
    takes out, for inspect.signature(); one with types follows.
    """
    texts = docstrings(include)
    for name, signature in signatures(include).items():
        block, _, function = name.rpartition(".")
        if name in ("sink", "source"):
            for option in signature.parameters:
                texts[f"{name}.{option.name}.type"] = option.type
        else:
            untyped = ["self"] if block else []
            untyped += [parameter.untyped() for parameter in signature.parameters]
            first = f"{function}({', '.join(untyped)})\n--\n\n"
            texts[name] = f"{first}{function}{signature}\n\n{texts[name]}"
    for block in ("sink", "source"):
        header, option_header, _ = block_headers(include, block)
        for group, parameters in parameter_groups(header, option_header).items():
            texts.update({f"{block}.{name}.group": group for name in parameters})
            texts.update({f"{block}.{name}.label": label(name) for name in parameters})
    return texts


def main():
    include, output = map(Path, sys.argv[1:])
    lines = [
        "// generated from the C++ headers by docstrings.py",
        "const std::map<std::string, const char*> docstrings{",
    ]
    for name, text in bound_texts(include).items():
        lines.append(f'{{"{name}", R"doc({text})doc"}},')
    lines.append("};\n")
    output.write_text("\n".join(lines))


if __name__ == "__main__":
    main()
