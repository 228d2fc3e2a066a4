# Copyright 2026 The gr-spead authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""outage_scenarios.py SCENARIO [ARGUMENT...]: the network fails, and then recovers.

Each scenario runs in its own network namespaces, as in network_scenarios.py. It sends
40 MB/s to a receiver that checks each heap, unless it says otherwise.
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
    bind_any,
    counter_of,
    destination_list,
    drain,
    stop_neighbour_replies,
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

SAMPLES = noise(100 * HEAP)  # the same that Running repeats
GROUPS = {"ipv4": "239.77.0.1", "ipv6": "ff15::77"}
# Under load, a full default buffer may take longer than a second to drain.
SLOW = {"rate": 2e6, "buffer_size": 65_536}
# The errors that the sink may count, by fault.
ERRORS = {
    "no_carrier": {"ENETDOWN", "ENOBUFS"},
    "interface_down": {"ENETDOWN", "ENOBUFS", "ENETUNREACH"},
    "no_interface": {"ENETDOWN", "ENOBUFS", "ENETUNREACH", "ENODEV", "EADDRNOTAVAIL"},
    "no_address": {"ENETUNREACH", "EADDRNOTAVAIL"},
    "no_route": {"ENETUNREACH"},
    "firewall": {"EPERM"},
    "rejecting_firewall": {"EPERM"},
    "small_mtu": {"EMSGSIZE", "ENETUNREACH"},  # Linux disables IPv6 below 1280 bytes
}
# Seconds for which heaps may be lost undetected, until the kernel reports the fault.
# Usually none are; the limit allows for CPU load.
MAX_DETECTION_TIME = 0.5


def ip(*args):
    tool("ip", *args)


class Faults:
    """Injects network faults. The methods that end a fault follow it."""

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
        """For IPv4, disables IPv6: its events must not trigger the sink's check."""
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

    def restore_neighbour_replies(self):
        with inside(self.far):
            tool("nft", "flush", "ruleset")


class CheckingReceiver:
    """Records the heap counters of the packets that reach the far namespace."""

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
        if not datagram:  # the sink sends these to make Linux resolve the next hop
            return
        counter = counter_of(datagram)
        start = (counter - 1) % 100 * HEAP
        if len(datagram) > HEAP:  # neither the last, shorter heap nor the end of stream
            assert datagram[-HEAP:] == SAMPLES[start : start + HEAP].tobytes()
        self.counters.append(counter)

    def wait_for_more(self):
        """Wait until many more heaps have arrived."""
        received = len(self.counters)
        eventually(lambda: len(self.counters) > received + 1000)

    def counters_up_to(self, last):
        """Wait for the last packets; returns the counters received, up to `last`."""
        self.ended = True
        self.thread.join()
        return [counter for counter in self.counters if counter <= last]


class CheckingSource:
    """The same with a spead.source, which checks the samples themselves."""

    def __init__(self, far, to, group):
        options = {"interface": "v1" if group else "", "max_gap": 2**32}
        with inside(far):
            self.receiving = Receiving(destination_list([to]), **options)
            self.receiving.graph.start()

    def wait_for_more(self):
        """Wait until many more heaps have arrived."""
        received = self.receiving.stats["samples_received"]
        more = 1000 * HEAP
        eventually(lambda: self.receiving.stats["samples_received"] > received + more)

    def counters_up_to(self, _):
        """Wait for the end of the stream; returns the counters of the heaps."""
        self.receiving.wait()
        assert self.receiving.balanced()
        assert self.receiving.stats["discontinuities"] == 0
        ((offset, first),) = self.receiving.tags("timestamp")
        assert offset == 0
        assert first % HEAP == 0
        received = self.receiving.samples()
        sent = np.resize(np.roll(SAMPLES, -first), len(received))
        present = np.ones(len(received), bool)
        for at, n in self.receiving.tags("missing"):
            present[at : at + n] = False
        np.testing.assert_array_equal(received, np.where(present, sent, 0))
        counters = 1 + (first + np.flatnonzero(present)[::HEAP]) // HEAP
        return counters.tolist()


def outage(
    far,
    fault,
    recovery,
    family="ipv4",
    interface="",
    group="",
    ports=1,
    receiver_kind="",
):
    """Every heap that did not arrive was counted as dropped."""
    set_ipv6_addresses(far)
    to = GROUPS[family] if group else FAR[family]
    ports = [7148 + i for i in range(int(ports))]
    if receiver_kind == "source":
        receiver = CheckingSource(far, to, group)
    else:
        receiver = CheckingReceiver(far, family, group and to, ports)
    faults = Faults(far, family, receiver)
    interface = interface.replace("address", NEAR[family])
    options = {"heap_samples": HEAP, "rate": 40e6, "interface": interface}
    with Running(destination_list([to], ports), **options) as sink:
        receiver.wait_for_more()
        getattr(faults, fault)()
        dropped = sink.heaps_dropped()
        # Add the other address before the sink's timeout allows it to use that one.
        more = 100 if recovery == "other_address" else 10_000
        eventually(lambda: sink.heaps_dropped() > dropped + more)
        getattr(faults, recovery)()
        receiver.wait_for_more()
    stats = sink.stats()
    assert balanced(stats)
    assert stats["samples_pending"] == 0
    others = {"EAGAIN"}
    if receiver_kind == "source":
        # The source may end before the sink's last end-of-stream heap.
        others.add("ECONNREFUSED")
    assert stats["send_errors"].keys() <= ERRORS[fault] | others, stats
    sent = stats["heaps_sent"]
    arrived = receiver.counters_up_to(sent + stats["heaps_dropped"])
    assert len(arrived) == len(set(arrived))
    report = {"undetected": sent - len(arrived), **stats}
    detected_late = ["no_carrier", "interface_down", "no_interface"]
    if len(ports) > 1:
        detected_late.append("no_address")  # Linux uses that of another interface
    detection_time = MAX_DETECTION_TIME if fault in detected_late else 0
    assert 0 <= report["undetected"] <= detection_time * options["rate"] / HEAP, report
    return report


