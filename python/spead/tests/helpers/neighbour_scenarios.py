# Copyright 2026 The gr-spead authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""neighbour_scenarios.py SCENARIO [ARGUMENT...]: next hops that are not resolved yet.

Each scenario runs in its own network namespaces, as in network_scenarios.py.
"""

import socket
import subprocess
import threading
from pathlib import Path

from gnuradio import spead
from places import eventually
from receiving import arrived
from streams import Running, balanced, noise, run, source, wait
from two_hosts import (
    FAR_HOST,
    add_address,
    counter_of,
    inside,
    listen,
    main,
    new_namespace,
    set_up,
    tool,
)

ETH_P_ALL = 3
MAC = "02:00:00:00:00:02"  # of the host behind a gateway
HEAP = 1000


def stop_neighbour_replies(far):
    """Make the far end's kernel ignore ARP requests and neighbour solicitations."""
    chain = "t i { type filter hook input priority 0; }"
    rules = [
        "add table arp t",
        f"add chain arp {chain}",
        "add rule arp t i drop",
        "add table ip6 t",
        f"add chain ip6 {chain}",
        "add rule ip6 t i icmpv6 type nd-neighbor-solicit drop",
    ]
    with inside(far):
        tool("nft", ";".join(rules))


def restore_neighbour_replies(far):
    with inside(far):
        tool("nft", "flush", "ruleset")


def delay_neighbour_replies(far, retry_milliseconds):
    """Make the far end ignore requests until the near end repeats them."""
    for family in "ipv4", "ipv6":
        retry = Path(f"/proc/sys/net/{family}/neigh/v0/retrans_time_ms")
        retry.write_text(str(retry_milliseconds))
    stop_neighbour_replies(far)
    seconds = 0.9 * retry_milliseconds / 1000
    threading.Timer(seconds, restore_neighbour_replies, [far]).start()


def make_gateway(far, host):
    """A host behind the far end; returns its namespace."""
    with inside(far):
        # reads from a pipe, so it exits with this process
        holder = subprocess.Popen(["cat"], stdin=subprocess.PIPE)
        behind = new_namespace()
        peer = ["peer", "name", "r0", "netns", str(holder.pid)]
        tool("ip", "link", "add", "h0", "address", MAC, "type", "veth", *peer)
        tool("ip", "link", "set", "h0", "up")
        add_address(host, 24, "h0")
    with inside(far):
        set_up("r0", "10.79.0.1")
        Path("/proc/sys/net/ipv4/conf/all/forwarding").write_text("1")
        # Resolved in advance: the router would drop packets while it resolves them.
        tool("ip", "neigh", "add", host, "lladdr", MAC, "dev", "r0")
    tool("ip", "route", "add", "default", "via", FAR_HOST)
    return behind


def set_link_local_addresses(far):
    with inside(far):
        add_address("fe80::2", 64, "v1")
    add_address("fe80::1", 64, "v0")


def receive(sock, count):
    """Receive `count` packets; skips the empty ones that only resolve the next hop."""
    packets = []
    while len(packets) < count:
        packet = sock.recv(65536)
        if packet:
            packets.append(packet)
    return packets


def check_all_arrived(packets, samples):
    """Check that no heap is missing, and the samples of each."""
    heaps = len(samples) // HEAP
    packets.sort(key=counter_of)
    assert [counter_of(packet) for packet in packets[:heaps]] == [*range(1, heaps + 1)]
    received = b"".join(packet[-HEAP:] for packet in packets[:heaps])
    assert received == samples.tobytes()


def check_stream(sock, hosts, **options):
    """Send a stream, and check that the receiver gets all of it."""
    samples = noise(3663 * HEAP)
    endpoints = ",".join(f"{host}:7148" for host in hosts)
    sink = spead.sink(endpoints, HEAP, **options)
    run(sink, source(samples))
    stats = sink.stats()
    assert balanced(stats)
    assert stats["packets_dropped"] == 0
    received = receive(sock, stats["packets_sent"])
    assert counter_of(received[0]) == 1
    check_all_arrived(received, samples)
    return stats


