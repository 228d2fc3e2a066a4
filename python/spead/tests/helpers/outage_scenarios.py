# Copyright 2026 The gr-spead authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""outage_scenarios.py SCENARIO [ARGUMENT...]: the way is cut, and then there again.

As network_scenarios.py. The stream has 40 MB/s, and a receiver that checks each heap.
"""

import select
import socket
import subprocess
import threading
from pathlib import Path

import numpy as np
from gnuradio import spead
from neighbour_scenarios import (
    HEAP,
    all_from,
    answer_nobody,
    bind_any,
    counter_of,
    to_port,
)
from places import BOUND, eventually
from received_streams import Receiving
from streams import Running, balanced, noise, run, source
from two_hosts import (
    FAR,
    FAR_HOST,
    NEAR,
    NEAR_HOST,
    add_link,
    inside,
    join,
    listen,
    main,
    set_ipv6_addresses,
    set_up,
    shape,
    tool,
)

SAMPLES = noise(100 * HEAP)  # of Running, again and again
GROUPS = {"ipv4": "239.77.0.1", "ipv6": "ff15::77"}
# A busy machine may take longer than a second to send what waits.
SLOW = {"rate": 2e6, "buffer_size": 65_536}
# What failed sends are counted as.
ERRORS = {
    "no_carrier": {"ENETDOWN", "ENOBUFS"},
    "interface_down": {"ENETDOWN", "ENOBUFS", "ENETUNREACH"},
    "no_interface": {"ENETDOWN", "ENOBUFS", "ENETUNREACH", "ENODEV", "EADDRNOTAVAIL"},
    "no_address": {"ENETUNREACH", "EADDRNOTAVAIL"},
    "no_route": {"ENETUNREACH"},
    "firewall": {"EPERM"},
    "rejecting_firewall": {"EPERM"},
    "small_mtu": {"EMSGSIZE", "ENETUNREACH"},  # that ends IPv6
}
# Seconds for which heaps may leave until the kernel tells of what was cut, on a machine
# that is busy. Usually there are none.
UNSEEN = 0.5


def ip(*args):
    tool("ip", *args)


class Faults:
    """Each with what ends it."""

    def __init__(self, far, family, receiver=None):
        self.far = far
        self.family = family
        self.receiver = receiver
        self.address = f"{NEAR[family]}/{64 if family == 'ipv6' else 24}"
        self.network = {"ipv4": "10.77.0.0/24", "ipv6": "fd77::/64"}[family]

    def no_carrier(self):
        with inside(self.far):
            ip("link", "set", "v1", "down")

    def carrier(self):
        with inside(self.far):
            ip("link", "set", "v1", "up")
        set_ipv6_addresses(self.far)

    def interface_down(self):
        ip("link", "set", "v0", "down")

    def interface_up(self):
        ip("link", "set", "v0", "up")
        set_ipv6_addresses(self.far)

    def no_interface(self):
        ip("link", "del", "v0")

    def new_interface(self):
        add_link(self.far)
        if isinstance(self.receiver, CheckingReceiver):
            self.receiver.join()
        set_up("v0", NEAR_HOST)
        set_ipv6_addresses(self.far)

    def no_address(self):
        ip("addr", "del", self.address, "dev", "v0")

    def same_address(self):
        ip("addr", "add", self.address, "dev", "v0", "nodad")

    def other_address(self):
        """For IPv4, without news of IPv6: the sink must look again by itself."""
        if self.family == "ipv4":
            Path("/proc/sys/net/ipv6/conf/v0/disable_ipv6").write_text("1")
        ip("addr", "add", self.address.replace("1/", "7/"), "dev", "v0", "nodad")

    def no_route(self):
        ip("route", "del", self.network, "dev", "v0")

    def route(self):
        ip("route", "add", self.network, "dev", "v0")

    def firewall(self, verdict="drop"):
        chain = "{ type filter hook output priority 0; }"
        tool("nft", f"add table inet t; add chain inet t o {chain}")
        tool("nft", f"add rule inet t o udp dport 7148 {verdict}")

    def rejecting_firewall(self):
        self.firewall("reject with icmpx admin-prohibited")

    def no_firewall(self):
        tool("nft", "delete table inet t")

    def small_mtu(self):
        ip("link", "set", "v0", "mtu", "576")

    def usual_mtu(self):
        ip("link", "set", "v0", "mtu", "1500")
        set_ipv6_addresses(self.far)

    def answer(self):
        with inside(self.far):
            tool("nft", "flush", "ruleset")


class CheckingReceiver:
    """Keeps the heap counters of what arrives in the far namespace."""

    def __init__(self, far, family, group, ports=(7148,)):
        self.far = far
        self.group = group
        self.sockets = [bind_any(far, family, port) for port in ports]
        self.counters = []
        self.ended = False
        self.join()
        self.thread = threading.Thread(target=self.receive, daemon=True)
        self.thread.start()

    def join(self):
        if self.group:
            with inside(self.far):
                for sock in self.sockets:
                    join(sock, self.group)

    def receive(self):
        while True:
            readable, _, _ = select.select(self.sockets, [], [], 0.1)
            if self.ended and not readable:
                return
            for sock in readable:
                self.check(sock.recv(2000))

    def check(self, datagram):
        if not datagram:  # makes Linux look for the next hop
            return
        counter = counter_of(datagram)
        at = (counter - 1) % 100 * HEAP
        if len(datagram) > HEAP:  # not the tail, nor the end of the stream
            assert datagram[-HEAP:] == SAMPLES[at : at + HEAP].tobytes()
        self.counters.append(counter)

    def goes_on(self):
        """For many heaps."""
        received = len(self.counters)
        eventually(lambda: len(self.counters) > received + 1000)

    def up_to(self, last):
        """The counters of all that has arrived, when no more comes."""
        self.ended = True
        self.thread.join()
        return [counter for counter in self.counters if counter <= last]


class CheckingSource:
    """The same of a source, with its samples in place of their counters."""

    def __init__(self, far, to, group):
        options = {"interface": "v1" if group else "", "max_gap": 2**32}
        with inside(far):
            self.receiving = Receiving(to_port([to]), **options)
            self.receiving.graph.start()

    def goes_on(self):
        """For many heaps."""
        received = self.receiving.stats["samples_received"]
        more = 1000 * HEAP
        eventually(lambda: self.receiving.stats["samples_received"] > received + more)

    def up_to(self, _):
        """The counters of the heaps that have arrived, when the stream has ended."""
        self.receiving.wait()
        assert self.receiving.balanced()
        assert self.receiving.stats["discontinuities"] == 0
        ((offset, first),) = self.receiving.tags("timestamp")
        assert offset == 0
        assert first % HEAP == 0
        got = self.receiving.samples()
        repeated = np.resize(np.roll(SAMPLES, -first), len(got))
        here = np.ones(len(got), bool)
        for at, n in self.receiving.tags("missing"):
            here[at : at + n] = False
        np.testing.assert_array_equal(got, np.where(here, repeated, 0))
        counters = 1 + (first + np.flatnonzero(here)[::HEAP]) // HEAP
        return counters.tolist()


def outage(far, cut, mend, family="ipv4", interface="", group="", ports=1, by=""):
    """What has not arrived when it is over was counted as dropped."""
    set_ipv6_addresses(far)
    to = GROUPS[family] if group else FAR[family]
    ports = [7148 + i for i in range(int(ports))]
    if by == "source":
        receiver = CheckingSource(far, to, group)
    else:
        receiver = CheckingReceiver(far, family, group and to, ports)
    faults = Faults(far, family, receiver)
    interface = interface.replace("address", NEAR[family])
    options = {"heap_samples": HEAP, "rate": 40e6, "interface": interface}
    with Running(to_port([to], ports), **options) as sink:
        receiver.goes_on()
        getattr(faults, cut)()
        dropped = sink.heaps_dropped()
        # another address is there before the sink may take it
        more = 100 if mend == "other_address" else 10_000
        eventually(lambda: sink.heaps_dropped() > dropped + more)
        getattr(faults, mend)()
        receiver.goes_on()
    stats = sink.stats()
    assert balanced(stats)
    assert stats["samples_pending"] == 0
    others = {"EAGAIN"}
    if by == "source":
        others.add("ECONNREFUSED")  # it may end before the last end-of-stream heap
    assert stats["send_errors"].keys() <= ERRORS[cut] | others, stats
    sent = stats["heaps_sent"]
    arrived = receiver.up_to(sent + stats["heaps_dropped"])
    assert len(arrived) == len(set(arrived))
    report = {"unseen": sent - len(arrived), **stats}
    seen_late = ["no_carrier", "interface_down", "no_interface"]
    if len(ports) > 1:
        seen_late.append("no_address")  # Linux takes that of another interface
    exact = cut not in seen_late
    most = 0 if exact else UNSEEN * options["rate"] / HEAP
    assert 0 <= report["unseen"] <= most, report
    return report


def silent_neighbour(far, family):
    """One that has answered ceases to: heaps leave until Linux notices."""
    for what, value in {
        "base_reachable_time_ms": 1000,
        "delay_first_probe_time": 1,
        "retrans_time_ms": 100,
    }.items():
        Path(f"/proc/sys/net/{family}/neigh/v0/{what}").write_text(str(value))
    set_ipv6_addresses(far)
    receiver = CheckingReceiver(far, family, "")
    with Running(to_port([FAR[family]]), heap_samples=HEAP, **SLOW) as sink:
        receiver.goes_on()
        answer_nobody(far)
        eventually(lambda: sink.heaps_dropped() > 1000)
        Faults(far, family).answer()
        receiver.goes_on()
    stats = sink.stats()
    assert balanced(stats)
    assert stats["send_errors"].keys() == {"EHOSTUNREACH"}
    heaps = stats["heaps_sent"] + stats["heaps_dropped"]
    # Linux drops, and reports as sent, what leaves until the sink looks again
    unseen = stats["heaps_sent"] - len(receiver.up_to(heaps))
    assert 0 <= unseen <= UNSEEN * SLOW["rate"] / HEAP, stats
    return {"unseen": unseen, **stats}


def ipv6_group_without_an_address(far):
    """Linux sends on from the address that the socket had, and nothing is lost."""
    set_ipv6_addresses(far)
    receiver = CheckingReceiver(far, "ipv6", GROUPS["ipv6"])
    to = to_port([GROUPS["ipv6"]])
    with Running(to, heap_samples=HEAP, interface="v0", **SLOW) as sink:
        receiver.goes_on()
        Faults(far, "ipv6").no_address()
        receiver.goes_on()
    stats = sink.stats()
    assert stats["heaps_dropped"] == 0
    assert len(receiver.up_to(stats["heaps_sent"])) == stats["heaps_sent"]
    return stats


def carrier_behind_a_bridge(far):
    """It is not the bridge that has none."""
    tool("ip", "link", "add", "other", "type", "ifb")
    tool("ip", "link", "add", "bridge", "type", "bridge")
    for device in "other", "v0":
        tool("ip", "link", "set", device, "up", "master", "bridge")
    ip("addr", "del", f"{NEAR_HOST}/24", "dev", "v0")
    set_up("bridge", NEAR_HOST)
    receiver = CheckingReceiver(far, "ipv4", "")
    with Running(f"{FAR_HOST}:7148", heap_samples=HEAP, **SLOW) as sink:
        receiver.goes_on()
        Faults(far, "ipv4").no_carrier()
        sent = sink.heaps_sent()
        eventually(lambda: sink.heaps_sent() > sent + 1000)
    stats = sink.stats()
    assert stats["heaps_dropped"] == 0
    assert len(receiver.up_to(stats["heaps_sent"])) < stats["heaps_sent"]
    return stats


def queue_without_a_carrier(far):
    """What a queue of this host holds when the carrier goes is lost unseen."""
    sock = listen(far)
    # so that the queue is what packets wait in
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as first:
        first.sendto(b"", (FAR_HOST, 7148))
    sock.recv(2000)
    shape("8bit", "2kb", "100mb")
    options = {"send_stop": False}
    sink = spead.sink(f"{FAR_HOST}:7148", HEAP, **options)
    run(sink, source(noise(100 * HEAP)))
    with inside(far):
        ip("link", "set", "v1", "down")
    state = ["ip", "link", "show", "v0"]
    eventually(lambda: b"NO-CARRIER" in subprocess.check_output(state, timeout=BOUND))
    with inside(far):
        ip("link", "set", "v1", "up")
    shape("1gbit", "100kb", "100mb")
    stats = sink.stats()
    assert stats["heaps_sent"] == 100
    assert stats["heaps_dropped"] == 0
    assert len(all_from(sock)) < 50
    return stats


def made_again_while_stopped(far, family, interface):
    """The interface; the next run uses it from its first heap on."""
    set_ipv6_addresses(far)
    faults = Faults(far, family)
    sock = bind_any(far, family)
    interface = interface.replace("address", NEAR[family])
    options = {"heap_samples": HEAP, "send_stop": False, **SLOW}
    to = to_port([FAR[family]])
    running = Running(to, interface=interface, **options)
    with running:
        sock.recv(2000)
    faults.no_interface()
    faults.new_interface()
    all_from(sock)
    sock.settimeout(BOUND)
    sent = running.sink.heaps_sent()
    with running as sink:
        assert counter_of(sock.recv(2000)) == sent + 1
    assert sink.heaps_dropped() == 0
    return sink.stats()


if __name__ == "__main__":
    main(globals())
