# Copyright 2026 The gr-spead authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Recordings of Effelsberg's packetisers are sent again as they were recorded."""

import json
import os
import subprocess
import sys

import dada
import effelsberg_packetiser
import numpy as np
import pytest
import reference_packets
from conftest import BOUND, EXAMPLES, NEEDS_NAMESPACES, destination, noise
from flow_graphs import bound_sockets, compiled, destinations, running, until_ends
from test_dada import record
from test_faults import run_scenario

PROGRAM = EXAMPLES / "effelsberg_packetiser.py"
GROUPS = 4  # of each polarisation
FIRST = 526398652416
NEEDS_RECORDING = pytest.mark.skipif(
    "GR_SPEAD_RECORDING" not in os.environ,
    reason="needs GR_SPEAD_RECORDING, the DADA file of an EDD packetiser",
)
PACKED = {"NBIT": 10, "HEAP_SIZE": 5120, "HEAP_NBYTES": "unset"}


@pytest.fixture(
    params=["8 bits", "odd", "10 bits", pytest.param("real", marks=NEEDS_RECORDING)]
)
def recording(request, tmp_path):
    """Heaps of both polarisations; the odd one and the real one end with the first."""
    path = tmp_path / "r.dada"
    if request.param == "8 bits":
        return record(path, noise(200 * 4096))
    if request.param == "odd":
        return record(path, noise(7 * 4096 + 100))
    if request.param == "10 bits":
        return record(path, noise(20 * 5120), **PACKED)
    return dada.Recording(os.environ["GR_SPEAD_RECORDING"])


def sent_packets(path, *options):
    """At the endpoints of each polarisation."""
    return packets_of(lambda *to: running(PROGRAM, path, *to, *options))


def packets_of(sender):
    with bound_sockets(2 * GROUPS) as sockets:
        to = destinations(sockets[:GROUPS]), destinations(sockets[GROUPS:])
        with sender(*to):
            received = until_ends(sockets)
    assert not any(endpoint.descriptors for endpoint in received)
    data = [endpoint.data for endpoint in received]
    return [data[:GROUPS], data[GROUPS:]]


def test_its_packets_are_those_of_the_reference(recording):
    """Byte for byte, at the endpoints in turn."""
    assert sent_packets(recording.path) == expected_packets(recording)


def expected_packets(recording):
    expected = [[[] for _ in range(GROUPS)] for _ in range(2)]
    for heap in reference_packets.effelsberg(recording):
        expected[heap.polarisation][heap.endpoint].append(heap.packet)
    return expected


def test_the_flow_graph_sends_the_same(tmp_path):
    """As long as heaps of both polarisations are in the recording."""
    path = tmp_path / "r.dada"
    recording = record(path, noise(200 * 4096))
    program = compiled("effelsberg_stream", tmp_path)

    def sender(*to):
        ends = "--destination-0", to[0], "--destination-1", to[1]
        return running(program, "--file", path, *ends)

    assert packets_of(sender) == expected_packets(recording)


def test_one_polarisation_alone_is_refused(tmp_path):
    """GNU Radio would end the sink for the other one, with or without what there is."""
    path = tmp_path / "r.dada"
    record(path, noise(4096 + 100))
    refusal = (
        r"^effelsberg_packetiser.py: .*r.dada has 1 whole heap for 2 polarisations"
    )
    with pytest.raises(SystemExit, match=refusal):
        effelsberg_packetiser.main([str(path)])


def test_the_flow_graph_ends_badly_with_one_polarisation_alone(tmp_path):
    path = tmp_path / "r.dada"
    record(path, noise(4096 + 100))
    program = compiled("effelsberg_stream", tmp_path)
    with bound_sockets(2) as sockets:
        to = destinations(sockets[:1]), destinations(sockets[1:])
        ends = "--destination-0", to[0], "--destination-1", to[1]
        with running(program, "--file", path, *ends, status=1) as ended:
            pass
    assert "r.dada has 0 heaps of each polarisation" in ended.printed


