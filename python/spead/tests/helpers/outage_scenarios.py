# Copyright 2026 The gr-spead authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""outage_scenarios.py SCENARIO [ARGUMENT...]: the network fails, and then recovers.

Each scenario runs in its own network namespaces, as in network_scenarios.py. It sends
40 MB/s to a receiver that checks each heap, unless it says otherwise.
"""

import os
import select
import subprocess
import threading
from pathlib import Path
from typing import NamedTuple

from neighbour_scenarios import (
    HEAP,
    restore_neighbour_replies,
    stop_neighbour_replies,
)
from places import BOUND, eventually
from receiving import arrived
from streams import Running, balanced, noise
from two_hosts import (
    FAR,
    NEAR,
    NEAR_HOST,
    add_link,
    counter_of,
    inside,
    join,
    listen,
    main,
    set_ipv6_addresses,
    set_up,
)

SAMPLES = noise(100 * HEAP)  # the same that Running repeats
GROUPS = {"ipv4": "239.77.0.1", "ipv6": "ff15::77"}
# Under load, a full default buffer may take longer than a second to drain.
SLOW = {"rate": 2e6, "buffer_size": 65_536}
# Seconds for which heaps may be lost undetected, until the kernel reports the fault.
# Usually none are; the limit allows for CPU load.
MAX_DETECTION_TIME = 0.5


class Fault(NamedTuple):
    """Shell commands that begin and end a fault, and the errors that the sink counts.

    is_late: heaps may be lost until the kernel reports the fault
    """

    begin: str
    end: str
    errors: str
    is_late: bool = False


FIREWALL = (
    "nft 'add table inet t; add chain inet t o "
    "{{ type filter hook output priority 0; }}; add rule inet t o udp dport 7148 {}'"
)
NO_FIREWALL = "nft delete table inet t"
NO_ADDRESS = "ip addr del $ADDRESS dev v0"
NO_ADDRESS_ERRORS = "ENETUNREACH EADDRNOTAVAIL"
FAULTS = {
    "no_carrier": Fault(
        "$FAR ip link set v1 down", "$FAR ip link set v1 up", "ENETDOWN ENOBUFS", True
    ),
    "interface_down": Fault(
        "ip link set v0 down", "ip link set v0 up", "ENETDOWN ENOBUFS ENETUNREACH", True
    ),
    "same_address": Fault(
        NO_ADDRESS, "ip addr add $ADDRESS dev v0 nodad", NO_ADDRESS_ERRORS
    ),
    # Disables IPv6 for IPv4: its events must not trigger the sink's check.
    "other_ipv4_address": Fault(
        NO_ADDRESS,
        "echo 1 > /proc/sys/net/ipv6/conf/v0/disable_ipv6; "
        "ip addr add 10.77.0.7/24 dev v0",
        NO_ADDRESS_ERRORS,
    ),
    "other_ipv6_address": Fault(
        NO_ADDRESS, "ip addr add fd77::7/64 dev v0 nodad", NO_ADDRESS_ERRORS
    ),
    "no_route": Fault(
        "ip route del 10.77.0.0/24 dev v0",
        "ip route add 10.77.0.0/24 dev v0",
        "ENETUNREACH",
    ),
    "firewall": Fault(FIREWALL.format("drop"), NO_FIREWALL, "EPERM"),
    "rejecting_firewall": Fault(
        FIREWALL.format("reject with icmpx admin-prohibited"), NO_FIREWALL, "EPERM"
    ),
    # Linux disables IPv6 below 1280 bytes.
    "small_mtu": Fault(
        "ip link set v0 mtu 576", "ip link set v0 mtu 1500", "EMSGSIZE ENETUNREACH"
    ),
    "new_interface": Fault(
        "ip link del v0",
        "",  # see make_interface()
        "ENETDOWN ENOBUFS ENETUNREACH ENODEV EADDRNOTAVAIL",
        True,
    ),
}


class CheckingReceiver:
    """Records the heap counters of the packets that reach the far namespace."""

    def __init__(self, far, address, ports=(7148,)):
        self.sockets = [listen(far, address, port) for port in ports]
        self.counters = []
        self.ended = False
        self.thread = threading.Thread(target=self.receive, daemon=True)
        self.thread.start()

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

    def count_undetected(self, stats):
        """Wait for the last packets; returns how many heaps only seem to be sent."""
        self.ended = True
        self.thread.join()
        last = stats["heaps_sent"] + stats["heaps_dropped"]
        counters = [counter for counter in self.counters if counter <= last]
        assert len(counters) == len(set(counters))
        return stats["heaps_sent"] - len(counters)


def make_interface(far):
    add_link(far)
    set_up("v0", NEAR_HOST)
    set_ipv6_addresses(far)


def outage(far, name, family="ipv4", interface="", group="", ports=1):
    """Every heap that did not arrive was counted as dropped."""
    fault = FAULTS[name]
    width = {"ipv4": 24, "ipv6": 64}[family]
    os.environ["ADDRESS"] = f"{NEAR[family]}/{width}"
    os.environ["FAR"] = f"nsenter --net=/proc/{os.getpid()}/fd/{far.fileno()}"
    set_ipv6_addresses(far)
    address = GROUPS[family] if group else FAR[family]
    ports = [7148 + i for i in range(int(ports))]
    receiver = CheckingReceiver(far, address, ports)
    host = f"[{address}]" if family == "ipv6" else address
    endpoints = ",".join(f"{host}:{port}" for port in ports)
    interface = interface.replace("address", NEAR[family])
    options = {"heap_samples": HEAP, "rate": 40e6, "interface": interface}
    with Running(endpoints, **options) as sink:
        receiver.wait_for_more()
        shell(fault.begin)
        dropped = sink.heaps_dropped()
        # Add the other address before the sink's timeout allows it to use that one.
        further_drops = 100 if "other" in name else 10_000
        eventually(lambda: sink.heaps_dropped() > dropped + further_drops)
        shell(fault.end)
        if name == "new_interface":
            make_interface(far)
            if group:
                with inside(far):
                    join(receiver.sockets[0], group=address)
        elif "address" not in name:  # IPv6 addresses do not survive all faults
            set_ipv6_addresses(far)
        receiver.wait_for_more()
    stats = sink.stats()
    assert balanced(stats)
    assert stats["samples_pending"] == 0
    assert stats["send_errors"].keys() <= {"EAGAIN", *fault.errors.split()}, stats
    # With several destinations, Linux uses the address of another interface.
    is_late = fault.is_late or (name == "same_address" and len(ports) > 1)
    detection_time = MAX_DETECTION_TIME if is_late else 0
    undetected = receiver.count_undetected(stats)
    assert 0 <= undetected <= detection_time * options["rate"] / HEAP, stats
    return {"undetected": undetected, **stats}


def shell(command):
    subprocess.run(command, shell=True, check=True, timeout=BOUND)


def silent_neighbour(far):
    """A neighbour stops replying: heaps are lost undetected until Linux notices."""
    for setting, value in {
        "base_reachable_time_ms": 1000,
        "delay_first_probe_time": 1,
        "retrans_time_ms": 100,
    }.items():
        Path(f"/proc/sys/net/ipv4/neigh/v0/{setting}").write_text(str(value))
    receiver = CheckingReceiver(far, FAR["ipv4"])
    with Running(f"{FAR['ipv4']}:7148", heap_samples=HEAP, **SLOW) as sink:
        receiver.wait_for_more()
        stop_neighbour_replies(far)
        eventually(lambda: sink.heaps_dropped() > 1000)
        restore_neighbour_replies(far)
        receiver.wait_for_more()
    stats = sink.stats()
    assert balanced(stats)
    assert stats["send_errors"].keys() == {"EHOSTUNREACH"}
    # Until the sink polls the neighbour, Linux reports dropped packets as sent.
    undetected = receiver.count_undetected(stats)
    assert 0 <= undetected <= MAX_DETECTION_TIME * SLOW["rate"] / HEAP, stats
    return {"undetected": undetected, **stats}


def ipv6_group_without_an_address(far):
    """Linux keeps using the removed source address of the socket: nothing is lost."""
    set_ipv6_addresses(far)
    group = GROUPS["ipv6"]
    receiver = CheckingReceiver(far, group)
    options = {"heap_samples": HEAP, "interface": "v0", **SLOW}
    with Running(f"[{group}]:7148", **options) as sink:
        receiver.wait_for_more()
        shell(f"ip addr del {NEAR['ipv6']}/64 dev v0")
        receiver.wait_for_more()
    stats = sink.stats()
    assert stats["heaps_dropped"] == 0
    assert receiver.count_undetected(stats) == 0
    return stats


def made_again_while_stopped(far):
    """The interface is recreated between two runs: the second run uses it at once."""
    set_ipv6_addresses(far)
    sock = listen(far, FAR["ipv6"])
    options = {"heap_samples": HEAP, "send_stop": False, **SLOW}
    running = Running(f"[{FAR['ipv6']}]:7148", interface=NEAR["ipv6"], **options)
    with running:
        sock.recv(2000)
    shell("ip link del v0")
    make_interface(far)
    list(arrived(sock))  # read all
    sent = running.sink.heaps_sent()
    with running as sink:
        assert counter_of(sock.recv(2000)) == sent + 1
    assert sink.heaps_dropped() == 0
    return sink.stats()


if __name__ == "__main__":
    main(globals())
