# Copyright 2026 The gr-spead authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Options that are possible, for tests of those that are not."""

from gnuradio import spead

TO = "127.0.0.1:7148"
ITEMS = [spead.timestamp(), spead.samples()]


def x(value, id=0x3101, name="x"):
    return spead.immediate(id, name, value)
