# Copyright 2026 The gr-spead authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""instrument_scenarios.py SCENARIO: the multicast groups of real instruments.

As network_scenarios.py, in a network of its own.
"""

import collections
import contextlib
import json
import socket
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
from common import spead_packet
from common.endpoints import bound_socket, endpoints, join_group
from dada_files import record
from flow_graphs import compiled, digitised, packed, running
from instruments import receive_digitiser
from instruments.heap_groups import Positions
from instruments.positional_receiver import receive

GROUPS = ("239.77.0.0+7:7148", "239.77.0.8+7:7148")  # of each polarisation
PORT = f":{7148:04X} "  # in the kernel's list of sockets


def join(far, groups, interface):
    """A socket for each group, in the far namespace."""
    with inside(far):
        return [bound_socket(*group, interface) for group in endpoints(groups)]


def receive_heaps(streams, heaps, *options):
    """Receive so many heaps with receive_digitiser.py."""
    limits = "--max-heaps", str(heaps), "--timeout", str(BOUND)
    args = receive_digitiser.parse([*GROUPS, *limits, "--lossless", *options])
    return receive_digitiser.receive(streams, args)


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


def packet_with_group(sock):
    """A packet and the group that it was sent to."""
    datagram, ((_, _, info),), _, _ = sock.recvmsg(65536, 1024)
    return spead_packet.parse(datagram), socket.inet_ntoa(info[8:12])


def digitiser_example_in_order(far):
    """One socket for all groups: each group gets every eighth heap, in order."""
    with inside(far):
        sock = bound_socket("0.0.0.0", 7148)
        for group in endpoints(",".join(GROUPS)):
            join_group(sock, group, "v1")
    sock.setsockopt(socket.IPPROTO_IP, 8, 1)  # IP_PKTINFO
    sock.settimeout(BOUND)
    described, heaps = set(), collections.defaultdict(list)
    with example(far, "meerkat_digitiser", 1000):
        while sum(map(len, heaps.values())) < 2000:
            packet, group = packet_with_group(sock)
            if packet.has_descriptors():
                described.add(group)
            else:
                assert group in described
                values = {item.id: item.value for item in packet.items}
                heaps[values[spead_packet.DIGITISER_ID], group].append(
                    (values[spead_packet.HEAP_COUNTER], values[spead_packet.TIMESTAMP])
                )
    assert heaps == {
        (polarisation, f"239.77.0.{8 * polarisation + group}"): [
            (2 + 2 * (2 * heap + polarisation), 4096 * heap)
            for heap in range(group, 1000, 8)
        ]
        for polarisation in range(2)
        for group in range(8)
    }
    assert len(described) == 16
    return {}


def packed_example(far):
    """With the receiver of the F-engine, which checks all immediate items."""
    streams = [join(far, GROUPS[0], FAR_HOST), join(far, GROUPS[1], "v1")]
    checks = "--expect-heaps", "1000", "--digitiser-ids", "0,1", "--status", "0"
    with example(far, "packed_10bit", 1000):
        summary = receive_heaps(streams, 2000, *checks, "--sample-bits", "10")
    assert summary["complete"]
    assert summary["received"] == [1000, 1000]
    assert summary["descriptors"] >= 16
    assert (summary["first_timestamp"], summary["last_timestamp"]) == (0, 999 * 4096)
    return summary


def digitiser_example_by_position(far):
    sockets = join(far, ",".join(GROUPS), FAR_HOST)
    received = []
    with example(far, "meerkat_digitiser", 1000):
        summary = receive(
            sockets, Positions(), lambda *group: received.append(group), BOUND, 2000
        )
    assert summary["received"] == [1000, 1000]
    assert summary["missing"] == [0, 0]
    assert summary["late"] == summary["duplicates"] == 0
    # It rejects the descriptors.
    assert sum(summary["rejected"].values()) >= 16
    assert [timestamp for timestamp, _ in received] == [4096 * n for n in range(1000)]
    return summary


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
    heaps = 1000
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
        path = Path(folder) / "r.dada"
        recording = record(path, noise(200 * 4096))
        groups = recording.destinations()
        assert groups == ["225.0.0.140+3:7148", "225.0.0.144+3:7148"]
        sockets = join(far, ",".join(groups), FAR_HOST)
        received = []
        with running(EXAMPLES / "effelsberg_packetiser.py", path, "--interface", "v0"):
            summary = receive(
                sockets,
                Positions.from_header(recording.header),
                lambda _, heaps: received.extend(heaps),
                BOUND,
                200,
            )
        assert summary["complete"]
        assert summary["first_timestamp"] == recording.sample_clock_start
        assert b"".join(received) == recording.data.tobytes()
    return summary


if __name__ == "__main__":
    main(globals())
