# Copyright 2026 The gr-spead authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""zero_copy_scenarios.py SCENARIO: messages that the kernel reads from the packet ring.

Scenarios run in their own network namespaces, as in network_scenarios.py. In most, the
near namespace has a "card": a device that drops all packets without reading them. Like
a network card, and unlike a veth pair, it never makes the kernel copy a packet.
"""

import ctypes
import resource
import socket

from gnuradio import spead
from inputs import connected
from network_scenarios import final_stats, wait_until_blocked
from places import eventually
from streams import Running, noise, run, source, wait
from two_hosts import (
    FAR_HOST,
    counter_of,
    libc,
    listen,
    main,
    set_up,
    shape,
    system_call,
    tool,
)

CARD_HOST = "10.78.0.2"  # behind the device that drops all packets
PACKET = 1472
PAYLOAD = 1416  # of a packet of this size without descriptors
RING = 64 * PACKET
# single-packet heaps, and a ring that fills quickly
SMALL_RING = {"heap_samples": PAYLOAD, "descriptors": "none", "buffer_size": RING}


def add_card():
    tool("ip", "link", "add", "card", "type", "ifb")
    set_up("card", "10.78.0.1")


def wait_for_more(sink):
    """Wait until the sink has sent many times the size of the ring."""
    sent = sink.samples_sent()
    eventually(lambda: sink.samples_sent() > sent + 100 * RING)


def a_failure_is_reported_late(far):
    """A firewall drops packets whose duplicates still wait in the queue of v0."""
    add_card()
    with listen(far), socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as sock:
        sock.sendto(b"", (FAR_HOST, 7148))  # resolves the next hop
    shape("8bit", "2kb", "100mb")
    rule = "add rule ip t o oifname card"
    rules = [
        "add table ip t",
        "add chain ip t o { type filter hook output priority 0; }",
        f"{rule} dup to {FAR_HOST} device v0",
        f"{rule} drop",
    ]
    endpoint = f"{CARD_HOST}:7148"
    with Running(endpoint, heap_samples=100_000, buffer_size=RING) as sink:
        wait_for_more(sink)
        tool("nft", ";".join(rules))
        eventually(lambda: sink.stats()["send_errors"].get("EPERM", 0) > 0)
        tool("nft", "delete table ip t")
        wait_for_more(sink)
        # The failed messages may have consumed notification IDs.
        assert not sink.zero_copy()
    return final_stats(sink)


def queued_packets_of_two_inputs_are_not_overwritten(far):
    """The queue blocks at first, then passes all packets to a receiver."""
    inputs = 2
    shape("8bit", "2kb", "100mb")
    sock = listen(far)
    heaps = 2000 // inputs
    samples = [noise(heaps * PAYLOAD, seed=i) for i in range(inputs)]
    options = {"num_inputs": inputs, **SMALL_RING}
    sink = spead.sink(f"{FAR_HOST}:7148", **options)
    received = [0] * inputs  # heaps
    graph = connected(sink, *map(source, samples))
    graph.start()
    wait_until_blocked(sink)
    # The rings are full of packets that the queue still references.
    assert sink.zero_copy()
    assert sink.samples_in() <= inputs * RING
    drain_queue(far)
    while min(received) < heaps:
        datagram = sock.recv(65536)
        index, i = divmod(counter_of(datagram) - 1, inputs)
        assert index == received[i]
        received[i] += 1
        expected = samples[i][index * PAYLOAD : (index + 1) * PAYLOAD]
        assert datagram[-PAYLOAD:] == expected.tobytes(), (i, index)
    wait(graph)
    assert not sink.zero_copy()  # the far end is local, so the kernel copies
    return final_stats(sink)


def drain_queue(far):
    """Raise the rate of the queue, which takes effect when the next packet arrives."""
    shape("1gbit", "100kb", "100mb")
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as sock:
        sock.sendto(b"", (FAR_HOST, 9))


def a_card_that_is_made_again(_far):
    """A recreated card: its queue releases the packets, and zero-copy continues."""
    add_card()
    shape("8bit", "2kb", "100mb", "card")
    options = {"interface": "card", **SMALL_RING}
    with Running(f"{CARD_HOST}:7148", **options) as sink:
        wait_until_blocked(sink)
        assert sink.zero_copy()
        tool("ip", "link", "del", "card")
        add_card()
        wait_for_more(sink)
        assert sink.zero_copy()
    return final_stats(sink)


def without_locked_memory(_far):
    """The limit of locked memory is below the size of one large message."""
    add_card()
    resource.setrlimit(resource.RLIMIT_MEMLOCK, (65536, 65536))
    drop_ipc_lock()
    samples = 5_000_000
    sink = spead.sink(f"{CARD_HOST}:7148", 100_000)
    assert sink.zero_copy()
    run(sink, source(noise(samples)))
    stats = final_stats(sink)
    assert not stats["zero_copy"]
    assert stats["samples_sent"] == samples
    assert stats["send_errors"].keys() <= {"EAGAIN"}
    return stats


def drop_ipc_lock():
    """Drop CAP_IPC_LOCK, which exempts a thread from the limit of locked memory."""
    header = (ctypes.c_uint32 * 2)(0x20080522, 0)
    sets = (ctypes.c_uint32 * 6)()  # effective, permitted, inheritable; low, high words
    system_call(libc.capget(header, sets))
    sets[0] &= ~(1 << 14)
    system_call(libc.capset(header, sets))


def full_socket(_far):
    """The card is slower than the sink: no message fails after others were queued."""
    add_card()
    shape("1gbit", "1mb", "100mb", "card")
    with Running(f"{CARD_HOST}:7148", heap_samples=100_000) as sink:
        eventually(lambda: sink.stats()["send_errors"].get("EAGAIN", 0) > 100)
        assert sink.zero_copy()
    stats = final_stats(sink)
    assert stats["send_errors"].keys() == {"EAGAIN"}
    assert stats["packets_dropped"] == 0
    return stats


def full_queue(_far):
    """A full queue rejects messages, which consume notification IDs; none is lost."""
    add_card()
    shape("800mbit", "100kb", "200kb", "card")
    with Running(f"{CARD_HOST}:7148", heap_samples=100_000) as sink:
        eventually(lambda: sink.stats()["send_errors"].get("ENOBUFS", 0) > 100)
        assert not sink.zero_copy()
        tool("tc", "qdisc", "del", "dev", "card", "root")
        wait_for_more(sink)
        assert sink.packets_dropped() == 0
    return final_stats(sink)


if __name__ == "__main__":
    main(globals())
