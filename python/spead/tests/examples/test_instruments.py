# Copyright 2026 The gr-spead authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""meerkat_digitiser.grc and packed_10bit.grc send the stream of a MeerKAT digitiser."""

import json
import threading

import grc_lint
import numpy as np
import pytest
import reference_packets
import spead2
from common import spead_packet
from flow_graphs import (
    DefaultReceiver,
    bound_sockets,
    compiled,
    destinations,
    digitised,
    nothing_more,
    packets_of_heaps,
    packets_until,
    payloads,
    running,
)
from instruments.digitiser_stream import DigitiserStream
from instruments.place_heaps import Layout
from places import BOUND, EXAMPLES, NEEDS_NAMESPACES, ROOT, run_scenario
from receiving import Receiver
from reference_packets import HEAP_SAMPLES

GROUPS = 8  # of each polarisation of a digitiser
HEAPS = 1000  # of each polarisation


@pytest.fixture(scope="module")
def programs(tmp_path_factory):
    """Compiles each flow graph once."""
    made = {}

    def program(name):
        if name not in made:
            made[name] = compiled(name, tmp_path_factory.mktemp(name))
        return made[name]

    return program


def digitiser(program, sockets, heaps, *options):
    """Run a program that sends `heaps` heaps of each polarisation."""
    return running(
        program,
        *("--destination-0", destinations(sockets[:GROUPS])),
        *("--destination-1", destinations(sockets[GROUPS:])),
        *("--duration", 1, "--sample-rate", heaps * HEAP_SAMPLES),
        *options,
    )


def run_digitiser(program, heaps, *options):
    """The packets at the endpoints of each polarisation, and the counters."""
    with bound_sockets(2 * GROUPS) as sockets:
        with digitiser(program, sockets, heaps, *options) as ended:
            received = packets_of_heaps(sockets, 2 * heaps)
        nothing_more(sockets)
    assert not any(endpoint.ends for endpoint in received)
    (line,) = (row for row in ended.printed.splitlines() if "SPEAD_STATS " in row)
    stats = json.loads(line.removeprefix("SPEAD_STATS "))
    return [received[:GROUPS], received[GROUPS:]], stats


def expected_packets(payloads, **options):
    """The packets of the reference at the endpoints of each polarisation."""
    endpoints = [[[] for _ in range(GROUPS)] for _ in range(2)]
    for heap in reference_packets.meerkat(payloads, **options):
        endpoints[heap.polarisation][heap.endpoint].append(heap.packet)
    return endpoints


def data_of(received):
    return [[endpoint.data for endpoint in half] for half in received]


def check_descriptors(received):
    """Each endpoint gets a heap of descriptors, with a heap counter of its own."""
    counters = []
    for half in received:
        for endpoint in half:
            items = spead2.ItemGroup()
            (packet,) = endpoint.descriptors
            assert len(packet) == 532  # as docs/instruments say
            counters.append(int.from_bytes(packet[10:16], "big"))
            update(items, packet)
            ids = [item.id for item in items.values()]
            assert ids == [0x1600, 0x3101, 0x3102, 0x3300]
            update(items, endpoint.data[0])
            assert items["timestamp"].value % HEAP_SAMPLES == 0
            assert items["adc_samples"].value.dtype == np.int8
    assert len(set(counters)) == len(counters)
    assert not {counter for counter in counters if counter <= 2 * (2 * HEAPS)}


def update(items, packet):
    stream = spead2.recv.Stream(spead2.ThreadPool())
    stream.add_buffer_reader(packet)
    (heap,) = stream
    items.update(heap)


def test_the_packets_equal_the_reference(programs):
    received, stats = run_digitiser(
        programs("meerkat_digitiser"), HEAPS, "--digitiser-id", 0x4322
    )
    payloads = np.array([digitised(seed, HEAPS * HEAP_SAMPLES) for seed in (1, 2)])
    payloads = payloads.reshape(2, HEAPS, HEAP_SAMPLES)
    expected = expected_packets(payloads, ids=(0x4322, 0x4323))
    assert data_of(received) == expected
    check_descriptors(received)
    assert stats["heaps_sent"] == 2 * HEAPS
    assert stats["samples_in"] == stats["samples_sent"] == payloads.size


@pytest.mark.parametrize("name", ["meerkat_digitiser", "packed_10bit"])
def test_a_receiver_that_is_left_running_gets_two_runs(programs, name):
    """With the defaults of spead2, an end-of-stream heap would end the receiver."""
    with bound_sockets(2 * GROUPS) as sockets, DefaultReceiver(sockets) as receiver:
        runs = []
        for _ in range(2):
            with digitiser(programs(name), sockets, 100):
                runs.append(payloads(receiver.heaps(200)))
    assert sorted(runs[0]) == [
        (HEAP_SAMPLES * index, which) for index in range(100) for which in range(2)
    ]
    assert runs[0] == runs[1]


