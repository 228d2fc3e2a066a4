# Copyright 2026 The gr-spead authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""icmp_scenarios.py SCENARIO: scenarios of test_faults.py with a router as next hop.

The far namespace routes to networks that do not exist, and answers with ICMP errors.
"""

import errno
from pathlib import Path

from places import eventually
from streams import Running
from two_hosts import FAR_HOST, inside, main, set_ipv6_addresses, tool

# host: (how the router rejects its packets, errno that Linux reports to the sender)
REJECTS = {
    "10.78.0.1": ("icmp type host-unreachable", errno.EHOSTUNREACH),
    "10.78.0.2": ("icmp type admin-prohibited", errno.EHOSTUNREACH),
    "10.78.0.3": ("icmp type net-unreachable", errno.ENETUNREACH),
    "10.78.0.4": ("icmp type prot-unreachable", errno.ENOPROTOOPT),
    "10.78.0.5": ("icmp type port-unreachable", errno.ECONNREFUSED),
    "fd78::1": ("icmpv6 type addr-unreachable", errno.EHOSTUNREACH),
    "fd78::2": ("icmpv6 type no-route", errno.ENETUNREACH),
    "fd78::3": ("icmpv6 type admin-prohibited", errno.EACCES),
}
IPV4 = [host for host in REJECTS if "." in host]
NARROW = "10.79.0.1"  # a host behind a link with a small MTU
CHAIN = "add chain inet t f { type filter hook forward priority 0; };"


def family(host):
    return "ip6" if ":" in host else "ip"


def make_router(far):
    tool("ip", "route", "add", "10.78.0.0/15", "via", FAR_HOST)
    set_ipv6_addresses(far)
    tool("ip", "route", "add", "fd78::/64", "via", "fd77::2")
    rules = [
        f"add rule inet t f {family(host)} daddr {host} reject with {how};"
        for host, (how, _) in REJECTS.items()
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


def send_until_icmp_errors(*hosts, errors):
    to = ",".join(f"[{host}]:7148" if ":" in host else f"{host}:7148" for host in hosts)
    # slow enough for a router that limits its ICMP errors to 1000 per second
    pace = {"rate": 5e5, "burst_size": 1400, "buffer_size": 65_536}
    with Running(to, heap_samples=1300, **pace) as sink:
        eventually(lambda: sink.icmp_errors() >= errors)
        done = sink.packets_sent() + sink.packets_dropped()
        eventually(lambda: sink.packets_sent() + sink.packets_dropped() > done + 20)
        if hosts == (NARROW,):  # Linux has now learned the path MTU
            eventually(lambda: sink.stats()["send_errors"].get("EMSGSIZE", 0) > 0)
            eventually(lambda: sink.heaps_dropped() > 0)
    if hosts != (NARROW,):
        assert sink.heaps_dropped() == 0
    return sink.icmp_errors()


def one_cause(far):
    make_router(far)
    return {host: send_until_icmp_errors(host, errors=1) for host in (*REJECTS, NARROW)}


def several_causes(far):
    make_router(far)
    return {"all": send_until_icmp_errors(*IPV4, errors=10 * len(IPV4))}


if __name__ == "__main__":
    main(globals())
