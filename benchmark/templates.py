# Copyright 2026 The gr-spead authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Commands with placeholders, of senders and of receivers."""

import shlex


def words(template, placeholders):
    """Those of a command; ValueError names a placeholder that there is not."""
    found = tuple(shlex.split(template))
    try:
        for word in found:
            word.format_map(dict.fromkeys(placeholders, 0))
    except (KeyError, ValueError, IndexError, AttributeError) as error:
        known = ", ".join("{" + name + "}" for name in placeholders)
        raise ValueError(f"{template!r}: {error}; there are {known}") from None
    return found
