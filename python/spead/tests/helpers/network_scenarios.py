# Copyright 2026 The gr-spead authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""network_scenarios.py SCENARIO: scenarios of networks in network namespaces.

Each scenario runs in a process with two network namespaces of its own.
"""

import socket
import sys

import pytest
from gnuradio import spead
from inputs import packets_to_end, run_all, whole_heaps
from places import EXAMPLES, eventually
from receiving import destination
from streams import Running, balanced, noise, run, source
from two_hosts import (
    FAR,
    FAR_HOST,
    counter_of,
    inside,
    listen,
    main,
    set_ipv6_addresses,
    shape,
    tool,
)

sys.path.append(str(EXAMPLES))
from common.endpoints import bound_socket, endpoints


def full_queue(far):
    """The queue drops part of a GSO message, which Linux still reports as sent."""
    shape("80mbit", "10kb", "30kb")
    sock = listen(far)
    sink = spead.sink(destination(sock), 1000)
    run(sink, source(noise(2_000_000)))
    stats = sink.stats()
    assert stats["heaps_dropped"] == 0
    arrived = 0
    while counter_of(sock.recv(65536)) <= 2000:  # the end of the stream follows
        arrived += 1
    assert arrived < stats["heaps_sent"]
    return stats


def final_stats(sink):
    """Check that nothing is pending after stop(); returns the counters."""
    stats = sink.stats()
    assert balanced(stats)
    assert stats["samples_pending"] == 0
    return stats


def wait_until_blocked(sink):
    """Wait until the sink has consumed samples, then none for the last 50 polls."""
    consumed = [0]

    def is_blocked():
        consumed.append(sink.samples_in())
        return 0 < consumed[-1] == min(consumed[-50:])

    eventually(is_blocked)


def blocked_network(far):
    """The queue accepts packets but sends none: the sink blocks, and stop() returns."""
    set_ipv6_addresses(far)
    sock = listen(far, FAR["ipv6"])
    # Resolve the next hop while packets can still leave.
    run(spead.sink(destination(sock), 1000), source(noise(1000)))
    shape("8bit", "2kb", "100mb")
    with Running(destination(sock)) as sink:
        eventually(lambda: sink.stats()["send_errors"].get("EAGAIN", 0) > 0)
        wait_until_blocked(sink)
        assert sink.packets_dropped() == 0
    stats = final_stats(sink)
    assert stats["samples_dropped"] > 0
    return stats


def packet_size(endpoint, **options):
    return spead.sink(endpoint, 10**6, **options).packet_size()


def mtu_of_the_path(far):
    endpoint = f"{FAR_HOST}:7148"
    set_ipv6_addresses(far)
    assert packet_size("[fd77::2]:7148") <= 1452  # its header is larger
    assert packet_size(endpoint, max_packet_size=0) <= 1472
    allowed = "max_packet_size = 1473 is invalid; allowed: 80 to 1472"
    with pytest.raises(ValueError, match=allowed):
        packet_size(endpoint, max_packet_size=1473)
    tool("ip", "link", "set", "v0", "mtu", "9000")
    assert 8900 < packet_size(endpoint, max_packet_size=0) <= 8972
    return {}


def multicast(far):
    group = "239.77.0.1"
    sock = listen(far, group)
    sock.setsockopt(socket.IPPROTO_IP, 12, 1)  # IP_RECVTTL
    for interface in ("v0", "10.77.0.1"):
        run(
            spead.sink(f"{group}:7148", 1000, interface=interface, ttl=3),
            source(noise(1000)),
        )
        _, ancillary, _, sender = sock.recvmsg(2000, 1024)
        ttl = [data[0] for _, kind, data in ancillary if kind == socket.IP_TTL]
        assert ttl == [3]
        assert sender[0] == "10.77.0.1"
        sock.recv(2000)  # the end of the stream
    return {}


def multicast_groups(far):
    """Two polarisations, each sent round-robin to half of the groups, as by MeerKAT."""
    destinations = ["239.77.0.0+7:7148", "239.77.0.8+7:7148"]
    with inside(far):
        sockets = [
            bound_socket(*group, FAR_HOST)
            for groups in destinations
            for group in endpoints(groups)
        ]
    half, size, n = len(sockets) // 2, 4096, 100
    samples = [noise(n * size, seed=polarisation) for polarisation in range(2)]
    options = {"num_inputs": 2, "descriptors": "separate"}
    sink = spead.sink(destinations, size, interface="v0", ttl=2, **options)
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


if __name__ == "__main__":
    main(globals())
