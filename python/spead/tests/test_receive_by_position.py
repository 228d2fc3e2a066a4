# Copyright 2026 The gr-spead authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""The receiver that finds items by their position, fed by spead2's own sender."""

import json
import subprocess
import sys

import numpy as np
import pytest
import reference_packets
from common import receiver_program
from conftest import BOUND, EXAMPLES, bound_socket, destination, noise
from digitiser_sender import (
    heaps_of_noise,
    sender_to,
    summary_when_interrupted,
)
from instruments import dada, receive_by_position
from instruments.heap_groups import HeapGroups, Positions
from instruments.positional_receiver import Receiver, receive
from test_dada import header, record

STEP = 4096
FIRST = 526398652416


def packet(**changes):
    """A packet of a digitiser, as bytes."""
    values = {"counter": 2, "timestamp": FIRST, "digitiser_id": 0, "status": 0}
    values.update(changes)
    return reference_packets.Digitiser().data(**values, samples=noise(STEP))


class Groups(list):
    """Collects what is handed on."""

    def write(self, timestamp, heaps):
        self.append((timestamp, heaps))


def received(sockets, **options):
    groups = Groups()
    options.setdefault("timeout", BOUND)
    return receive(sockets, Positions(), groups.write, **options), groups


def test_every_heap_of_both_polarisations_in_order_of_time():
    payloads = heaps_of_noise(300)
    with bound_socket() as first, bound_socket() as second:
        sender_to(first, second).both(payloads, first=FIRST)
        summary, groups = received([first, second], max_heaps=600)
    assert summary == {
        "complete": True,
        "received": [300, 300],
        "missing": [0, 0],
        "rejected": {},
        "late": 0,
        "twice": 0,
        "ends": 0,
        "first_timestamp": FIRST,
        "last_timestamp": FIRST + 299 * STEP,
    }
    assert [timestamp for timestamp, _ in groups] == [
        FIRST + index * STEP for index in range(300)
    ]
    got = np.array([[np.frombuffer(h, np.uint8) for h in heaps] for _, heaps in groups])
    np.testing.assert_array_equal(got.transpose(1, 0, 2), payloads)


def test_lost_heaps_are_missing_and_zero(sock):
    payloads = heaps_of_noise(20)
    lost = {(0, 3), (1, 10), (0, 11), (1, 11)}
    sender = sender_to(sock)
    sender.both(payloads, first=FIRST, skip=lost)
    sender.end()
    summary, groups = received([sock])
    assert not summary["complete"]
    assert (summary["received"], summary["missing"]) == ([18, 18], [2, 2])
    for polarisation, index in lost:
        assert groups[index][1][polarisation] == bytes(STEP)


def test_heaps_in_several_packets(sock):
    payloads = heaps_of_noise(4)
    sender = sender_to(sock, heap_bytes=1344)
    sender.both(payloads, first=FIRST)
    sender.end()
    summary, groups = received([sock])
    assert summary["complete"]
    assert groups[2][1][1] == payloads[1, 2].tobytes()


def test_heap_counter_1_is_ignored(sock):
    sender = sender_to(sock)
    sender.both(heaps_of_noise(2), first=FIRST)
    sender.data(noise(STEP), timestamp=FIRST + 2 * STEP, counter=1)
    sender.end()
    summary, groups = received([sock])
    assert summary["rejected"] == {"heap counter 1": 1}
    assert len(groups) == 2


@pytest.mark.parametrize(
    ("reason", "payload", "immediates"),
    [
        ("heap length", STEP - 8, {}),
        ("timestamp off the grid", STEP, {"timestamp": FIRST + 1}),
        ("timestamp out of reach", STEP, {"timestamp": FIRST + (1 << 40)}),
    ],
)
def test_a_wrong_heap_is_rejected_with_the_reason(sock, reason, payload, immediates):
    sender = sender_to(sock)
    sender.both(heaps_of_noise(3), first=FIRST)
    sender.data(noise(payload), **{"timestamp": FIRST + 3 * STEP, **immediates})
    sender.end()
    summary, _ = received([sock])
    assert summary["rejected"] == {reason: 1}
    assert (summary["received"], summary["missing"]) == ([3, 3], [0, 0])


@pytest.mark.parametrize(
    ("reason", "change"),
    [
        ("not SPEAD 4", lambda p: b"\x54" + p[1:]),
        ("not SPEAD 4", lambda p: p[:7]),
        ("not SPEAD-64", lambda p: p[:2] + b"\x03" + p[3:]),
        ("more items than bytes", lambda p: p[:6] + b"\xff\xff" + p[8:]),
        ("required items not first", lambda p: p[:8] + p[16:24] + p[8:16] + p[24:]),
        ("required items not first", lambda p: p[:8] + b"\0" + p[9:]),
        ("payload length", lambda p: p[:-1]),
        ("payload length", lambda p: p + b"\0"),
        ("payload offset", lambda p: p[:31] + b"\x08" + p[32:]),
        ("too few items", lambda p: p[:7] + b"\x05" + p[8:48] + p[72:]),
    ],
)
def test_a_broken_packet_is_rejected_with_the_reason(reason, change):
    receiver = Receiver(Positions(), Groups().write)
    receiver.add(change(packet()))
    assert receiver.rejected == {reason: 1}