def late_answer(far, retry_milliseconds, rate):
    """The next hop replies late: every heap arrives, including the first."""
    delay_neighbour_replies(far, int(retry_milliseconds))
    return check_stream(listen(far), [FAR_HOST], rate=float(rate))


def late_answers_of_ipv6_hosts(far):
    hosts = [f"fd77::{2 + i}" for i in range(4)]
    with inside(far):
        for host in hosts:
            add_address(host, 64, "v1")
    add_address("fd77::1", 64, "v0")
    delay_neighbour_replies(far, 100)
    return check_stream(listen(far, "::"), [f"[{host}]" for host in hosts], rate=40e6)


def late_answer_of_a_gateway(far):
    host = "10.79.0.2"
    behind = make_gateway(far, host)
    delay_neighbour_replies(far, 100)
    return check_stream(listen(behind, host), [host], rate=40e6)


def only_the_stream_may_pass(far):
    """A firewall passes only the stream's port: the next hop is still resolved."""
    chain = "{ type filter hook output priority 0; policy drop; }"
    tool("nft", f"add table ip t; add chain ip t o {chain}")
    tool("nft", "add rule ip t o udp dport 7148 accept")
    return late_answer(far, 100, 40e6)


def forgotten_neighbour(far):
    """Flush the neighbour table in mid-stream; replies are late: every heap arrives."""
    set_link_local_addresses(far)
    sock = listen(far, "::")
    samples = noise(10_000 * HEAP)
    running = Running("[fe80::2%v0]:7148", samples, heap_samples=HEAP, rate=40e6)
    with running as sink:
        eventually(lambda: sink.heaps_sent() > 1000)
        delay_neighbour_replies(far, 100)
        tool("ip", "neigh", "flush", "dev", "v0")
        wait(running.graph)
    stats = sink.stats()
    assert stats["packets_dropped"] == 0
    check_all_arrived(receive(sock, stats["packets_sent"]), samples)
    return stats


def no_answer(far):
    """One of two hosts does not reply: its heaps are dropped, the other's arrive."""
    sock = listen(far)
    heaps = 1000
    endpoints = f"10.77.0.9:7148,{FAR_HOST}:7148"
    sink = spead.sink(endpoints, HEAP, descriptors="none", send_stop=False)
    run(sink, source(noise(heaps * HEAP)))
    stats = sink.stats()
    assert balanced(stats)
    assert stats["heaps_dropped"] == heaps / 2
    assert stats["send_errors"].keys() == {"EHOSTUNREACH"}
    received = receive(sock, heaps // 2)
    assert [counter_of(packet) for packet in received] == [*range(2, heaps + 1, 2)]
    return stats


def stop_without_an_answer(_far):
    """stop() returns while the sink waits for the next hop."""
    with Running("10.77.0.9:7148", heap_samples=HEAP) as sink:
        eventually(lambda: sink.samples_pending() > 0)
    stats = sink.stats()
    assert balanced(stats)
    assert stats["samples_pending"] == stats["samples_sent"] == 0
    return stats


def nothing_to_ask_for(_far):
    """Through a device without neighbours, only packets of the stream leave."""
    tool("ip", "link", "set", "lo", "up")
    tool("ip", "link", "add", "card", "type", "ifb")
    set_up("card", "10.78.0.1")
    for device, host in ("lo", "127.0.0.1"), ("card", "10.78.0.2"):
        sniffer = socket.socket(socket.AF_PACKET, socket.SOCK_RAW)
        sniffer.bind((device, ETH_P_ALL))
        run(spead.sink(f"{host}:7148", HEAP), source(noise(10 * HEAP)))
        headers = [
            frame[14:] for frame in arrived(sniffer) if frame[12:14] == b"\x08\0"
        ]
        udp = [header[20:] for header in headers if header[9] == socket.IPPROTO_UDP]
        assert {int.from_bytes(header[2:4], "big") for header in udp} == {7148}
    return {}


if __name__ == "__main__":
    main(globals())