def silent_neighbour(far, family):
    """A neighbour stops replying: heaps are lost undetected until Linux notices."""
    for setting, value in {
        "base_reachable_time_ms": 1000,
        "delay_first_probe_time": 1,
        "retrans_time_ms": 100,
    }.items():
        Path(f"/proc/sys/net/{family}/neigh/v0/{setting}").write_text(str(value))
    set_ipv6_addresses(far)
    receiver = CheckingReceiver(far, family, "")
    with Running(destination_list([FAR[family]]), heap_samples=HEAP, **SLOW) as sink:
        receiver.wait_for_more()
        stop_neighbour_replies(far)
        eventually(lambda: sink.heaps_dropped() > 1000)
        Faults(far, family).restore_neighbour_replies()
        receiver.wait_for_more()
    stats = sink.stats()
    assert balanced(stats)
    assert stats["send_errors"].keys() == {"EHOSTUNREACH"}
    heaps = stats["heaps_sent"] + stats["heaps_dropped"]
    # Until the sink polls the neighbour, Linux reports dropped packets as sent.
    undetected = stats["heaps_sent"] - len(receiver.counters_up_to(heaps))
    assert 0 <= undetected <= MAX_DETECTION_TIME * SLOW["rate"] / HEAP, stats
    return {"undetected": undetected, **stats}


def ipv6_group_without_an_address(far):
    """Linux keeps using the removed source address of the socket: nothing is lost."""
    set_ipv6_addresses(far)
    receiver = CheckingReceiver(far, "ipv6", GROUPS["ipv6"])
    to = destination_list([GROUPS["ipv6"]])
    with Running(to, heap_samples=HEAP, interface="v0", **SLOW) as sink:
        receiver.wait_for_more()
        Faults(far, "ipv6").no_address()
        receiver.wait_for_more()
    stats = sink.stats()
    assert stats["heaps_dropped"] == 0
    assert len(receiver.counters_up_to(stats["heaps_sent"])) == stats["heaps_sent"]
    return stats


def carrier_behind_a_bridge(far):
    """A bridge keeps its carrier when a port loses its own: losses go undetected."""
    tool("ip", "link", "add", "other", "type", "ifb")
    tool("ip", "link", "add", "bridge", "type", "bridge")
    for device in "other", "v0":
        tool("ip", "link", "set", device, "up", "master", "bridge")
    ip("addr", "del", f"{NEAR_HOST}/24", "dev", "v0")
    set_up("bridge", NEAR_HOST)
    receiver = CheckingReceiver(far, "ipv4", "")
    with Running(f"{FAR_HOST}:7148", heap_samples=HEAP, **SLOW) as sink:
        receiver.wait_for_more()
        Faults(far, "ipv4").no_carrier()
        sent = sink.heaps_sent()
        eventually(lambda: sink.heaps_sent() > sent + 1000)
    stats = sink.stats()
    assert stats["heaps_dropped"] == 0
    assert len(receiver.counters_up_to(stats["heaps_sent"])) < stats["heaps_sent"]
    return stats


def queue_without_a_carrier(far):
    """Packets that are queued when the carrier is lost count as sent."""
    sock = listen(far)
    # Resolve the next hop, so that packets wait in the queue and not for a reply.
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
    assert len(drain(sock)) < 50
    return stats


def made_again_while_stopped(far, family, interface):
    """The interface is recreated between two runs: the second run uses it at once."""
    set_ipv6_addresses(far)
    faults = Faults(far, family)
    sock = bind_any(far, family)
    interface = interface.replace("address", NEAR[family])
    options = {"heap_samples": HEAP, "send_stop": False, **SLOW}
    to = destination_list([FAR[family]])
    running = Running(to, interface=interface, **options)
    with running:
        sock.recv(2000)
    faults.no_interface()
    faults.new_interface()
    drain(sock)
    sock.settimeout(BOUND)
    sent = running.sink.heaps_sent()
    with running as sink:
        assert counter_of(sock.recv(2000)) == sent + 1
    assert sink.heaps_dropped() == 0
    return sink.stats()


if __name__ == "__main__":
    main(globals())
