# Copyright 2026 The gr-spead authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""The reference packets, with which tests compare streams, are right."""

import reference_packets
from streams import noise


def test_a_packet_of_a_digitiser_is_right_byte_by_byte():
    """The example of the standard's fields, with packed samples of 10 bits."""
    payload = noise(5120)
    packet = reference_packets.Digitiser().data(1, 0x123456789ABC, 1, 0, payload)
    assert (
        packet
        == bytes.fromhex(
            "5304020600000008"  # SPEAD 4, items of 2 and 6 bytes, 8 of them
            "8001000000000001"  # heap counter
            "8002000000001400"  # length of the heap
            "8003000000000000"  # offset in the heap
            "8004000000001400"  # length of the payload
            "9600123456789abc"  # 0x1600, timestamp
            "b101000000000001"  # 0x3101, digitiser ID
            "b102000000000000"  # 0x3102, status
            "3300000000000000"  # 0x3300, samples, from offset 0
        )
        + payload.tobytes()
    )


def test_the_end_of_a_stream_is_right_byte_by_byte():
    assert reference_packets.Digitiser().end(3) == bytes.fromhex(
        "5304020600000006 8001000000000003 8002000000000001 8003000000000000"
        "8004000000000001 8006000000000002 0000000000000000 00"
    )
