# Copyright 2026 The gr-spead authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""effelsberg_packetiser.py and effelsberg_stream.grc replay recordings unchanged."""

import effelsberg_packetiser
import numpy as np
import pytest
import reference_packets
from dada_files import record
from flow_graphs import (
    bound_sockets,
    compiled,
    destinations,
    nothing_more,
    packets_of_heaps,
    packets_until,
    running,
)
from places import EXAMPLES
from streams import noise

GROUPS = 4  # multicast groups per polarisation
PROGRAM = EXAMPLES / "effelsberg_packetiser.py"
PACKED = {"NBIT": 10, "HEAP_SIZE": 5120, "HEAP_NBYTES": "unset"}


def packetiser(recording, sockets, *options):
    """Replay a recording with effelsberg_packetiser.py."""
    groups = destinations(sockets[:GROUPS]), destinations(sockets[GROUPS:])
    return running(PROGRAM, recording.path, *groups, *options)


def flow_graph(recording, sockets, *options):
    """Replay a recording with the compiled flow graph."""
    return running(
        compiled("effelsberg_stream", recording.path.parent),
        *("--file", recording.path),
        *("--destination-0", destinations(sockets[:GROUPS])),
        *("--destination-1", destinations(sockets[GROUPS:])),
        *options,
    )


@pytest.mark.parametrize(
    ("sender", "size", "changes"),
    [
        (packetiser, 7 * 4096 + 100, {}),  # ends with a heap of polarisation 0
        (packetiser, 20 * 5120, PACKED),
        (flow_graph, 200 * 4096, {}),
    ],
)
def test_the_packets_match_the_reference(tmp_path, sender, size, changes):
    recording = record(tmp_path / "r.dada", noise(size), **changes)
    expected = [[] for _ in range(2 * GROUPS)]
    for heap in reference_packets.effelsberg(recording):
        expected[GROUPS * heap.polarisation + heap.endpoint].append(heap.packet)
    with bound_sockets(2 * GROUPS) as sockets:
        with sender(recording, sockets):
            received = packets_of_heaps(sockets, len(recording.data))
        nothing_more(sockets)
    assert [endpoint.data for endpoint in received] == expected
    assert not any(endpoint.descriptors or endpoint.ends for endpoint in received)


@pytest.mark.parametrize(
    ("sender", "options"),
    [
        (packetiser, ["--send-stop", "--from-offset"]),
        (flow_graph, ["--send-stop", 1, "--first-timestamp", 526398652416 + 4096000]),
    ],
)
def test_options_set_the_first_timestamp_and_end_of_stream(tmp_path, sender, options):
    recording = record(tmp_path / "r.dada", noise(2 * 4096), OBS_OFFSET=2 * 4096000)
    with bound_sockets(2 * GROUPS) as sockets, sender(recording, sockets, *options):
        received = packets_until(
            sockets, lambda endpoints: all(endpoint.ends for endpoint in endpoints)
        )
    for endpoint in (received[0], received[GROUPS]):
        (packet,) = endpoint.data
        assert int.from_bytes(packet[42:48], "big") == 526398652416 + 4096000


def test_a_recording_without_a_heap_of_each_polarisation_is_rejected(tmp_path):
    recording = record(tmp_path / "r.dada", noise(4096 + 100))
    message = r"^effelsberg_packetiser.py: .* 1 whole heap for 2 polarisations"
    with pytest.raises(SystemExit, match=message):
        effelsberg_packetiser.main([str(recording.path)])


def test_the_groups_default_to_those_of_the_recording(tmp_path):
    with bound_sockets(1) as (sock,):
        groups = {"MCAST_SOURCES": "127.0.0.1,127.0.0.1", "PORT": sock.getsockname()[1]}
        recording = record(tmp_path / "r.dada", noise(20 * 4096), **groups)
        with running(PROGRAM, recording.path):
            (received,) = packets_of_heaps([sock], 20)
    sent = [heap.packet for heap in reference_packets.effelsberg(recording)]
    assert sorted(received.data) == sorted(sent)


def test_listed_groups_are_divided_among_the_polarisations(tmp_path):
    groups = "225.0.0.152,225.0.0.153,225.0.0.156,225.0.0.157"
    recording = record(tmp_path / "r.dada", noise(8192), MCAST_SOURCES=groups)
    assert recording.destinations() == [
        "225.0.0.152:7148,225.0.0.153:7148",
        "225.0.0.156:7148,225.0.0.157:7148",
    ]


def test_a_header_may_exceed_4096_bytes(tmp_path):
    samples = noise(2 * 4096)
    recording = record(tmp_path / "r.dada", samples, HDR_SIZE=8192, LONG="x" * 4096)
    assert recording.header.text("LONG") == "x" * 4096
    np.testing.assert_array_equal(recording.data.ravel(), samples)


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"HDR_SIZE": -5}, r"r\.dada is not a DADA file"),
        ({"NBIT": 10}, "4096 samples of 10 bits do not fill a heap of 4096"),
        ({"NBIT": "unset"}, "the header has no NBIT"),
    ],
)
def test_an_invalid_header_is_rejected(tmp_path, changes, message):
    with pytest.raises(ValueError, match=message):
        record(tmp_path / "r.dada", noise(2 * 4096), **changes)
