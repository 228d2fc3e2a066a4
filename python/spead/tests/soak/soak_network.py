# Copyright 2026 The gr-spead authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""The network of the soak: two hosts, and a bridge between them that counts packets.

    near: v0 -- m0: bridge: m1 -- v1: far

The bridge can drop, delay and duplicate packets. The network ends with this process.
"""

import json
import os
import subprocess

from places import BOUND
from two_hosts import FAR, NEAR, inside, new_namespace, shape, tool

PORT = 7148
STREAM = f"udp dport {PORT} udp length > 8"  # excludes empty datagrams

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
ARRIVAL = f"""
table inet soak {{
  counter arrived {{}}
  chain arrival {{
    type filter hook prerouting priority -300
    iifname v1 {STREAM} counter name arrived
  }}
}}
"""


def path_of(namespace):
    """The namespace as an argument of ip."""
    return f"/proc/{os.getpid()}/fd/{namespace.fileno()}"


def printed(*command):
    """What a program prints as JSON about the namespace of this thread."""
    return json.loads(subprocess.check_output(command, timeout=BOUND))


def nft_counters(family):
    """The packet counters of a table: name -> packets."""
    listed = printed("nft", "--json", "list", "counters", "table", family, "soak")
    counters = [entry["counter"] for entry in listed["nftables"] if "counter" in entry]
    return {counter["name"]: counter["packets"] for counter in counters}


def transmit_drops(device):
    """Packets dropped by a veth device: its peer is down, or the queue is full."""
    (link,) = printed("ip", "-j", "-s", "link", "show", "dev", device)
    return link["stats64"]["tx"]["dropped"]


def queue_drops(device):
    (queue,) = printed("tc", "-s", "-j", "qdisc", "show", "dev", device)
    return queue["drops"]


def socket_drops():
    """Datagrams that arrived at a full socket buffer."""
    counted = printed("nstat", "--json", "--ignore", "--noupdate")["kernel"]
    names = "UdpRcvbufErrors", "UdpMemErrors", "Udp6RcvbufErrors", "Udp6MemErrors"
    return sum(counted.get(name, 0) for name in names)


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
            tool("nft", BRIDGE)
        with inside(self.far):
            set_up("v1", FAR)
            tool("nft", ARRIVAL)
        set_up("v0", NEAR)

    def set_path(self, cut=False, loss=0, late=0, repeat=0):
        """cut: drop all packets; loss, late and repeat: fractions, per mille."""
        bridge, device = "bridge soak path", "netdev soak path"
        fraction_rule = f"{STREAM} numgen random mod 1000 <"
        rules = [f"flush chain {bridge}", f"flush chain {device}"]
        if cut:
            rules.append(f"add rule {bridge} {STREAM} counter name cut drop")
        if loss:
            rules.append(
                f"add rule {bridge} {fraction_rule} {loss} counter name lost drop"
            )
        if repeat:
            rule = f"{fraction_rule} {repeat} counter name repeated dup to x0"
            rules.append(f"add rule {device} {rule}")
        if late:
            rules.append(f"add rule {device} {fraction_rule} {late} fwd to x0")
        with inside(self.bridge):
            tool("nft", "; ".join(rules))

    def set_carrier(self, working):
        with inside(self.bridge):
            tool("ip", "link", "set", "m0", "up" if working else "down")

    def set_interface(self, working):
        if working:
            set_up("v0", NEAR)
        else:
            tool("ip", "link", "set", "v0", "down")

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


def set_up(device, addresses):
    """Also again: an interface that goes down loses its IPv6 addresses."""
    tool("ip", "link", "set", device, "up")
    tool("ip", "addr", "replace", f"{addresses['ipv4']}/24", "dev", device)
    tool("ip", "addr", "replace", f"{addresses['ipv6']}/64", "dev", device, "nodad")