def test_positions_and_values_are_those_of_the_header():
    positions = Positions.from_header(
        header(IDX1_ITEM=2, IDX2_ITEM=0, IDX2_LIST="0x10,0x30", IDX2_MASK="0x30")
    )
    assert positions == Positions(4096, 4096, 2, 0, 0x30, (0x10, 0x30))
    receiver = Receiver(positions, Groups().write)
    # the status stands third, the timestamp first
    for timestamp in (0xFF1F, 0x30, 0x20):
        receiver.add(packet(timestamp=timestamp, digitiser_id=9, status=STEP))
    receiver.groups.flush()
    assert receiver.groups.received == [1, 1]
    assert receiver.rejected == {"unknown stream": 1}


def test_without_a_header_of_its_own_kind_the_positions_are_the_digitisers():
    assert Positions.from_header(dada.Header({})) == Positions()


def test_heaps_are_put_in_order_as_far_as_the_window_goes():
    groups = Groups()
    window = HeapGroups(Positions(heap_bytes=1, step=1), groups.write, window=3)
    for timestamp in (11, 10, 13, 12, 14, 9, 20):
        for stream in range(2):
            window.add(timestamp, stream, 0, b"x")
    window.flush()
    assert [timestamp for timestamp, _ in groups] == list(range(10, 21))
    assert (window.received, window.missing) == ([6, 6], [5, 5])
    assert window.late == 2
    assert window.complete == 12


def test_packets_that_come_twice():
    window = HeapGroups(Positions(heap_bytes=2, step=1), Groups().write)
    for offset in (0, 0, 1):
        window.add(0, 0, offset, b"x")
    window.flush()
    assert (window.twice, window.received) == (1, [1, 0])


def test_it_ends_without_an_end_of_stream(sock):
    sender_to(sock).both(heaps_of_noise(3), first=FIRST)
    assert received([sock], timeout=0.1)[0]["complete"]


def test_it_ends_after_a_number_of_heaps(sock):
    sender_to(sock).both(heaps_of_noise(3), first=FIRST)
    assert received([sock], max_heaps=6, timeout=None)[0]["received"] == [3, 3]


def test_an_end_of_stream_ends_it_for_good(sock):
    """With one at any of the sockets; what is sent later is lost."""
    sender = sender_to(sock)
    for run in range(2):
        sender.both(heaps_of_noise(3), first=FIRST + 3 * STEP * run)
        sender.end()
        sender.end()
    with bound_socket() as other:
        summary, _ = received([sock, other], timeout=None)
    assert (summary["received"], summary["ends"]) == ([3, 3], 1)


def test_ctrl_c_ends_it_with_all_that_has_come(tmp_path):
    summary = summary_when_interrupted("receive_by_position.py", tmp_path)
    assert summary["received"] == [11, 10]


def test_a_recording_is_received_as_it_was(tmp_path):
    """From one DADA file to another, over two sockets."""
    samples = noise(8 * STEP)
    path, copy, prefix = tmp_path / "r.dada", tmp_path / "copy.dada", tmp_path / "pol"
    recording = record(path, samples)
    summary = tmp_path / "summary.json"
    command = [
        sys.executable,
        EXAMPLES / "instruments" / "receive_by_position.py",
        "--header",
        path,
    ]
    command += ["127.0.0.1:0", "127.0.0.1:0", "--dada", copy, "--save", prefix]
    command += ["--max-heaps", "8", "--json", summary]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        try:
            lines = [process.stdout.readline() for _ in range(2)]
            ports = [int(line.rpartition(":")[2]) for line in lines]
            with bound_socket() as sock:
                for heap in reference_packets.effelsberg(recording):
                    sock.sendto(heap.packet, ("127.0.0.1", ports[heap.polarisation]))
            output, _ = process.communicate(timeout=BOUND)
        finally:
            process.kill()
    assert process.returncode == 0
    assert "stream 1: 4 heaps, 0 missing" in output
    assert json.loads(summary.read_text())["first_timestamp"] == FIRST
    copied = dada.Recording(copy)
    assert copied.header.fields == recording.header.fields
    np.testing.assert_array_equal(copied.data, recording.data)
    for polarisation in range(2):
        saved = (tmp_path / f"pol.{polarisation}").read_bytes()
        assert saved == recording.samples(polarisation).tobytes()


def test_a_recording_without_a_header_to_start_from(sock, tmp_path, monkeypatch):
    payloads = heaps_of_noise(3)
    sender = sender_to(sock)
    sender.both(payloads, first=FIRST)
    sender.end()
    monkeypatch.setattr(receiver_program, "bound_socket", lambda *_: sock)
    command = [destination(sock), "--dada", str(tmp_path / "r.dada")]
    assert receive_by_position.main(command) == 0
    fields = dada.read_header(tmp_path / "r.dada")
    assert fields.integer("SAMPLE_CLOCK_START") == FIRST
    assert Positions.from_header(fields) == Positions()
    assert (tmp_path / "r.dada").stat().st_size == 4096 + 6 * STEP


def test_exit_code_tells_of_a_gap(sock, monkeypatch):
    sender = sender_to(sock)
    sender.both(heaps_of_noise(3), first=FIRST, skip={(0, 1)})
    sender.end()
    monkeypatch.setattr(receiver_program, "bound_socket", lambda *_: sock)
    assert receive_by_position.main([destination(sock)]) == 1


def test_mistakes_are_one_line():
    with pytest.raises(SystemExit, match=r"^receive_by_position.py: .*'/nowhere'"):
        receive_by_position.main(["127.0.0.1:0", "--header", "/nowhere"])
