# Copyright 2026 The gr-spead authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""network_scenarios.py SCENARIO: scenarios of test_faults.py in network namespaces.

Each scenario runs in a process with two network namespaces of its own.
"""

import contextlib
import socket

import pmt
from gnuradio import spead
from places import eventually
from receiving import destination
from streams import Reporting, Running, balanced, noise, run, source
from two_hosts import FAR, FAR_HOST, NEAR, listen, main, set_ipv6_addresses, shape, tool


def heap_counters(sock, until):
    """Receive single-packet heaps; returns their counters up to `until`."""
    counters = []
    while not counters or counters[-1] < until:
        counters.append(counter_of(sock.recv(65536)))
    return counters


def counter_of(packet):
    return int.from_bytes(packet[11:16], "big")


def failures_in_a_message(far):
    """The stats message contains the send errors as a dict, by name."""
    samples = noise(1_000_001)
    running = Reporting(f"{FAR_HOST}:7148", samples, stats_interval=1e6)
    tool("ip", "link", "set", "v0", "down")
    with running as sink:
        eventually(lambda: running.messages)
    message = pmt.to_python(pmt.car(running.messages[0]))
    assert message == sink.stats()
    assert message["send_errors"]["ENETUNREACH"] > 0
    return message


def full_queue(far, family):
    """The queue drops part of a GSO message, which Linux still reports as sent."""
    shape("80mbit", "10kb", "30kb")
    set_ipv6_addresses(far)
    sock = listen(far, FAR[family])
    sink = spead.sink(destination(sock), 1000)
    run(sink, source(noise(2_000_000)))
    stats = sink.stats()
    assert stats["heaps_dropped"] == 0
    assert len(heap_counters(sock, 2001)) < stats["heaps_sent"]
    return stats


def paced_below_the_link(far):
    """Pacing below the link rate: a queue for a quarter of the samples loses nothing.

    The queue is large enough to absorb a CPU stall of 0.1 s.
    """
    shape("200mbit", "100kb", "1mb")
    sock = listen(far)
    options = {"rate": 8e6, "send_stop": False, "descriptors": "none"}
    sink = spead.sink(f"{FAR_HOST}:7148", 1000, **options)
    run(sink, source(noise(4_000_000)))
    stats = sink.stats()
    assert stats["send_errors"] == {}
    assert heap_counters(sock, 4000) == list(range(1, 4001))
    return stats


def blocked_network(far, family):
    """The queue accepts packets but sends none: the sink blocks, and stop() returns."""
    set_ipv6_addresses(far)
    sock = listen(far, FAR[family])
    # Resolve the next hop while packets can still leave.
    run(spead.sink(destination(sock), 1000), source(noise(1000)))
    shape("8bit", "2kb", "100mb")
    with Running(destination(sock)) as sink:
        eventually(lambda: sink.stats()["send_errors"].get("EAGAIN", 0) > 0)
        consumed = -1

        def is_blocked():
            nonlocal consumed
            before, consumed = consumed, sink.samples_in()
            return before == consumed

        eventually(is_blocked)
        assert sink.packets_dropped() == 0
    stats = sink.stats()
    assert balanced(stats)
    assert stats["samples_pending"] == 0
    assert stats["samples_dropped"] > 0
    return stats


def error_for_packet_size(size, **options):
    try:
        spead.sink(f"{FAR_HOST}:7148", max_packet_size=size, **options)
    except ValueError as error:
        return str(error)
    raise AssertionError(f"max_packet_size = {size} was accepted")


def packet_larger_than_mtu(far):
    set_ipv6_addresses(far)
    # The default leaves room for the larger header of IPv6.
    assert spead.sink("[fd77::2]:7148", 10**6).packet_size() <= 1452
    message = error_for_packet_size(1473)
    assert "max_packet_size = 1473" in message
    assert "80 to 1472" in message
    return {}


def mtu_of_the_path(far):
    assert (
        spead.sink(f"{FAR_HOST}:7148", 100000, max_packet_size=0).packet_size() <= 1472
    )
    tool("ip", "link", "set", "v0", "mtu", "9000")
    packet = spead.sink(f"{FAR_HOST}:7148", 10**6, max_packet_size=0).packet_size()
    assert 8900 < packet <= 8972
    return {"packet": packet}


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


def multicast_ipv6(far):
    group = "ff15::77"
    set_ipv6_addresses(far)
    sock = listen(far, group)
    sock.setblocking(False)
    senders = []

    def arrives(interface):
        """Send and poll: joining the group takes a while at the far end."""
        to = f"[{group}]:7148"
        sink = spead.sink(to, 1000, max_packet_size=0, interface=interface)
        run(sink, source(noise(1000)))
        with contextlib.suppress(BlockingIOError):
            while True:
                senders.append(sock.recvfrom(2000)[1][0])
        return senders

    for interface in ("v0", NEAR["ipv6"]):
        eventually(lambda interface=interface: arrives(interface))
        assert set(senders) == {NEAR["ipv6"]}
        senders.clear()
    return {}


def software_segmentation(far):
    """The device cannot segment, so the kernel does: every packet arrives."""
    tool("ethtool", "-K", "v0", "tx-udp-segmentation", "off")
    sock = listen(far)
    options = {"rate": 50e6, "descriptors": "none"}
    sink = spead.sink(f"{FAR_HOST}:7148", 1000, **options)
    run(sink, source(noise(2_000_000)))
    # Under load, packets that pass through different CPUs may be reordered.
    counters = sorted(counter_of(sock.recv(65536)) for _ in range(2001))
    assert counters == list(range(1, 2002))
    return sink.stats()


if __name__ == "__main__":
    main(globals())
