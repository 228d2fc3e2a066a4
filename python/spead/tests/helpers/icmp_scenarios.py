# Copyright 2026 The gr-spead authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""icmp_scenarios.py HOST...: a router as next hop rejects packets with ICMP errors.

The far namespace routes to networks that do not exist.
"""

from pathlib import Path

from places import eventually
from streams import Running
from two_hosts import FAR_HOST, inside, main, set_ipv6_addresses, tool

# how the router rejects the packets to a host
REJECTS = {
    "10.78.0.1": "icmp type host-unreachable",
    "10.78.0.2": "icmp type admin-prohibited",  # the same error as for the first
    "10.78.0.3": "icmp type prot-unreachable",
    "fd78::1": "icmpv6 type no-route",
}
NARROW = "10.79.0.1"  # a host behind a link with a small MTU
CHAIN = "add chain inet t f { type filter hook forward priority 0; };"


def make_router(far):
    tool("ip", "route", "add", "10.78.0.0/15", "via", FAR_HOST)
    set_ipv6_addresses(far)
    tool("ip", "route", "add", "fd78::/64", "via", "fd77::2")
    rules = [
        f"add rule inet t f {'ip6' if ':' in host else 'ip'} daddr {host} reject"
        f" with {reply};"
        for host, reply in REJECTS.items()
    ]
    with inside(far):
        net = Path("/proc/sys/net")
        (net / "ipv4/ip_forward").write_text("1")
        (net / "ipv4/icmp_ratelimit").write_text("0")
        (net / "ipv6/conf/all/forwarding").write_text("1")
        for device, mtu in (("wide", "1500"), ("narrow", "1280")):
            tool("ip", "link", "add", device, "type", "veth", "peer", f"{device}-end")
            tool("ip", "link", "set", device, "mtu", mtu, "up")
            tool("ip", "link", "set", f"{device}-end", "up")
        tool("ip", "route", "add", "10.78.0.0/24", "dev", "wide")
        tool("ip", "route", "add", "fd78::/64", "dev", "wide")
        tool("ip", "route", "add", f"{NARROW}/32", "dev", "narrow")
        tool("nft", "add table inet t; " + CHAIN + "".join(rules))


def send_until_icmp_errors(far, *hosts):
    make_router(far)
    endpoints = ",".join(
        f"[{host}]:7148" if ":" in host else f"{host}:7148" for host in hosts
    )
    # slow enough for a router that limits its ICMP errors to 1000 per second
    pace = {"rate": 5e5, "burst_size": 1400, "buffer_size": 65_536}
    with Running(endpoints, heap_samples=1300, **pace) as sink:
        # several packets to each host if there are others
        eventually(lambda: sink.icmp_errors() > 10 * (len(hosts) - 1))
        if hosts == (NARROW,):  # Linux has now learned the path MTU
            eventually(lambda: sink.heaps_dropped() > 0)
    assert (sink.heaps_dropped() > 0) == (hosts == (NARROW,))
    return sink.stats()


if __name__ == "__main__":
    main(globals())