@pytest.mark.parametrize("name", ["meerkat_digitiser", "packed_10bit"])
def test_the_receiver_of_the_f_engine_gets_two_runs(programs, name):
    """The timestamps of the second run are later."""
    layout = Layout(sample_bits=10 if name == "packed_10bit" else 8)
    with bound_sockets(2 * GROUPS) as sockets:
        halves = sockets[:GROUPS], sockets[GROUPS:]
        with DigitiserStream(halves, layout, lossless=True) as stream:
            for first in (0, 100):
                start = "--first-timestamp", first * HEAP_SAMPLES
                with digitiser(programs(name), sockets, 100, *start):
                    pass
            for _ in stream.chunks(timeout=BOUND, max_heaps=400):
                pass
    summary = stream.summary()
    assert summary["complete"]
    assert (summary["received"], summary["ends"]) == ([200, 200], 0)


@pytest.mark.parametrize("name", ["meerkat_digitiser", "packed_10bit"])
def test_the_end_of_the_stream_is_sent_if_asked_for(programs, name):
    with (
        bound_sockets(2 * GROUPS) as sockets,
        digitiser(programs(name), sockets, 100, "--send-stop", 1),
    ):
        packets_until(sockets, lambda packets: all(each.ends for each in packets))


def late(sock):
    """The items of the first complete heap that a late receiver decodes."""
    while spead_packet.parse(sock.recv(65536)).has_descriptors():
        pass  # drop the descriptors at the start
    receiver = Receiver(sock)
    guard = threading.Timer(BOUND, receiver.stream.stop)
    guard.start()
    try:
        for heap in receiver.stream:
            items = receiver.items.update(heap)
            if items:
                return {name: item.value for name, item in items.items()}
        raise AssertionError("no descriptors came")
    finally:
        guard.cancel()
        receiver.stream.stop()


def test_a_receiver_that_joins_late_gets_descriptors(programs):
    with (
        bound_sockets(2 * GROUPS) as sockets,
        running(
            programs("meerkat_digitiser"),
            *("--destination-0", destinations(sockets[:GROUPS])),
            *("--destination-1", destinations(sockets[GROUPS:])),
            *("--sample-rate", "4M", "--descriptor-interval", "0.01"),
            *("--duration", 1000),
        ) as program,
    ):
        heaps = [late(sock) for sock in sockets]
        program.interrupt()
    end = max(heap["timestamp"] for heap in heaps) + HEAP_SAMPLES
    sent = [digitised(seed, end) for seed in (1, 2)]
    for endpoint, heap in enumerate(heaps):
        polarisation, group = divmod(endpoint, GROUPS)
        begin = heap["timestamp"]
        assert begin // HEAP_SAMPLES % GROUPS == group
        assert heap["digitiser_id"] == polarisation
        assert heap["digitiser_status"] == 0
        expected = sent[polarisation][begin : begin + HEAP_SAMPLES]
        np.testing.assert_array_equal(heap["adc_samples"], expected)


def test_packed_samples_are_sent_as_they_are(programs):
    received, stats = run_digitiser(programs("packed_10bit"), 100)
    packets = data_of(received)
    in_order = [
        [half[heap % GROUPS][heap // GROUPS] for heap in range(100)] for half in packets
    ]
    payloads = np.array(
        [[np.frombuffer(p[72:], np.uint8) for p in half] for half in in_order]
    )
    assert payloads.shape == (2, 100, 5120)
    assert packets == expected_packets(payloads)
    check_descriptors(received)
    assert stats["samples_sent"] == payloads.size
    assert all(len(np.unique(half)) == 256 for half in payloads)
    assert (payloads[0] != payloads[1]).mean() > 0.9


@pytest.mark.parametrize("path", EXAMPLES.glob("*.grc"), ids=lambda path: path.stem)
def test_flow_graphs_are_valid(path):
    graph = grc_lint.load_flow_graph(grc_lint.load_platform(ROOT / "grc"), path)
    assert grc_lint.flow_graph_errors(graph) == []


@NEEDS_NAMESPACES
@pytest.mark.parametrize(
    "scenario",
    [
        "digitiser_example_in_order",
        "packed_example",
        "digitiser_example_by_position",
        "receiver_example_with_8_bits",
        "receiver_example_with_10_bits",
    ],
)
def test_multicast(scenario):
    run_scenario("instrument_scenarios.py", scenario)
