# Copyright 2026 The gr-spead authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""instrument_scenarios.py SCENARIO: the multicast groups of real instruments.

As network_scenarios.py, in whose network it runs.
"""

import contextlib
import sys

from conftest import BOUND, EXAMPLES, eventually, noise
from digitiser_sender import DigitiserSender, heaps_of_noise
from gnuradio import spead
from inputs import packets_to_end, run_all, whole_heaps
from network_scenarios import FAR_HOST, inside, listen, main, tool

sys.path.append(str(EXAMPLES))
import receive_digitiser
from heap_groups import Positions
from positional_receiver import receive
from udp_socket import bound_socket, endpoints

GROUPS = ("239.77.0.0+7:7148", "239.77.0.8+7:7148")  # of each polarisation


def join(far, groups, interface):
    """Sockets in the far namespace, one for each group."""
    with inside(far):
        return [bound_socket(*group, interface) for group in endpoints(groups)]


def send(groups, heaps):
    """Heaps, round the groups of their polarisation, with descriptors first."""
    everywhere = [endpoint for each in groups for endpoint in endpoints(each)]
    near = {"ttl": 1, "interface_address": "10.77.0.1"}
    sender = DigitiserSender(everywhere, **near)
    sender.descriptors()
    sender.both(heaps_of_noise(heaps))
    sender.end()


def digitiser_receiver(far):
    """Eight groups for each polarisation, joined by address and by name."""
    streams = [join(far, GROUPS[0], FAR_HOST), join(far, GROUPS[1], "v1")]
    send(GROUPS, 200)
    args = receive_digitiser.parse([*GROUPS, "--timeout", str(BOUND), "--lossless"])
    summary = receive_digitiser.receive(streams, args)
    assert summary["complete"]
    assert summary["received"] == [200, 200]
    assert summary["descriptors"] == summary["ends"] == 16
    return summary


def digitiser_receiver_of_some_groups(far):
    """Each socket has the heaps of its own group and no others."""
    streams = [join(far, "239.77.0.2:7148", "v1"), join(far, "239.77.0.9:7148", "v1")]
    send(GROUPS, 200)
    args = receive_digitiser.parse([*GROUPS, "--timeout", str(BOUND), "--lossless"])
    summary = receive_digitiser.receive(streams, args)
    assert summary["received"] == [25, 25]
    assert (summary["first_timestamp"], summary["last_timestamp"]) == (4096, 194 * 4096)
    return summary


def receiver_by_position(far):
    """Four groups for each polarisation, as at Effelsberg."""
    groups = ["225.0.0.140+3:7148", "225.0.0.144+3:7148"]
    sockets = join(far, ",".join(groups), FAR_HOST)
    send(groups, 200)
    received = []
    summary = receive(
        sockets, Positions(), lambda *group: received.append(group), BOUND
    )
    assert summary["received"] == [200, 200]
    assert summary["missing"] == [0, 0]
    # their descriptors, which it does not know: one of them has heap counter 1
    assert sum(summary["rejected"].values()) == 8
    assert [timestamp for timestamp, _ in received] == list(range(0, 200 * 4096, 4096))
    return summary


def groups_in_turn(far, sockets, to, **options):
    """Two polarisations, each round half of the groups, from the sink."""
    half, size, n = len(sockets) // 2, 4096, 100
    samples = [noise(n * size, seed=which) for which in range(2)]
    sink = spead.sink(
        to, size, num_inputs=2, interface="v0", ttl=2, loopback=False, **options
    )
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
    tool("ip", "addr", "add", "fd77::1/64", "dev", "v0", "nodad")
    groups = [f"ff15::77:{i}" for i in range(4)]
    sockets = [listen(far, group) for group in groups]
    first = spead.sink(f"[{groups[0]}]:7148", 1000, interface="v0")
    sockets[0].setblocking(False)

    def joined():
        """Not at once: the far end takes its time to join."""
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


if __name__ == "__main__":
    main(globals())
