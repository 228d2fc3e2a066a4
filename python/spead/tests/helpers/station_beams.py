# Copyright 2026 The gr-spead authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Packets of an SKA-Low station beam."""

import struct

TIMES = 2048
CHANNEL, BEAM = 0x0123_0001, 0x0045_0002


def station_beam_packet(counter, pairs, channel=CHANNEL, is_immediate=False):
    """A packet of the station beam, written field by field.

    pairs: int8 of shape (times, 2 polarisations, 2)
    is_immediate: the mode of the last item, which simulators set
    """
    items = [
        (1, 0x0001, counter),
        (1, 0x0004, pairs.nbytes),
        (1, 0x3010, 7),
        (1, 0x3000, channel),
        (1, 0x3001, BEAM),
        (is_immediate, 0x3300, 0),
    ]
    header = struct.pack(">BBBBHH", 0x53, 4, 2, 6, 0, len(items))
    for immediate, id, value in items:
        header += struct.pack(">Q", immediate << 63 | id << 48 | value)
    return header + pairs.tobytes()
