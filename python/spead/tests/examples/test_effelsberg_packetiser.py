# Copyright 2026 The gr-spead authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""effelsberg_packetiser.py and effelsberg_stream.grc send recordings as recorded."""

import json
import os
import subprocess
import sys

import effelsberg_packetiser
import numpy as np
import pytest
import reference_packets
from dada_files import record
from flow_graphs import (
    DefaultReceiver,
    bound_sockets,
    compiled,
    destinations,
    nothing_more,
    packets_of_heaps,
    packets_until,
    payloads,
    running,
)
from instruments import dada
from places import BOUND, EXAMPLES, NEEDS_BUFFER, NEEDS_NAMESPACES, run_scenario
from receiving import destination
from streams import noise

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
    """Recordings; the odd one and the real one end with a heap of polarisation 0."""
    path = tmp_path / "r.dada"
    if request.param == "8 bits":
        return record(path, noise(200 * 4096))
    if request.param == "odd":
        return record(path, noise(7 * 4096 + 100))
    if request.param == "10 bits":
        return record(path, noise(20 * 5120), **PACKED)
    return dada.Recording(os.environ["GR_SPEAD_RECORDING"])


def to_both(sockets):
    """The destinations of each polarisation."""
    return destinations(sockets[:GROUPS]), destinations(sockets[GROUPS:])


def packetiser(recording, sockets, *options):
    """Run the program that sends a recording."""
    return running(PROGRAM, recording.path, *to_both(sockets), *options)


def flow_graph(folder):
    """The same for the program that grcc makes of the flow graph."""
    program = compiled("effelsberg_stream", folder)

    def sender(recording, sockets, *options):
        to = to_both(sockets)
        ends = "--destination-0", to[0], "--destination-1", to[1]
        return running(program, "--file", recording.path, *ends, *options)

    return sender


@pytest.fixture(params=["program", "flow graph"])
def sender(request, tmp_path):
    return packetiser if request.param == "program" else flow_graph(tmp_path)


def packets_of(sender, recording, *options):
    """At the endpoints of each polarisation."""
    with bound_sockets(2 * GROUPS) as sockets:
        with sender(recording, sockets, *options):
            received = packets_of_heaps(sockets, len(recording.data))
        nothing_more(sockets)
    assert not any(endpoint.descriptors or endpoint.ends for endpoint in received)
    data = [endpoint.data for endpoint in received]
    return [data[:GROUPS], data[GROUPS:]]


def test_the_packets_equal_the_reference(recording):
    assert packets_of(packetiser, recording) == expected_packets(recording)


def expected_packets(recording):
    expected = [[[] for _ in range(GROUPS)] for _ in range(2)]
    for heap in reference_packets.effelsberg(recording):
        expected[heap.polarisation][heap.endpoint].append(heap.packet)
    return expected


def test_the_flow_graph_sends_the_same(tmp_path):
    recording = record(tmp_path / "r.dada", noise(200 * 4096))
    sent = packets_of(flow_graph(tmp_path), recording)
    assert sent == expected_packets(recording)


def test_a_receiver_that_is_left_running_gets_two_runs(sender, tmp_path):
    """With the defaults of spead2, an end-of-stream heap would end the receiver."""
    recording = record(tmp_path / "r.dada", noise(200 * 4096))
    expected = {
        (FIRST + 4096 * (index // 2), index % 2): heap.tobytes()
        for index, heap in enumerate(recording.data)
    }
    with bound_sockets(2 * GROUPS) as sockets, DefaultReceiver(sockets) as receiver:
        for _ in range(2):
            with sender(recording, sockets):
                assert payloads(receiver.heaps(200)) == expected


def test_the_end_of_the_stream_is_sent_if_asked_for(tmp_path):
    recording = record(tmp_path / "r.dada", noise(200 * 4096))
    for sender, option in (
        (packetiser, ("--send-stop",)),
        (flow_graph(tmp_path), ("--send-stop", 1)),
    ):
        with (
            bound_sockets(2 * GROUPS) as sockets,
            sender(recording, sockets, *option),
        ):
            packets_until(sockets, lambda packets: all(each.ends for each in packets))


def test_a_recording_of_one_polarisation_alone_is_an_error(tmp_path):
    path = tmp_path / "r.dada"
    record(path, noise(4096 + 100))
    message = (
        r"^effelsberg_packetiser.py: .*r.dada has 1 whole heap for 2 polarisations"
    )
    with pytest.raises(SystemExit, match=message):
        effelsberg_packetiser.main([str(path)])
    program = compiled("effelsberg_stream", tmp_path)
    with bound_sockets(2) as sockets:
        to = destinations(sockets[:1]), destinations(sockets[1:])
        ends = "--destination-0", to[0], "--destination-1", to[1]
        with running(program, "--file", path, *ends, status=1) as ended:
            pass
    assert "r.dada has 0 heaps of each polarisation" in ended.printed


def test_the_exit_status_is_1_if_a_source_ends_early(tmp_path, monkeypatch, capfd):
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
    assert "8,192 of 16,384 samples not sent" in capfd.readouterr().err


def test_a_later_file_may_start_at_its_own_timestamp(tmp_path):
    offset = 4096 * 1000  # samples
    recording = record(tmp_path / "r.dada", noise(2 * 4096), OBS_OFFSET=2 * offset)
    for options, start in (((), FIRST), (("--from-offset",), FIRST + offset)):
        for half in packets_of(packetiser, recording, *options):
            packet = half[0][0]
            assert int.from_bytes(packet[42:48], "big") == start


@NEEDS_BUFFER
def test_a_recording_is_received_as_it_was(recording, tmp_path):
    """By receive_by_position.py, from one DADA file to another."""
    copy, prefix, report = (tmp_path / name for name in ("copy", "pol", "json"))
    command = [sys.executable, EXAMPLES / "instruments" / "receive_by_position.py"]
    command += ["--header", recording.path, *["127.0.0.1:0"] * 2, "--dada", copy]
    command += ["--save", prefix, "--json", report]
    command += ["--max-heaps", str(len(recording.data))]
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
    # without --from-offset it sends from the start of the sample clock
    assert summary["first_timestamp"] == FIRST == recording.sample_clock_start
    assert summary["last_timestamp"] == recording.timestamps(0)[-1] - recording.offset
    for polarisation in range(2):
        samples = recording.samples(polarisation).tobytes()
        saved = (tmp_path / f"pol.{polarisation}").read_bytes()
        # The receiver writes zeros for a missing heap at the end.
        assert saved[: len(samples)] == samples
        assert not any(saved[len(samples) :])
    copied = dada.Recording(copy)
    times = {"OBS_OFFSET": "0"}
    assert copied.header.fields == {**recording.header.fields, **times}
    np.testing.assert_array_equal(copied.data[: len(recording.data)], recording.data)


@NEEDS_NAMESPACES
def test_multicast():
    run_scenario("instrument_scenarios.py", "effelsberg_example")
