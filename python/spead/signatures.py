# Copyright 2026 The gr-spead authors
#
# SPDX-License-Identifier: GPL-3.0-or-later
"""Python signatures of the functions, options and counters of the C++ headers."""

import re
from typing import NamedTuple

# What Python accepts for a parameter of a C++ type: also one value for all streams
# instead of a list, and a float for a rate, if it is whole.
PARAMETER_TYPES = {
    "bool": "bool",
    "double": "float",
    "std::int64_t": "int",
    "std::string": "str",
    "std::vector<std::int64_t>": "int | Sequence[int]",
    "std::vector<std::string>": "str | Sequence[str]",
    "std::vector<item>": "Sequence[item]",
    "exact_rate": "int | float | tuple[int, int] | Fraction",
    "std::variant<std::string, std::int64_t>": "str | int",
}
RESULT_TYPES = {
    "void": "None",
    "bool": "bool",
    "double": "float",
    "number": "int",  # a counter
    "std::size_t": "int",
    "std::uint64_t": "int",
    "std::string": "str",
    "std::vector<int>": "list[int]",
    "std::vector<std::string>": "list[str]",
    "std::map<std::string, std::uint64_t>": "dict[str, int]",
    "item": "item",
    "sink_stats": "dict",
    "source_stats": "dict",
}
COUNTER_TYPES = ("int", "float", "bool")  # each is also a method
DEFAULTS = {
    "true": "True",
    "false": "False",
    "std::nullopt": "None",
    "{}": "[]",
    "default_items()": "...",  # no literal
}
OPTION = r"((?: *//!.*\n)+) *([\w:<>, ]+) (\w+) = (.+);"


class Parameter(NamedTuple):
    name: str
    type: str
    default: str = ""  # none

    def __str__(self):
        typed = f"{self.name}: {self.type}"
        return f"{typed} = {self.default}" if self.default else typed

    def untyped(self):
        return f"{self.name}={self.default}" if self.default else self.name


class Signature(NamedTuple):
    parameters: list
    result: str

    def __str__(self):
        return f"({', '.join(map(str, self.parameters))}) -> {self.result}"


def python_type(types, cpp_type):
    if optional := re.fullmatch("std::optional<(.*)>", cpp_type):
        return f"{python_type(types, optional[1])} | None"
    if cpp_type not in types:
        raise SystemExit(f"signatures.py: no Python type for {cpp_type}")
    return types[cpp_type]


def make_parameter(cpp_type, name, default=""):
    return Parameter(
        name,
        python_type(PARAMETER_TYPES, cpp_type),
        DEFAULTS.get(default, default),
    )


def block_headers(include, block):
    """The headers of a block, of its options and of its stats."""
    names = f"{block}.h", f"{block}_options.h", f"{block}_stats.h"
    return [(include / name).read_text() for name in names]


def methods(header):
    """The names of the methods of a block, in order."""
    return dict.fromkeys(re.findall(r"^ +virtual [\w:<>]+\s+(\w+)\(", header, re.M))


def function_signature(header, name):
    """That of a function; parameters of overloads have either type."""
    declaration = rf"^ *(?:virtual|SPEAD_API) ([\w:<>]+)\s+{name}\(([^;]*)\)[ \w=]*;"
    parameter = r"([\w:]+(?:<[\w:<>, ]+>)?)&?\s+(\w+)(?: = (\"[^\"]*\"|[^,]+))?(?:,|$)"
    found = re.findall(declaration, header, re.M)
    overloads = [
        [make_parameter(*groups) for groups in re.findall(parameter, text)]
        for _, text in found
    ]
    merged = []
    for variants in zip(*overloads, strict=True):
        types = dict.fromkeys(variant.type for variant in variants)
        merged.append(variants[0]._replace(type=" | ".join(types)))
    return Signature(merged, python_type(RESULT_TYPES, found[0][0]))


def constructor_signature(header, option_header):
    """That of a block in Python: the endpoints and the options."""
    endpoints = re.search(r"static sptr make\(const ([\w:<>]+)& (\w+)", header)
    options = [
        make_parameter(cpp_type, name, default)
        for _, cpp_type, name, default in re.findall(OPTION, option_header)
    ]
    return Signature([make_parameter(*endpoints.groups()), *options], "None")


def figure_types(stats_header):
    """Name -> type of each figure of stats(), in order."""
    field = r"^ *([\w:]+(?:<.+>)?)\s+(\w+)(?:\{\}| = \w+)?; *//!<"
    return {
        name: python_type(RESULT_TYPES, cpp_type)
        for cpp_type, name in re.findall(field, stats_header, re.M)
    }


def signatures(include):
    """Name -> signature of everything in the Python package that can be called."""
    items = (include / "item.h").read_text()
    found = {
        name: function_signature(items, name)
        for name in ("timestamp", "samples", "immediate")
    }
    for block in ("sink", "source"):
        header, option_header, stats_header = block_headers(include, block)
        found[block] = constructor_signature(header, option_header)
        for name in methods(header):
            found[f"{block}.{name}"] = function_signature(header, name)
        for name, figure_type in figure_types(stats_header).items():
            if figure_type in COUNTER_TYPES:
                found[f"{block}.{name}"] = Signature([], figure_type)
    return found
