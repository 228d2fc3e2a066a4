# Copyright 2026 The gr-spead authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""instrument_scenarios.py SCENARIO: the multicast groups of real instruments.

Each scenario runs in its own network namespaces, as in network_scenarios.py.
"""

import contextlib
import json
import subprocess
import sys
import tempfile
from pathlib import Path

from gnuradio import spead
from inputs import packets_to_end, run_all, whole_heaps
from places import BOUND, EXAMPLES, eventually
from streams import noise
from two_hosts import FAR_HOST, inside, main, tool

sys.path.append(str(EXAMPLES))
import reference_packets
from common.endpoints import bound_socket, endpoints
from dada_files import record
from flow_graphs import compiled, digitised, packed, packets_of_heaps, running

GROUPS = ("239.77.0.0+7:7148", "239.77.0.8+7:7148")  # of each polarisation
PORT = f":{7148:04X} "  # as in /proc/net/udp


def join(far, groups, interface):
    """Join each group with a socket of its own, in the far namespace."""
    with inside(far):
        return [bound_socket(*group, interface) for group in endpoints(groups)]


def sink_to_groups(far):
    """Send two polarisations, each round-robin to half of the groups."""
    sockets = [sock for groups in GROUPS for sock in join(far, groups, FAR_HOST)]
    half, size, n = len(sockets) // 2, 4096, 100
    samples = [noise(n * size, seed=polarisation) for polarisation in range(2)]
    options = {"num_inputs": 2, "descriptors": "separate"}
    sink = spead.sink(list(GROUPS), size, interface="v0", ttl=2, **options)
    run_all(sink, *samples)
    for index, sock in enumerate(sockets):
        polarisation, group = divmod(index, half)
        heaps = whole_heaps(packets_to_end(sock))
        assert [heap.cnt for heap in heaps] == [
            1 + polarisation + 2 * k for k in range(group, n, half)
        ]
        received = b"".join(heap.payload[-size:] for heap in heaps)
        sent = samples[polarisation].reshape(n, size)[group::half]
        assert received == sent.tobytes()
    return sink.stats()


def jumbo_frames(far):
    """Raise the MTU, so that each heap fits in one packet."""
    tool("ip", "link", "set", "v0", "mtu", "9000")
    with inside(far):
        tool("ip", "link", "set", "v1", "mtu", "9000")


@contextlib.contextmanager
def example(far, name, heaps, *options):
    """Run an example flow graph that sends `heaps` heaps of each polarisation."""
    jumbo_frames(far)
    with (
        tempfile.TemporaryDirectory() as folder,
        running(
            compiled(name, Path(folder)),
            *("--destination-0", GROUPS[0], "--destination-1", GROUPS[1]),
            *("--interface", "v0", "--duration", 1, "--sample-rate", 4096 * heaps),
            *options,
        ),
    ):
        yield


@contextlib.contextmanager
def receiver_example(far, folder, bits):
    """Run meerkat_receiver.grc at the far end. Yields a list for its output lines."""
    command = [
        *(sys.executable, compiled("meerkat_receiver", folder)),
        *("--endpoint-0", GROUPS[0], "--endpoint-1", GROUPS[1], "--interface", "v1"),
        *("--sample-bits", str(bits), "--prefix", folder / "received"),
    ]
    printed = []
    with inside(far):
        program = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
    try:
        with inside(far):
            eventually(
                lambda: Path("/proc/thread-self/net/udp").read_text().count(PORT) == 16
            )
        yield printed
        printed += program.communicate(timeout=BOUND)[0].splitlines()
    finally:
        program.kill()
        program.wait()


def receive_example(far, name, bits, generate_bytes):
    """Check that the receiver example records every byte of both polarisations."""
    heaps = 300
    with tempfile.TemporaryDirectory() as folder:
        folder = Path(folder)
        with (
            receiver_example(far, folder, bits) as printed,
            example(far, name, heaps, "--send-stop", 1),
        ):
            pass
        size = heaps * 512 * bits
        for polarisation in range(2):
            received = (folder / f"received.{polarisation}").read_bytes()
            assert received == generate_bytes(1 + polarisation, size).tobytes()
    lines = [line for line in printed if line.startswith("SPEAD_STATS ")]
    stats = [json.loads(line.removeprefix("SPEAD_STATS ")) for line in lines]
    assert [each["heaps_received"] for each in stats] == [heaps, heaps]
    assert [each["samples_missing"] for each in stats] == [0, 0]
    return stats[0]


def receiver_example_with_8_bits(far):
    return receive_example(far, "meerkat_digitiser", 8, digitised)


def receiver_example_with_10_bits(far):
    return receive_example(far, "packed_10bit", 10, packed)


def effelsberg_example(far):
    jumbo_frames(far)
    with tempfile.TemporaryDirectory() as folder:
        recording = record(Path(folder) / "r.dada", noise(200 * 4096))
        groups = recording.destinations()
        assert groups == ["225.0.0.140+3:7148", "225.0.0.144+3:7148"]
        sockets = join(far, ",".join(groups), FAR_HOST)
        program = EXAMPLES / "effelsberg_packetiser.py"
        with running(program, recording.path, "--interface", "v0"):
            received = packets_of_heaps(sockets, 200)
        expected = [[] for _ in sockets]
        for heap in reference_packets.effelsberg(recording):
            expected[4 * heap.polarisation + heap.endpoint].append(heap.packet)
        assert [endpoint.data for endpoint in received] == expected
    return {}


if __name__ == "__main__":
    main(globals())
