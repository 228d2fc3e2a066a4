# Copyright 2026 The gr-spead authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""instruments/receive_by_position.py, fed by the sender of spead2."""

import pytest
import reference_packets
from common import receiver_program
from dada_files import header
from digitiser_sender import (
    heaps_of_noise,
    sender_to,
    summary_when_interrupted,
)
from instruments import dada, receive_by_position
from instruments.heap_groups import HeapGroups, Positions
from instruments.positional_receiver import Receiver, receive
from places import BOUND, NEEDS_BUFFER
from receiving import bound_socket, destination
from streams import noise

STEP = 4096
FIRST = 526398652416


def packet(**changes):
    """A packet of a digitiser, as bytes."""
    values = {"counter": 2, "timestamp": FIRST, "digitiser_id": 0, "status": 0}
    values.update(changes)
    return reference_packets.Digitiser().data(**values, samples=noise(STEP))


def received(sockets, **options):
    """The summary, and a list of the groups."""
    groups = []
    options.setdefault("timeout", BOUND)
    summary = receive(
        sockets, Positions(), lambda *group: groups.append(group), **options
    )
    return summary, groups


def no_write(timestamp, heaps):
    pass


def groups_of(payloads):
    return [
        (FIRST + index * STEP, [heap.tobytes() for heap in payloads[:, index]])
        for index in range(payloads.shape[1])
    ]


@NEEDS_BUFFER
@pytest.mark.parametrize("packet_bytes", [STEP, 1344])
def test_heaps_of_both_polarisations_are_in_order_of_time(packet_bytes):
    payloads = heaps_of_noise(300)
    with bound_socket() as first, bound_socket() as second:
        sender = sender_to(first, second, heap_bytes=packet_bytes)
        sender.both(payloads, first=FIRST)
        summary, groups = received([first, second], max_heaps=600)
    assert summary == {
        "complete": True,
        "received": [300, 300],
        "missing": [0, 0],
        "rejected": {},
        "late": 0,
        "duplicates": 0,
        "ends": 0,
        "first_timestamp": FIRST,
        "last_timestamp": FIRST + 299 * STEP,
    }
    assert groups == groups_of(payloads)


def test_lost_heaps_are_missing_and_zero(sock):
    payloads = heaps_of_noise(20)
    lost = {(0, 3), (1, 10), (0, 11), (1, 11)}
    sender = sender_to(sock)
    sender.both(payloads, first=FIRST, skip=lost)
    summary, groups = received([sock], timeout=0.1)
    assert (summary["received"], summary["missing"]) == ([18, 18], [2, 2])
    for polarisation, index in lost:
        payloads[polarisation, index] = 0
    assert groups == groups_of(payloads)


@pytest.mark.parametrize(
    ("reason", "heap"),
    [
        ("heap counter 1", {"counter": 1}),
        ("timestamp off the grid", {"timestamp": FIRST + 1}),
        ("timestamp out of reach", {"timestamp": FIRST + (1 << 40)}),
    ],
)
def test_a_wrong_heap_is_rejected_with_the_reason(sock, reason, heap):
    sender = sender_to(sock)
    sender.both(heaps_of_noise(3), first=FIRST)
    sender.data(**{"payload": noise(STEP), "timestamp": FIRST + 3 * STEP, **heap})
    sender.end()
    summary, _ = received([sock])
    assert summary["rejected"] == {reason: 1}
    assert (summary["received"], summary["missing"]) == ([3, 3], [0, 0])


@pytest.mark.parametrize(
    ("reason", "change"),
    [
        ("not SPEAD-64", lambda p: p[:2] + b"\x03" + p[3:]),
        ("more items than bytes", lambda p: p[:6] + b"\xff\xff" + p[8:]),
        ("required items not first", lambda p: p[:8] + p[16:24] + p[8:16] + p[24:]),
        ("payload length", lambda p: p[:-1]),
        ("too few items", lambda p: p[:7] + b"\x05" + p[8:48] + p[72:]),
    ],
)
def test_a_broken_packet_is_rejected_with_the_reason(reason, change):
    receiver = Receiver(Positions(), no_write)
    receiver.add(change(packet()))
    assert receiver.rejected == {reason: 1}


def test_the_header_gives_positions_and_values():
    positions = Positions.from_header(
        header(IDX1_ITEM=2, IDX2_ITEM=0, IDX2_LIST="0x10,0x30", IDX2_MASK="0x30")
    )
    assert positions == Positions(4096, 4096, 2, 0, 0x30, (0x10, 0x30))
    receiver = Receiver(positions, no_write)
    # The timestamp takes the position of the status, and the stream that of the
    # timestamp.
    for timestamp in (0xFF1F, 0x30, 0x20):
        receiver.add(packet(timestamp=timestamp, digitiser_id=9, status=STEP))
    receiver.groups.flush()
    assert receiver.groups.received == [1, 1]
    assert receiver.rejected == {"unknown stream": 1}


def test_heaps_are_put_in_order_within_the_window():
    timestamps = []
    window = HeapGroups(
        Positions(heap_bytes=1, step=1), lambda t, _: timestamps.append(t), window=3
    )
    for timestamp in (11, 10, 13, 12, 14, 9, 20):
        for stream in range(2):
            window.add(timestamp, stream, 0, b"x")
    window.add(20, 0, 0, b"x")
    window.flush()
    assert timestamps == list(range(10, 21))
    assert (window.received, window.missing) == ([6, 6], [5, 5])
    assert (window.late, window.duplicates, window.complete) == (2, 1, 12)


def test_an_end_of_stream_heap_at_any_socket_ends_it(sock):
    sender = sender_to(sock)
    for run in range(2):
        sender.both(heaps_of_noise(3), first=FIRST + 3 * STEP * run)
        sender.end()
    with bound_socket() as other:
        summary, _ = received([sock, other], timeout=None)
    assert (summary["received"], summary["ends"]) == ([3, 3], 1)


def test_ctrl_c_ends_it_with_all_heaps_received(tmp_path):
    summary = summary_when_interrupted("receive_by_position.py", tmp_path)
    assert summary["received"] == [11, 10]


@pytest.mark.parametrize("missing", [0, 1])
def test_a_recording_has_a_default_header(sock, tmp_path, monkeypatch, missing):
    sender = sender_to(sock)
    sender.both(heaps_of_noise(3), first=FIRST, skip={(0, 1)} if missing else ())
    sender.end()
    monkeypatch.setattr(receiver_program, "bound_socket", lambda *_: sock)
    command = [destination(sock), "--dada", str(tmp_path / "r.dada")]
    assert receive_by_position.main(command) == missing
    fields = dada.read_header(tmp_path / "r.dada")
    assert fields.integer("SAMPLE_CLOCK_START") == FIRST
    assert Positions.from_header(fields) == Positions()
    assert (tmp_path / "r.dada").stat().st_size == 4096 + 6 * STEP


def test_a_missing_header_is_an_error_of_one_line():
    with pytest.raises(SystemExit, match=r"^receive_by_position.py: .*'/nowhere'"):
        receive_by_position.main(["127.0.0.1:0", "--header", "/nowhere"])
