# Copyright 2026 The gr-spead authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""The packets that the streams of instruments are compared with are right."""

import numpy as np
import reference_packets
from conftest import noise


def test_a_packet_of_a_digitiser_byte_by_byte():
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


def test_the_end_of_a_stream_byte_by_byte():
    assert reference_packets.Digitiser().end(3) == bytes.fromhex(
        "5304020600000006 8001000000000003 8002000000000001 8003000000000000"
        "8004000000000001 8006000000000002 0000000000000000 00"
    )


def test_descriptors_are_in_a_heap_of_their_own():
    (packet,) = reference_packets.Digitiser().descriptors(1)
    assert packet[:16].hex() == "5304020600000008" + "8001000000000001"
    assert packet[40:72].hex()[::16] == "0" * 4  # four times 0x05, addressed
    assert all(packet[at : at + 2] == b"\x00\x05" for at in range(40, 72, 8))


def test_the_stream_of_a_digitiser_goes_round_its_groups():
    payloads = noise(2 * 10 * 4096).reshape(2, 10, 4096)
    sent = list(reference_packets.meerkat(payloads, timestamp=8192, ids=(6, 7)))
    assert [heap.polarisation for heap in sent] == [0, 1] * 10
    assert [heap.endpoint for heap in sent[::2]] == [0, 1, 2, 3, 4, 5, 6, 7, 0, 1]
    assert [heap.endpoint for heap in sent[1::2]] == [0, 1, 2, 3, 4, 5, 6, 7, 0, 1]
    words = np.array([np.frombuffer(heap.packet[:72], ">u8") for heap in sent])
    values = words & (1 << 48) - 1
    assert values[:, 1].tolist() == list(range(2, 42, 2))
    assert values[:, 5].tolist() == [8192 + 4096 * (n // 2) for n in range(20)]
    assert values[:, 6].tolist() == [6, 7] * 10
    assert sent[3].packet[72:] == payloads[1, 1].tobytes()