def test_the_exit_status_tells_that_not_all_was_sent(tmp_path, monkeypatch, capfd):
    """Though nothing was dropped: here a source ends early."""
    path = tmp_path / "r.dada"
    record(path, noise(4 * 4096))
    sent_by = effelsberg_packetiser.PolarisationSource.work

    def work(self, inputs, outputs):
        return sent_by(self, inputs, [outputs[0][:4096]]) if self.heap == 0 else -1

    with bound_sockets(2) as sockets:
        command = [str(path), *map(destination, sockets)]
        assert effelsberg_packetiser.main(command) == 0
        monkeypatch.setattr(effelsberg_packetiser.PolarisationSource, "work", work)
        assert effelsberg_packetiser.main(command) == 1
    assert "8,192 of 16,384 bytes not sent" in capfd.readouterr().err


def test_a_later_file_may_begin_where_it_did(tmp_path):
    path = tmp_path / "r.dada"
    offset = 4096 * 1000  # samples
    record(path, noise(2 * 4096), OBS_OFFSET=2 * offset)
    for options, start in (((), FIRST), (("--from-offset",), FIRST + offset)):
        for half in sent_packets(path, *options):
            packet = half[0][0]
            assert int.from_bytes(packet[42:48], "big") == start


def test_it_is_received_as_it_was_recorded(recording, tmp_path):
    """By the receiver that works as that of Effelsberg does."""
    copy, prefix, report = (tmp_path / name for name in ("copy", "pol", "json"))
    command = [sys.executable, EXAMPLES / "receive_by_position.py"]
    command += ["--header", recording.path, *["127.0.0.1:0"] * 2, "--dada", copy]
    command += ["--save", prefix, "--timeout", str(BOUND), "--json", report]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as receiver:
        try:
            lines = [receiver.stdout.readline() for _ in range(2)]
            to = [line.split()[-1] for line in lines]
            with running(PROGRAM, recording.path, *to):
                receiver.communicate(timeout=BOUND)
        finally:
            receiver.kill()
    summary = json.loads(report.read_text())
    heaps = [len(recording.timestamps(polarisation)) for polarisation in range(2)]
    assert summary["received"] == heaps
    assert summary["missing"] == [0, heaps[0] - heaps[1]]
    assert summary["rejected"] == {}
    assert summary["first_timestamp"] == FIRST == recording.timestamps(0)[0]
    assert summary["last_timestamp"] == recording.timestamps(0)[-1]
    for polarisation in range(2):
        samples = recording.samples(polarisation).tobytes()
        saved = (tmp_path / f"pol.{polarisation}").read_bytes()
        # the receiver fills up what is missing at the end
        assert saved[: len(samples)] == samples
        assert not any(saved[len(samples) :])
    copied = dada.Recording(copy)
    assert copied.sync_time == recording.sync_time
    assert copied.sample_clock == recording.sample_clock
    assert copied.sample_clock_start == recording.sample_clock_start
    np.testing.assert_array_equal(copied.data[: len(recording.data)], recording.data)


@NEEDS_NAMESPACES
def test_multicast():
    run_scenario("instrument_scenarios.py", "effelsberg_example")


@pytest.mark.parametrize(
    ("changes", "destinations", "message"),
    [
        ({"NPOL": 3}, [], "NPOL = 3 is neither 1 nor 2"),
        ({"MCAST_SOURCES": "unset"}, [], "the header has no MCAST_SOURCES"),
        ({}, ["127.0.0.1"], "spead.sink: destinations"),
        ({}, ["127.0.0.1:9"] * 3, "spead.sink: destinations"),
    ],
)
def test_mistakes_are_one_line(tmp_path, changes, destinations, message):
    path = tmp_path / "r.dada"
    record(path, noise(2 * 4096))
    if changes:
        header = dada.read_header(path).fields | {k: str(v) for k, v in changes.items()}
        path.write_bytes(dada.Header(header).to_bytes() + noise(8192).tobytes())
    with pytest.raises(SystemExit) as refused:
        effelsberg_packetiser.main([str(path), *destinations])
    assert str(refused.value).startswith("effelsberg_packetiser.py: ")
    assert message in str(refused.value)
    assert len(str(refused.value).splitlines()) == 1
