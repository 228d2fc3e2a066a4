# Copyright 2026 The gr-spead authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""instrument_scenarios.py SCENARIO: the multicast groups of real instruments.

Each scenario runs in its own network namespaces, as in network_scenarios.py.
"""

import contextlib
import sys

from gnuradio import spead
from inputs import packets_to_end, run_all, whole_heaps
from places import BOUND, EXAMPLES, eventually
from streams import noise
from two_hosts import FAR_HOST, inside, listen, main, set_ipv6_addresses

sys.path.append(str(EXAMPLES))
from common.endpoints import bound_socket, endpoints

GROUPS = ("239.77.0.0+7:7148", "239.77.0.8+7:7148")  # of each polarisation


def join(far, groups, interface):
    """Join each group with a socket of its own, in the far namespace."""
    with inside(far):
        return [bound_socket(*group, interface) for group in endpoints(groups)]


def send_round_robin(sockets, to, **options):
    """Send two polarisations, each round-robin to half of the groups."""
    half, size, n = len(sockets) // 2, 4096, 100
    samples = [noise(n * size, seed=polarisation) for polarisation in range(2)]
    sink = spead.sink(to, size, num_inputs=2, interface="v0", ttl=2, **options)
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


def sink_to_groups(far):
    sockets = [sock for groups in GROUPS for sock in join(far, groups, FAR_HOST)]
    return send_round_robin(sockets, list(GROUPS), descriptors="separate")


def sink_to_groups_of_ipv6(far):
    set_ipv6_addresses(far)
    groups = [f"ff15::77:{i}" for i in range(4)]
    sockets = [listen(far, group) for group in groups]
    first = spead.sink(f"[{groups[0]}]:7148", 1000, interface="v0")
    sockets[0].setblocking(False)

    def joined():
        """Send until a packet arrives: joining the group takes a while."""
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
    return send_round_robin(sockets, pairs)


if __name__ == "__main__":
    main(globals())
