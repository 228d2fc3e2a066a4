# Copyright 2026 The gr-spead authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""The network of the soak: two hosts, and a bridge between them that counts packets.

    near: v0 -- m0: bridge: m1 -- v1: far

The bridge can drop, delay and duplicate packets. The network ends with this process.
"""

import json
import os
import subprocess
from pathlib import Path

from places import BOUND
from two_hosts import FAR, NEAR, inside, new_namespace, shape, tool

PORTS = (7148, 7149)
# excludes empty datagrams
STREAM = f"udp dport {{ {PORTS[0]}, {PORTS[1]} }} udp length > 8"
GROUPS = {"ipv4": "239.77.0.1", "ipv6": "ff15::77"}

BRIDGE = f"""
table bridge soak {{
  counter admitted {{}}
  counter cut {{}}
  counter lost {{}}
  chain port {{
    type filter hook prerouting priority 0
    iifname m0 {STREAM} counter name admitted
  }}
  chain path {{ type filter hook forward priority 0; }}
}}
table netdev soak {{
  counter entered {{}}
  counter repeated {{}}
  chain entry {{
    type filter hook ingress device m0 priority 0
    {STREAM} counter name entered
  }}
  chain slow {{ type filter hook ingress device x1 priority 0; fwd to m1; }}
  chain path {{ type filter hook egress device m1 priority 0; }}
}}
"""
# Until the sender notices that its address was removed, it may send from 0.0.0.0; the
# far host drops such packets.
ARRIVAL = f"""
table inet soak {{
  counter arrived {{}}
  counter unaddressed {{}}
  chain arrival {{
    type filter hook prerouting priority -300
    iifname v1 {STREAM} counter name arrived
    iifname v1 {STREAM} ip saddr 0.0.0.0 counter name unaddressed
  }}
}}
"""


def path_of(namespace):
    """The namespace as an argument of ip."""
    return f"/proc/{os.getpid()}/fd/{namespace.fileno()}"


def nft(rules):
    tool("nft", rules)


def nft_counters(family):
    """The packet counters of a table: name -> packets."""
    command = ["nft", "--json", "list", "counters", "table", family, "soak"]
    listed = json.loads(subprocess.check_output(command, timeout=BOUND))["nftables"]
    return {
        each["counter"]["name"]: each["counter"]["packets"]
        for each in listed
        if "counter" in each
    }


def transmit_drops(device):
    """Packets dropped by a veth device: its peer is down, or the queue is full."""
    # /sys shows the namespace in which it was mounted, not that of this thread.
    for line in Path("/proc/thread-self/net/dev").read_text().splitlines():
        name, _, figures = line.partition(":")
        if name.strip() == device:
            return int(figures.split()[11])
    raise AssertionError(f"no device {device}")


def queue_drops(device):
    command = ["tc", "-s", "-j", "qdisc", "show", "dev", device]
    (queue,) = json.loads(subprocess.check_output(command, timeout=BOUND))
    return queue["drops"]


def protocol_counters():
    """The counters of IP and UDP, such as UdpRcvbufErrors and Ip6InDiscards."""
    found = {}
    lines = Path("/proc/thread-self/net/snmp").read_text().splitlines()
    for names, values in zip(lines[::2], lines[1::2], strict=True):
        protocol, *names = names.replace(":", "").split()
        for name, value in zip(names, values.split()[1:], strict=True):
            found[protocol + name] = int(value)
    for line in Path("/proc/thread-self/net/snmp6").read_text().splitlines():
        name, value = line.split()
        found[name] = int(value)
    return found


def socket_drops():
    """Datagrams that arrived at a full socket buffer."""
    found = protocol_counters()
    names = ("RcvbufErrors", "MemErrors")
    return sum(found.get(udp + name, 0) for udp in ("Udp", "Udp6") for name in names)


class Network:
    """Creates the hosts and the bridge; the calling thread enters the near host."""

    def __init__(self):
        self.far = new_namespace()
        self.bridge = new_namespace()
        self.near = new_namespace()
        link = ["ip", "link", "add"]
        tool(*link, "v0", "type", "veth", "peer", "m0", "netns", path_of(self.bridge))
        # Without segmentation offload, the bridge counts single packets.
        tool("ethtool", "-K", "v0", "tx-udp-segmentation", "off")
        with inside(self.bridge):
            tool(*link, "m1", "type", "veth", "peer", "v1", "netns", path_of(self.far))
            tool(*link, "x0", "type", "veth", "peer", "x1")
            tool(*link, "name", "bridge", "type", "bridge", "mcast_snooping", "0")
            for device in ("m0", "m1"):
                tool("ip", "link", "set", device, "master", "bridge")
            for device in ("m0", "m1", "x0", "x1", "bridge"):
                tool("ip", "link", "set", device, "up")
            shape("8mbit", "2kb", "100kb", "x0")  # delays packets that take this detour
            nft(BRIDGE)
        with inside(self.far):
            tool("ip", "addr", "add", f"{FAR['ipv4']}/24", "dev", "v1")
            tool("ip", "addr", "add", f"{FAR['ipv6']}/64", "dev", "v1", "nodad")
            tool("ip", "link", "set", "v1", "up")
            nft(ARRIVAL)
        tool("ip", "link", "set", "v0", "up")
        self.set_addresses()

    def set_addresses(self):
        """Set them again after link down, which removes the IPv6 addresses."""
        tool("ip", "addr", "replace", f"{NEAR['ipv4']}/24", "dev", "v0")
        tool("ip", "addr", "replace", f"{NEAR['ipv6']}/64", "dev", "v0", "nodad")

    # Faults at the bridge.

    def set_path(self, cut=False, loss=0, late=0, repeat=0):
        """cut: drop all packets; loss, late and repeat: fractions, per mille."""
        bridge, device = "bridge soak path", "netdev soak path"
        some = f"{STREAM} numgen random mod 1000 <"
        rules = [f"flush chain {bridge}", f"flush chain {device}"]
        if cut:
            rules.append(f"add rule {bridge} {STREAM} counter name cut drop")
        if loss:
            rules.append(f"add rule {bridge} {some} {loss} counter name lost drop")
        if repeat:
            rule = f"{some} {repeat} counter name repeated dup to x0"
            rules.append(f"add rule {device} {rule}")
        if late:
            rules.append(f"add rule {device} {some} {late} fwd to x0")
        with inside(self.bridge):
            nft("; ".join(rules))

    # Faults at the near host: False starts the fault, True ends it.

    def carrier(self, working):
        with inside(self.bridge):
            tool("ip", "link", "set", "m0", "up" if working else "down")

    def interface(self, working):
        tool("ip", "link", "set", "v0", "up" if working else "down")
        if working:
            self.set_addresses()

    def address(self, working):
        if working:
            self.set_addresses()
        else:
            tool("ip", "addr", "flush", "dev", "v0", "scope", "global")

    def firewall(self, working):
        if working:
            nft("delete table inet near")
        else:
            hook = "{ type filter hook output priority 0; }"
            nft(f"add table inet near; add chain inet near out {hook}")
            nft(f"add rule inet near out {STREAM} drop")

    def mtu(self, working):
        tool("ip", "link", "set", "v0", "mtu", "1500" if working else "576")
        if working:
            self.set_addresses()

    def protocols(self):
        """The counters of IP and UDP at the far host."""
        with inside(self.far):
            return protocol_counters()

    def counters(self):
        """Packets counted so far: passing a place, or dropped there."""
        now = {"sender drops": transmit_drops("v0")}
        with inside(self.bridge):
            now |= nft_counters("bridge") | nft_counters("netdev")
            # After link up, a bridge port drops packets for some time.
            now["port not ready"] = now["entered"] - now.pop("admitted")
            now["queues"] = queue_drops("x0")
            now["queues"] += transmit_drops("x0") + transmit_drops("m1")
        with inside(self.far):
            now |= nft_counters("inet")
            now["full socket"] = socket_drops()
        return now
