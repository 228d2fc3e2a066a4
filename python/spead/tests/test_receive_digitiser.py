# Copyright 2026 The gr-spead authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""The receiver of the digitiser example, fed by spead2's own sender."""

import json
import subprocess
import sys
import threading

import pytest
from common import receiver_program
from conftest import BOUND, EXAMPLES, bound_socket, destination, noise
from digitiser_sender import (
    DigitiserSender,
    heaps_of_noise,
    sender_to,
    summary_when_interrupted,
)
from instruments import receive_digitiser
from instruments.digitiser_stream import DigitiserStream
from instruments.place_heaps import Layout

STEP = 4096  # ticks and samples of a heap
FIRST = 1000 * STEP  # in the middle of a chunk


@pytest.fixture
def sockets():
    """One for each polarisation."""
    with bound_socket() as first, bound_socket() as second:
        yield [first, second]


def receive(streams, *options):
    """What has been sent is in the sockets; the summary."""
    args = receive_digitiser.parse([":0", "--timeout", "10", *map(str, options)])
    return receive_digitiser.receive(streams, args)


@pytest.mark.parametrize("bits", [8, 10])
def test_every_heap_of_both_polarisations(sockets, tmp_path, bits):
    payloads = heaps_of_noise(600, STEP * bits // 8)
    sender = sender_to(*sockets, heap_bytes=payloads.shape[2])
    sender.both(payloads, first=FIRST)
    sender.end()
    prefix = tmp_path / "saved"
    summary = receive(
        [[sock] for sock in sockets],
        "--sample-bits",
        bits,
        "--save",
        prefix,
        "--lossless",
    )
    assert summary == {
        "complete": True,
        "received": [600, 600],
        "missing": [0, 0],
        "rejected": {},
        "late": 0,
        "twice": 0,
        "descriptors": 0,
        "ends": 2,
        "first_timestamp": FIRST,
        "last_timestamp": FIRST + 599 * STEP,
    }
    for polarisation in range(2):
        saved = (tmp_path / f"saved.{polarisation}").read_bytes()
        assert saved == payloads[polarisation].tobytes()


def test_chunks_are_in_order_with_the_timestamp_of_their_first_column(sockets):
    payloads = heaps_of_noise(100)
    sender = sender_to(*sockets)
    sender.both(payloads, first=0)
    sender.end()
    layout = Layout(chunk_heaps=40)
    with DigitiserStream([[sock] for sock in sockets], layout, lossless=True) as stream:
        chunks = [
            (chunk.timestamp, chunk.present.sum(axis=1).tolist())
            for chunk in stream.chunks(timeout=BOUND)
        ]
    assert chunks == [(0, [40, 40]), (40 * STEP, [40, 40]), (80 * STEP, [20, 20])]


def test_one_stream_for_all_sockets(sockets):
    sender_to(*sockets).both(heaps_of_noise(100), first=FIRST)
    assert receive([sockets], "--max-heaps", 200)["received"] == [100, 100]


def test_lost_heaps_are_missing_and_zero(sockets, tmp_path):
    payloads = heaps_of_noise(50)
    lost = {(0, 7), (1, 20), (1, 21), (1, 49)}
    sender = sender_to(*sockets)
    sender.both(payloads, first=FIRST, skip=lost)
    sender.end()
    prefix = tmp_path / "saved"
    summary = receive([[sock] for sock in sockets], "--save", prefix)
    assert not summary["complete"]
    assert (summary["received"], summary["missing"]) == ([49, 47], [1, 3])
    for polarisation, index in lost:
        payloads[polarisation, index] = 0
    for polarisation in range(2):
        saved = (tmp_path / f"saved.{polarisation}").read_bytes()
        assert saved == payloads[polarisation].tobytes()


def test_a_polarisation_that_is_not_there_is_missing(sock):
    sender = sender_to(sock)
    for index in range(5):
        sender.data(noise(STEP), timestamp=index * STEP, digitiser_id=2)
    sender.end()
    summary = receive([[sock]])
    assert (summary["received"], summary["missing"]) == ([5, 0], [0, 5])


def test_what_is_expected_is_also_missing_at_the_end(sockets):
    sender_to(*sockets).both(heaps_of_noise(5), first=FIRST)
    summary = receive([sockets], "--expect-heaps", 7, "--max-heaps", 10)
    assert (summary["missing"], summary["complete"]) == ([2, 2], False)


@pytest.mark.parametrize(
    ("reason", "payload", "immediates"),
    [
        ("heap length", STEP - 8, {}),
        ("heap length", STEP + 8, {}),
        ("timestamp off the grid", STEP, {"timestamp": FIRST + 1}),
        ("no timestamp", STEP, {"timestamp": None}),
        ("no digitiser ID", STEP, {"digitiser_id": None}),
        ("digitiser ID", STEP, {"digitiser_id": 3}),
        ("no status", STEP, {"digitiser_status": None}),
        ("status", STEP, {"digitiser_status": 1 << 32}),
    ],
)
def test_a_wrong_heap_is_rejected_with_the_reason(sock, reason, payload, immediates):
    sender = sender_to(sock)
    sender.both(heaps_of_noise(3), first=FIRST)
    sender.data(noise(payload), **{"timestamp": FIRST + 3 * STEP, **immediates})
    sender.end()
    summary = receive([[sock]], "--digitiser-ids", "0,1", "--status", 0)
    assert summary["rejected"] == {reason: 1}
    assert not summary["complete"]
    assert (summary["received"], summary["missing"]) == ([3, 3], [0, 0])


def test_unless_told_otherwise_ids_and_status_may_be_any(sock):
    sender = sender_to(sock)
    for polarisation in range(2):
        sender.data(noise(STEP), digitiser_id=0x4322 + polarisation, digitiser_status=5)
    sender.end()
    assert receive([[sock]])["complete"]


def test_heaps_in_several_packets_are_rejected(sock):
    """Only the first of them is looked at, so that nobody would check the others."""
    sender = sender_to(sock, heap_bytes=1344)
    sender.both(heaps_of_noise(2), first=FIRST)
    sender.end()
    assert receive([[sock]])["rejected"] == {"several packets": 4}


def test_descriptors_are_no_fault(sockets):
    sender = sender_to(*sockets)
    sender.descriptors()
    sender.both(heaps_of_noise(3), first=FIRST)
    sender.descriptors()
    sender.end()
    summary = receive([[sock] for sock in sockets])
    assert summary["complete"]
    assert summary["descriptors"] == 4


def test_a_heap_that_comes_twice(sock):
    sender = sender_to(sock)
    payloads = heaps_of_noise(3)
    sender.both(payloads, first=FIRST)
    sender.both(payloads[:, :1], first=FIRST)
    sender.end()
    summary = receive([[sock]])
    assert (summary["received"], summary["twice"]) == ([3, 3], 2)


def test_a_heap_that_comes_too_late(sock):
    sender = sender_to(sock)
    payload = noise(STEP)
    for index in (0, 100_000, 1):
        for polarisation in range(2):
            sender.data(payload, timestamp=index * STEP, digitiser_id=polarisation)
    sender.end()
    summary = receive([[sock]])
    assert (summary["received"], summary["late"]) == ([2, 2], 2)
    assert summary["missing"] == [99_999, 99_999]


def test_it_ends_without_an_end_of_stream(sockets):
    sender = sender_to(*sockets)
    sender.both(heaps_of_noise(3), first=FIRST)
    assert receive([[sock] for sock in sockets], "--timeout", 0.2)["complete"]


def test_an_end_of_stream_ends_it_for_good(sock):
    """As it ends the F-engine: what is sent later is lost."""
    sender = sender_to(sock)
    for run in range(2):
        sender.both(heaps_of_noise(3), first=FIRST + 3 * STEP * run)
        sender.end()
        sender.end()
    summary = receive([[sock]])
    assert (summary["received"], summary["ends"]) == ([3, 3], 1)


def test_an_end_of_stream_in_one_socket_ends_the_stream_of_several(sockets):
    sender = sender_to(sockets[0])
    sender.both(heaps_of_noise(3), first=FIRST)
    sender.end()
    summary = receive([sockets], "--timeout", 1000)
    assert (summary["received"], summary["ends"]) == ([3, 3], 1)


def test_it_ends_after_a_number_of_heaps(sockets):
    sender_to(*sockets).both(heaps_of_noise(3), first=FIRST)
    summary = receive([sockets], "--max-heaps", 6, "--timeout", 1000)
    assert summary["received"] == [3, 3]


def test_a_stream_that_ends_early_does_not_hold_up_the_other(sockets):
    """The thread of the first waits for the second until that has ended."""
    sender = sender_to(sockets[0])
    for index in range(3000):
        sender.data(noise(STEP), timestamp=index * STEP)
    sender.end()
    other = sender_to(sockets[1])
    other.data(noise(STEP), timestamp=0, digitiser_id=1)
    other.end()
    summary = receive([[sock] for sock in sockets], "--lossless")
    assert (summary["received"], summary["late"]) == ([3000, 1], 0)


def test_nothing_received_is_not_complete(sock):
    sender_to(sock).end()
    summary = receive([[sock]])
    assert not summary["complete"]
    assert summary["first_timestamp"] is None


def test_leaving_early_ends_the_streams(sock):
    """Also while heaps keep coming, each of which needs the interpreter."""
    sender = sender_to(sock)
    over = threading.Event()

    def run():
        index = 0
        while not over.is_set():
            sender.data(noise(STEP), timestamp=index * STEP)
            index += 1

    thread = threading.Thread(target=run)
    thread.start()
    try:
        with DigitiserStream([[sock]], Layout(chunk_heaps=4)) as stream:
            for chunk in stream.chunks(timeout=BOUND):
                assert chunk.present[0].all()
                break
    finally:
        over.set()
        thread.join(BOUND)
    assert stream.summary()["received"][0] >= 4


def test_ctrl_c_ends_it_with_all_that_has_come(tmp_path):
    summary = summary_when_interrupted("receive_digitiser.py", tmp_path)
    assert (summary["received"], summary["twice"]) == ([11, 10], 0)
    assert summary["missing"] == [4097 - 11, 4097 - 10]


def test_command_line(tmp_path):
    summary = tmp_path / "summary.json"
    command = [sys.executable, EXAMPLES / "instruments" / "receive_digitiser.py"]
    command += [
        "127.0.0.1:0",
        "127.0.0.1:0",
        "--timeout",
        str(BOUND),
        "--json",
        summary,
    ]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        try:
            addresses = [process.stdout.readline().split()[-1] for _ in range(2)]
            ports = [int(address.rpartition(":")[2]) for address in addresses]
            sender = DigitiserSender([("127.0.0.1", port) for port in ports])
            sender.both(heaps_of_noise(5), first=FIRST)
            sender.end()
            output, _ = process.communicate(timeout=BOUND)
        finally:
            process.kill()
    assert process.returncode == 0
    assert "polarisation 1: 5 heaps, 0 missing" in output
    assert json.loads(summary.read_text())["received"] == [5, 5]


def test_exit_code_tells_of_a_gap(sock, monkeypatch, capsys):
    sender = sender_to(sock)
    sender.both(heaps_of_noise(3), first=FIRST, skip={(0, 1)})
    sender.end()
    monkeypatch.setattr(receiver_program, "bound_socket", lambda *_: sock)
    assert receive_digitiser.main([destination(sock)]) == 1
    assert "polarisation 0: 2 heaps, 1 missing" in capsys.readouterr().out


def test_mistakes_are_one_line():
    with pytest.raises(SystemExit, match=r"^receive_digitiser.py: '7148' is not ADDR"):
        receive_digitiser.main(["7148"])
