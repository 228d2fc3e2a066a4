# Copyright 2026 The gr-spead authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""zero_copy_scenarios.py SCENARIO: messages that the kernel reads from the packet ring.

As network_scenarios.py. The near namespace has one more device, which drops everything
without reading it: as a network card, and unlike a veth pair, it never needs a copy.
"""

import contextlib
import ctypes
import resource
import socket

from gnuradio import gr, spead
from places import eventually
from streams import Running, balanced, noise, run, source, wait
from two_hosts import FAR_HOST, libc, listen, main, shape, system_call, tool

CARD_HOST = "10.78.0.2"  # behind the device that drops
PACKET = 1472
PAYLOAD = 1416  # of such a packet, without descriptors
RING = 64 * PACKET
# heaps of one packet, and a ring as small as is worth it
SMALL_RING = {"heap_samples": PAYLOAD, "descriptors": "none", "buffer_size": RING}


def add_card():
    tool("ip", "link", "add", "card", "type", "ifb")
    tool("ip", "addr", "add", "10.78.0.1/24", "dev", "card")
    tool("ip", "link", "set", "card", "up")


def until_stuck(sink):
    """Until the sink has taken something, and takes no more for a while."""
    taken = [0]

    def stuck():
        taken.append(sink.samples_in())
        return 0 < taken[-1] == min(taken[-50:])

    eventually(stuck)


def goes_on(sink):
    """For many lengths of the ring."""
    sent = sink.samples_sent()
    eventually(lambda: sink.samples_sent() > sent + 100 * RING)


def finished(sink):
    stats = sink.stats()
    assert balanced(stats)
    assert stats["samples_pending"] == 0
    return stats


def a_card_needs_no_copy(_far):
    add_card()
    samples = 50_000_000
    sink = spead.sink(f"{CARD_HOST}:7148", 100_000)
    run(sink, source(noise(samples)))
    stats = finished(sink)
    assert stats["zero_copy"]
    assert stats["samples_sent"] == samples
    assert stats["send_errors"].keys() <= {"EAGAIN"}
    return stats


def a_failure_is_reported_late(far):
    """A firewall refuses packets of which it has copies on their way elsewhere."""
    add_card()
    with listen(far), socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as sock:
        sock.sendto(b"", (FAR_HOST, 7148))  # now the far host is known
    shape("8bit", "2kb", "100mb")
    here = "add rule ip t o oifname card"
    rules = [
        "add table ip t",
        "add chain ip t o { type filter hook output priority 0; }",
        f"{here} dup to {FAR_HOST} device v0",
        f"{here} drop",
    ]
    to = f"{CARD_HOST}:7148"
    with Running(to, heap_samples=100_000, buffer_size=RING) as sink:
        goes_on(sink)
        tool("nft", ";".join(rules))
        eventually(lambda: sink.stats()["send_errors"].get("EPERM", 0) > 0)
        tool("nft", "delete table ip t")
        goes_on(sink)
        # the failed messages may have used numbers of reports
        assert not sink.zero_copy()
    return finished(sink)


def what_two_inputs_have_in_a_queue_stays_as_it_was(far):
    """A queue that is stuck at first, and then lets everything out to a receiver."""
    inputs = 2
    shape("8bit", "2kb", "100mb")
    sock = listen(far)
    heaps = 2000 // inputs
    samples = [noise(heaps * PAYLOAD, seed=i) for i in range(inputs)]
    options = {"num_inputs": inputs, **SMALL_RING}
    sink = spead.sink(f"{FAR_HOST}:7148", **options)
    received = [0] * inputs  # heaps
    with in_background(sink, *map(source, samples)):
        until_stuck(sink)
        # the rings are full of what the queue reads from them
        assert sink.zero_copy()
        assert sink.samples_in() <= inputs * RING
        let_out(far)
        while min(received) < heaps:
            datagram = sock.recv(65536)
            index, which = divmod(int.from_bytes(datagram[11:16], "big") - 1, inputs)
            assert index == received[which]
            received[which] += 1
            expected = samples[which][index * PAYLOAD : (index + 1) * PAYLOAD]
            assert datagram[-PAYLOAD:] == expected.tobytes(), (which, index)
    assert not sink.zero_copy()  # veth has to copy for the far end
    return finished(sink)


@contextlib.contextmanager
def in_background(sink, *samples):
    """A flow graph that ends on its own."""
    graph = gr.top_block()
    for i, block in enumerate(samples):
        graph.connect(block, (sink, i))
    graph.start()
    yield
    wait(graph)


def let_out(far):
    """The queue looks at its rate again when the next packet comes."""
    shape("1gbit", "100kb", "100mb")
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as sock:
        sock.sendto(b"", (FAR_HOST, 9))


def a_card_that_is_made_again(_far):
    """What its queue held is given back, and the next one needs no copy either."""
    add_card()
    shape("8bit", "2kb", "100mb", "card")
    options = {"interface": "card", **SMALL_RING}
    with Running(f"{CARD_HOST}:7148", **options) as sink:
        until_stuck(sink)
        assert sink.zero_copy()
        tool("ip", "link", "del", "card")
        add_card()
        goes_on(sink)
        assert sink.zero_copy()
    return finished(sink)


def without_locked_memory(_far):
    """Not even a single large message may be locked."""
    add_card()
    resource.setrlimit(resource.RLIMIT_MEMLOCK, (65536, 65536))
    drop_ipc_lock()
    samples = 5_000_000
    sink = spead.sink(f"{CARD_HOST}:7148", 100_000)
    assert sink.zero_copy()
    run(sink, source(noise(samples)))
    stats = finished(sink)
    assert not stats["zero_copy"]
    assert stats["samples_sent"] == samples
    assert stats["send_errors"].keys() <= {"EAGAIN"}
    return stats


def drop_ipc_lock():
    """The capability to lock any amount of memory, of this thread and its children."""
    header = (ctypes.c_uint32 * 2)(0x20080522, 0)
    sets = (ctypes.c_uint32 * 6)()  # effective, permitted, inheritable, twice 32 bits
    system_call(libc.capget(header, sets))
    sets[0] &= ~(1 << 14)
    system_call(libc.capset(header, sets))


def full_socket(_far):
    """A card that is slower than the sink: no message fails behind others."""
    add_card()
    shape("1gbit", "1mb", "100mb", "card")
    with Running(f"{CARD_HOST}:7148", heap_samples=100_000) as sink:
        eventually(lambda: sink.stats()["send_errors"].get("EAGAIN", 0) > 100)
        assert sink.zero_copy()
    stats = finished(sink)
    assert stats["send_errors"].keys() == {"EAGAIN"}
    assert stats["packets_dropped"] == 0
    return stats


def full_queue(_far):
    """Messages that it has no room for have used numbers; no packet is lost."""
    add_card()
    shape("800mbit", "100kb", "200kb", "card")
    with Running(f"{CARD_HOST}:7148", heap_samples=100_000) as sink:
        eventually(lambda: sink.stats()["send_errors"].get("ENOBUFS", 0) > 100)
        assert not sink.zero_copy()
        tool("tc", "qdisc", "del", "dev", "card", "root")
        goes_on(sink)
        assert sink.packets_dropped() == 0
    return finished(sink)


if __name__ == "__main__":
    main(globals())
