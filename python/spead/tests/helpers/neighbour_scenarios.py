# Copyright 2026 The gr-spead authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""neighbour_scenarios.py SCENARIO [ARGUMENT...]: next hops that are not resolved yet.

Each scenario runs in its own network namespaces, as in network_scenarios.py.
"""

import contextlib
import socket
import struct
import subprocess
import threading
from pathlib import Path

import numpy as np
import spead2
import spead2.recv
from gnuradio import spead
from places import BOUND, eventually
from streams import Running, balanced, noise, run, source, wait
from two_hosts import (
    FAR_HOST,
    add_address,
    enlarge_receive_buffer,
    inside,
    main,
    new_namespace,
    set_up,
    tool,
)

ETH_P_ALL = 3
IPV4, ARP, IPV6 = b"\x08\x00", b"\x08\x06", b"\x86\xdd"
SOLICITATION, ADVERTISEMENT = 135, 136
MAC = "02:00:00:00:00:02"  # of the host behind a gateway
HEAP = 1000


def arp_reply(frame, mac):
    """The reply to an ARP request; None if the frame is not an ARP request."""
    if frame[12:14] != ARP or frame[20:22] != b"\0\1":
        return None
    requester, target = frame[22:32], frame[38:42]
    return requester[:6] + mac + frame[12:20] + b"\0\2" + mac + target + requester


def checksum(data):
    total = sum(struct.unpack(f"!{len(data) // 2}H", data))
    while total >> 16:
        total = (total & 0xFFFF) + (total >> 16)
    return (total ^ 0xFFFF).to_bytes(2, "big")


def neighbour_advertisement(frame, mac):
    """The reply to a neighbour solicitation; None if the frame is something else."""
    if frame[12:14] != IPV6 or frame[54] != SOLICITATION:
        return None
    requester, target = frame[22:38], frame[62:78]
    solicited_override, target_mac = b"\x60\0\0\0", b"\2\1" + mac
    body = solicited_override + target + target_mac
    head, length = bytes([ADVERTISEMENT, 0]), 4 + len(body)
    pseudo_header = target + requester
    pseudo_header += struct.pack("!II", length, socket.IPPROTO_ICMPV6)
    head += checksum(pseudo_header + head + b"\0\0" + body)
    header = struct.pack("!IHBB", 6 << 28, length, socket.IPPROTO_ICMPV6, 255)
    return frame[6:12] + mac + IPV6 + header + target + requester + head + body


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


def delay_neighbour_replies(far, seconds):
    """Answer in place of the far end's kernel, after a delay."""
    stop_neighbour_replies(far)
    with inside(far):
        sock = socket.socket(socket.AF_PACKET, socket.SOCK_RAW, socket.htons(ETH_P_ALL))
        sock.bind(("v1", ETH_P_ALL))
    mac = sock.getsockname()[4]

    def answer():
        while True:
            frame = sock.recv(100)
            reply = arp_reply(frame, mac) or neighbour_advertisement(frame, mac)
            if reply:
                threading.Timer(seconds, sock.send, [reply]).start()

    threading.Thread(target=answer, daemon=True).start()


def make_third_namespace(far):
    """A namespace behind the far one, connected by a veth pair from r0 to h0."""
    with inside(far):
        # reads from a pipe, so it exits with this process
        holder = subprocess.Popen(["cat"], stdin=subprocess.PIPE)
        behind = new_namespace()
        peer = ["peer", "name", "r0", "netns", str(holder.pid)]
        tool("ip", "link", "add", "h0", "address", MAC, "type", "veth", *peer)
        tool("ip", "link", "set", "h0", "up")
    with inside(far):
        tool("ip", "link", "set", "r0", "up")
    return behind


def make_hosts(far, family, count, gateway):
    """Set up a host at or behind the far end; returns its namespace and addresses."""
    if family == "link_local":
        for namespace, host, device in (far, "fe80::2", "v1"), (None, "fe80::1", "v0"):
            with inside(namespace) if namespace else contextlib.nullcontext():
                add_address(host, 64, device)
        return far, ["fe80::2%v0"]
    width, link, beyond = {
        "ipv4": (24, "10.77.0.", "10.79.0."),
        "ipv6": (64, "fd77::", "fd79::"),
    }[family]
    add_address(f"{link}1", width, "v0")
    hosts = [(beyond if gateway else link) + str(2 + i) for i in range(count)]
    if not gateway:
        with inside(far):
            for host in hosts:
                add_address(host, width, "v1")
        return far, hosts
    behind = make_third_namespace(far)
    with inside(far):
        add_address(f"{link}2", width, "v1")
        add_address(f"{beyond}1", width, "r0")
        Path(f"/proc/sys/net/{family}/conf/all/forwarding").write_text("1")
        for host in hosts:
            # Resolved in advance: the router would drop packets while it resolves them.
            tool("ip", "neigh", "add", host, "lladdr", MAC, "dev", "r0")
    with inside(behind):
        for host in hosts:
            add_address(host, width, "h0")
    tool("ip", "route", "add", "default", "via", f"{link}2")
    return behind, hosts


