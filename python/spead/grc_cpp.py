# Copyright 2026 The gr-spead authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Values in C++ for the templates of the blocks in GNU Radio Companion.

A field is what GRC gives to a template: the text that the user wrote. When it is
called, it gives the value of the text.

Values are written in C++, expressions of variables as they are. Lists and ratios must
not have variables: they would be another thing in C++, or never change.
"""

import json
import re

from gnuradio import spead


def constant(field):
    """The value of a text without variables."""
    try:
        return eval(field, {"spead": spead})
    except NameError as error:
        raise NameError(f"no variables in C++ in {field}") from error


def literal(value):
    """A value in C++."""
    if isinstance(value, (list, tuple)):
        return "{ " + ", ".join(map(literal, value)) + " }"
    if isinstance(value, spead.item):
        members = map(literal, (value.id, value.name, value.description, value.values))
        return f"{{ gr::spead::item_kind::{value.kind}, {', '.join(members)} }}"
    if isinstance(value, int) and value >= 2**63:
        value = float(value)
    # GNU Radio 3.10.12 would translate these, in strings as well
    return re.sub(
        "'|True|False",
        lambda match: f"\\{ord(match[0][0]):03o}{match[0][1:]}",
        json.dumps(value, ensure_ascii=False),
    )


def cpp(field):
    """The value of a field, or its expression of variables."""
    try:
        return literal(constant(field))
    except NameError:
        return field


def optional(field):
    """The value of a field that may be None."""
    return "std::nullopt" if field() is None else cpp(field)


def exact_rate(field):
    """The value of a field that may be None, a number or a ratio."""
    if not field():
        return "std::nullopt"
    if isinstance(field(), tuple):
        return f"gr::spead::exact_rate{literal(constant(field))}"
    return f"gr::spead::exact_rate{{ std::int64_t({cpp(field)}) }}"


def item_list(field):
    """The items of a heap; None where the descriptors tell."""
    if field() is None:
        return "std::nullopt"
    return f"std::vector<gr::spead::item>{literal(constant(field))}"


def endpoint_lists(field):
    """The endpoints of all streams in one text, or a list of them."""
    text = field().strip()
    if text.endswith(("]", ")")):
        return f"std::vector<std::string>{literal(constant(text))}"
    return cpp(field)
