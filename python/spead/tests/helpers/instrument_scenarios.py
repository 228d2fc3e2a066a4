# Copyright 2026 The gr-spead authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""instrument_scenarios.py SCENARIO: the multicast groups of real instruments.

As network_scenarios.py, in a network of its own.
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
from two_hosts import FAR_HOST, inside, listen, main, set_ipv6_addresses, tool

sys.path.append(str(EXAMPLES))
import reference_packets
from common.endpoints import bound_socket, endpoints
from dada_files import record
from flow_graphs import compiled, digitised, packed, packets_of_heaps, running

GROUPS = ("239.77.0.0+7:7148", "239.77.0.8+7:7148")  # of each polarisation
PORT = f":{7148:04X} "  # in the kernel's list of sockets


def join(far, groups, interface):
    """A socket for each group, in the far namespace."""
    with inside(far):
        return [bound_socket(*group, interface) for group in endpoints(groups)]


def groups_in_turn(far, sockets, to, **options):
    """Send two polarisations from the sink, each to half of the groups in turn."""
    half, size, n = len(sockets) // 2, 4096, 100
    samples = [noise(n * size, seed=which) for which in range(2)]
    sink = spead.sink(to, size, num_inputs=2, interface="v0", ttl=2, **options)
    run_all(sink, *samples)
    for place, sock in enumerate(sockets):
        which, at = divmod(place, half)
        heaps = whole_heaps(packets_to_end(sock))
        assert [heap.cnt for heap in heaps] == [
            1 + which + 2 * k for k in range(at, n, half)
        ]
        received = b"".join(heap.payload[-size:] for heap in heaps)
        sent = samples[which].reshape(n, size)[at::half]
        assert received == sent.tobytes()
    return sink.stats()


def sink_to_groups(far):
    sockets = [sock for groups in GROUPS for sock in join(far, groups, FAR_HOST)]
    return groups_in_turn(far, sockets, list(GROUPS), descriptors="separate")


def sink_to_groups_of_ipv6(far):
    set_ipv6_addresses(far)
    groups = [f"ff15::77:{i}" for i in range(4)]
    sockets = [listen(far, group) for group in groups]
    first = spead.sink(f"[{groups[0]}]:7148", 1000, interface="v0")
    sockets[0].setblocking(False)

    def joined():
        """Joining takes the far end some time."""
        run_all(first, noise(1000))
        try:
            return sockets[0].recv(65536)
        except BlockingIOError:
            return None

    eventually(joined)
    with contextlib.suppress(BlockingIOError):
        while True:
            sockets[0].recv(65536)
    sockets[0].settimeout(BOUND)
    pairs = [
        ",".join(f"[{group}]:7148" for group in pair)
        for pair in (groups[:2], groups[2:])
    ]
    return groups_in_turn(far, sockets, pairs)


def jumbo_frames(far):
    """A heap in one packet needs a larger MTU than 1500."""
    tool("ip", "link", "set", "v0", "mtu", "9000")
    with inside(far):
        tool("ip", "link", "set", "v1", "mtu", "9000")


@contextlib.contextmanager
def example(far, name, heaps, *options):
    """Run a flow graph that sends so many heaps of each polarisation."""
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
    """Run meerkat_receiver.grc at the far end; its output is in a list afterwards."""
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


def receive_example(far, name, bits, bytes_of):
    """Both polarisations, to the last byte."""
    heaps = 300
    with tempfile.TemporaryDirectory() as folder:
        folder = Path(folder)
        with (
            receiver_example(far, folder, bits) as printed,
            example(far, name, heaps, "--send-stop", 1),
        ):
            pass
        size = heaps * 512 * bits
        for which in range(2):
            received = (folder / f"received.{which}").read_bytes()
            assert received == bytes_of(1 + which, size).tobytes()
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
