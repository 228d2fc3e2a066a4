# Copyright 2026 The gr-spead authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""instruments/receive_digitiser.py, fed by the sender of spead2."""

import json
import subprocess
import sys
import threading

import pytest
from digitiser_sender import (
    DigitiserSender,
    heaps_of_noise,
    sender_to,
    summary_when_interrupted,
)
from instruments import receive_digitiser
from instruments.digitiser_stream import DigitiserStream
from instruments.place_heaps import Layout
from places import BOUND, EXAMPLES, NEEDS_BUFFER
from receiving import bound_socket
from streams import noise

STEP = 4096  # ticks and samples of a heap
FIRST = 1000 * STEP  # in the middle of a chunk


@pytest.fixture
def sockets():
    """One for each polarisation."""
    with bound_socket() as first, bound_socket() as second:
        yield [first, second]


def receive(streams, *options):
    """Receive what is in the sockets; the summary."""
    args = receive_digitiser.parse([":0", "--timeout", "10", *map(str, options)])
    return receive_digitiser.receive(streams, args)


@NEEDS_BUFFER
@pytest.mark.parametrize("bits", [8, 10])
def test_every_heap_of_both_polarisations_is_saved(sockets, tmp_path, bits):
    payloads = heaps_of_noise(600, STEP * bits // 8)
    sender = sender_to(*sockets, heap_bytes=payloads.shape[2])
    sender.descriptors()
    sender.both(payloads, first=FIRST)
    sender.end()
    summary = receive(
        [[sock] for sock in sockets],
        *("--sample-bits", bits, "--save", tmp_path / "saved", "--lossless"),
    )
    assert summary == {
        "complete": True,
        "received": [600, 600],
        "missing": [0, 0],
        "rejected": {},
        "late": 0,
        "duplicates": 0,
        "descriptors": 2,
        "ends": 2,
        "first_timestamp": FIRST,
        "last_timestamp": FIRST + 599 * STEP,
    }
    for polarisation in range(2):
        saved = (tmp_path / f"saved.{polarisation}").read_bytes()
        assert saved == payloads[polarisation].tobytes()


def test_lost_heaps_are_missing_and_zero(sockets, tmp_path):
    payloads = heaps_of_noise(50)
    lost = {(0, 7), (1, 20), (1, 21), (1, 49)}
    sender = sender_to(*sockets)
    sender.both(payloads, first=FIRST, skip=lost)
    sender.end()
    summary = receive([[sock] for sock in sockets], "--save", tmp_path / "saved")
    assert not summary["complete"]
    assert (summary["received"], summary["missing"]) == ([49, 47], [1, 3])
    for polarisation, index in lost:
        payloads[polarisation, index] = 0
    for polarisation in range(2):
        saved = (tmp_path / f"saved.{polarisation}").read_bytes()
        assert saved == payloads[polarisation].tobytes()


@pytest.mark.parametrize("limit", [("--max-heaps", 10), ("--timeout", 2)])
def test_expected_heaps_are_missing_at_the_end(sockets, limit):
    sender_to(*sockets).both(heaps_of_noise(5), first=FIRST)
    summary = receive([sockets], "--expect-heaps", 7, *limit)
    assert (summary["missing"], summary["complete"]) == ([2, 2], False)


@pytest.mark.parametrize(
    ("reason", "heap"),
    [
        ("heap length", {"payload": noise(STEP - 8)}),
        ("no timestamp", {"timestamp": None}),
        ("digitiser ID", {"digitiser_id": 3}),
        ("status", {"digitiser_status": 1 << 32}),
    ],
)
def test_a_wrong_heap_is_rejected_with_the_reason(sock, reason, heap):
    sender = sender_to(sock)
    sender.both(heaps_of_noise(3), first=FIRST)
    sender.data(**{"payload": noise(STEP), "timestamp": FIRST + 3 * STEP, **heap})
    sender.end()
    summary = receive([[sock]], "--digitiser-ids", "0,1", "--status", 0)
    assert summary["rejected"] == {reason: 1}
    assert not summary["complete"]
    assert (summary["received"], summary["missing"]) == ([3, 3], [0, 0])


def test_heaps_in_several_packets_are_rejected(sock):
    """spead2 gives the items of the first packet alone."""
    sender = sender_to(sock, heap_bytes=1344)
    sender.both(heaps_of_noise(2), first=FIRST)
    sender.end()
    assert receive([[sock]])["rejected"] == {"several packets": 4}


def test_late_and_duplicate_heaps_are_counted(sock):
    sender = sender_to(sock)
    payload = noise(STEP)
    for index in (0, 100_000, 100_000, 1):
        for polarisation in range(2):
            sender.data(payload, timestamp=index * STEP, digitiser_id=polarisation)
    sender.end()
    summary = receive([[sock]])
    assert (summary["received"], summary["missing"]) == ([2, 2], [99_999, 99_999])
    assert (summary["late"], summary["duplicates"]) == (2, 2)


def test_an_end_of_stream_heap_at_any_socket_ends_a_stream(sockets):
    """As in the F-engine, later heaps are lost."""
    sender = sender_to(sockets[0])
    for run in range(2):
        sender.both(heaps_of_noise(3), first=FIRST + 3 * STEP * run)
        sender.end()
    summary = receive([sockets], "--timeout", 1000)
    assert (summary["received"], summary["ends"]) == ([3, 3], 1)


@NEEDS_BUFFER
def test_a_stream_that_ends_early_does_not_stop_the_other(sockets):
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


def test_leaving_the_context_early_ends_the_streams(sock):
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


def test_ctrl_c_ends_it_with_all_heaps_received(tmp_path):
    summary = summary_when_interrupted("receive_digitiser.py", tmp_path)
    assert (summary["received"], summary["duplicates"]) == ([11, 10], 0)
    assert summary["missing"] == [4097 - 11, 4097 - 10]


@pytest.mark.parametrize("missing", [0, 1])
def test_command_line(tmp_path, missing):
    summary = tmp_path / "summary.json"
    command = [sys.executable, EXAMPLES / "instruments" / "receive_digitiser.py"]
    command += ["127.0.0.1:0", "0", "--json", summary]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        try:
            addresses = [process.stdout.readline().split()[-1] for _ in range(2)]
            ports = [int(address.rpartition(":")[2]) for address in addresses]
            sender = DigitiserSender([("127.0.0.1", port) for port in ports])
            skip = {(0, 1)} if missing else ()
            sender.both(heaps_of_noise(5), first=FIRST, skip=skip)
            sender.end()
            output, _ = process.communicate(timeout=BOUND)
        finally:
            process.kill()
    assert process.returncode == missing
    assert f"polarisation 0: {5 - missing} heaps, {missing} missing" in output
    assert json.loads(summary.read_text())["received"] == [5 - missing, 5]


def test_mistakes_are_errors_of_one_line():
    with pytest.raises(SystemExit, match=r"^receive_digitiser.py: 'x' is not \[ADDR"):
        receive_digitiser.main(["x"])
    with pytest.raises(SystemExit, match=r"^receive_digitiser.py: 3 samples of 10 bit"):
        receive_digitiser.main(["0", "--heap-samples", "3", "--sample-bits", "10"])