def bind_any(namespace, family, port=7148):
    """A socket for all addresses of a namespace, with a large receive buffer."""
    with inside(namespace):
        kind = socket.AF_INET if family == "ipv4" else socket.AF_INET6
        sock = socket.socket(kind, socket.SOCK_DGRAM)
        enlarge_receive_buffer(sock)
        sock.bind(("", port))
    sock.settimeout(BOUND)
    return sock


def counter_of(datagram):
    return int.from_bytes(datagram[11:16], "big")


def drain(sock):
    """Read all packets that have arrived."""
    sock.setblocking(False)
    datagrams = []
    with contextlib.suppress(BlockingIOError):
        while True:
            datagrams.append(sock.recv(65536))
    return datagrams


def receive(sock, count):
    """Receive `count` packets; skips the empty ones that only resolve the next hop."""
    packets = []
    while len(packets) < count:
        packet = sock.recv(65536)
        if packet:
            packets.append(packet)
    return packets


def check_all_arrived(datagrams, samples):
    """Check that no heap is missing, and that spead2 decodes all samples."""
    heaps = len(samples) // HEAP
    datagrams.sort(key=counter_of)
    assert [counter_of(d) for d in datagrams[:heaps]] == list(range(1, heaps + 1))
    stream = spead2.recv.Stream(spead2.ThreadPool())
    stream.add_buffer_reader(b"".join(datagrams))
    items = spead2.ItemGroup()
    values = []
    for heap in stream:
        items.update(heap)
        values.append(items["adc_samples"].value)
    assert np.concatenate(values).tobytes() == samples.tobytes()


def destination_list(hosts, ports=(7148,)):
    """The `destinations` for each port of each host."""
    addresses = [f"[{h}]" if ":" in h else h for h in hosts]
    return ",".join(f"{address}:{port}" for address in addresses for port in ports)


def late_answer(far, milliseconds, family="ipv4", count=1, behind="", rate=40e6):
    """The next hop replies late: every heap arrives, including the first."""
    namespace, hosts = make_hosts(far, family, int(count), behind == "gateway")
    delay_neighbour_replies(far, float(milliseconds) / 1000)
    sock = bind_any(namespace, family)
    return send_all(sock, hosts, rate=float(rate))


def only_the_stream_may_pass(far):
    """A firewall passes only the stream's port: the next hop is still resolved."""
    chain = "{ type filter hook output priority 0; policy drop; }"
    tool("nft", f"add table ip t; add chain ip t o {chain}")
    tool("nft", "add rule ip t o udp dport 7148 accept")
    return late_answer(far, 100)


def send_all(sock, hosts, **options):
    """Send a stream, and check that the receiver gets all of it."""
    samples = noise(3663 * HEAP)
    sink = spead.sink(destination_list(hosts), HEAP, **options)
    run(sink, source(samples))
    stats = sink.stats()
    assert balanced(stats)
    assert stats["packets_dropped"] == 0
    received = receive(sock, stats["packets_sent"])
    first_counters = [counter_of(each) for each in received[:10]]
    check_all_arrived(received, samples)
    assert first_counters[0] == 1, first_counters
    return stats


def forgotten_neighbour(far, family):
    """Flush the neighbour table in mid-stream; replies are late: every heap arrives."""
    _, hosts = make_hosts(far, family, 1, gateway=False)
    sock = bind_any(far, family)
    samples = noise(10_000 * HEAP)
    options = {"heap_samples": HEAP, "rate": 40e6}
    running = Running(destination_list(hosts), samples, **options)
    with running as sink:
        eventually(lambda: sink.heaps_sent() > 1000)
        delay_neighbour_replies(far, 0.1)
        tool("ip", "neigh", "flush", "dev", "v0")
        wait(running.graph)
    stats = sink.stats()
    assert stats["packets_dropped"] == 0
    check_all_arrived(receive(sock, stats["packets_sent"]), samples)
    return stats


def no_answer(far):
    """One of two hosts does not reply: its heaps are dropped, the other's arrive."""
    sock = bind_any(far, "ipv4")
    heaps = 1000
    to = destination_list(["10.77.0.9", FAR_HOST])
    options = {"descriptors": "none", "send_stop": False}
    sink = spead.sink(to, HEAP, **options)
    run(sink, source(noise(heaps * HEAP)))
    stats = sink.stats()
    assert balanced(stats)
    assert stats["heaps_dropped"] == heaps / 2
    assert stats["send_errors"].keys() == {"EHOSTUNREACH"}
    received = receive(sock, heaps // 2)
    assert [counter_of(d) for d in received] == list(range(2, heaps + 1, 2))
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
        headers = [frame[14:] for frame in drain(sniffer) if frame[12:14] == IPV4]
        udp = [h[20:] for h in headers if h[9] == socket.IPPROTO_UDP]
        assert {int.from_bytes(h[2:4], "big") for h in udp} == {7148}
    return {}


if __name__ == "__main__":
    main(globals())
