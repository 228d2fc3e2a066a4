# Copyright 2026 The gr-spead authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""bench_scenarios.py SCENARIO: spead-bench between two hosts in network namespaces."""

import contextlib
import re
import subprocess

from places import BOUND, BUILD
from two_hosts import FAR_HOST, NEAR_HOST, inside, main, set_up, shape, tool

PROGRAM = BUILD / "spead-bench"
# With a sysfs that shows the interfaces of the namespace, as on any host.
OWN_SYSFS = ["unshare", "--mount", "sh", "-c", 'mount -t sysfs s /sys; exec "$@"', "sh"]
HEADER, FRAME = 64, 42  # bytes of SPEAD; of Ethernet, IP and UDP, as tc counts them


@contextlib.contextmanager
def receiver(far):
    with inside(far):
        process = subprocess.Popen(
            [*OWN_SYSFS, PROGRAM, "receive", ":7148"], stdout=subprocess.PIPE, text=True
        )
    try:
        assert "waiting" in process.stdout.readline()
        yield
    finally:
        process.kill()
        process.communicate()


def sent(*options):
    """The output of a sender."""
    done = subprocess.run(
        [*OWN_SYSFS, PROGRAM, "send", f"{FAR_HOST}:7148", *options],
        capture_output=True,
        text=True,
        timeout=3 * BOUND,
        check=False,
    )
    assert not done.stderr
    return done.stdout


def samples_per_byte(heap, packet):
    """The samples that a link carries per byte that tc counts."""
    packets = -(-heap // (packet - HEADER))
    return heap / (packets * (packet + FRAME))


def add_switch():
    """Let the sender use a bridge, which hides losses of v0 from its socket."""
    tool("ip", "link", "add", "br0", "type", "bridge")
    tool("ip", "addr", "flush", "dev", "v0")
    tool("ip", "link", "set", "v0", "master", "br0")
    set_up("br0", NEAR_HOST)


def found_rate(far, megabits, heap=65536, packet=1464):
    """The rate of a token bucket filter is found, and the queue that loses is named."""
    add_switch()
    shape(f"{megabits}mbit", "128kb", "500kb")
    with receiver(far):
        output = sent("--heap-size", str(heap), "--packet-size", str(packet))
    low, high = map(float, re.match(r"([\d.]+) to ([\d.]+) MB/s", output).groups())
    rate = int(megabits) / 8 * samples_per_byte(heap, packet)
    assert 0.97 * rate < high < 1.05 * rate, (rate, output)
    # On a busy machine, a sender that catches up loses samples in single trials.
    assert 0.85 * rate < low < 1.03 * rate, (rate, output)
    assert re.search("sender: transmit queue of v0|the delay grew by", output)
    return {"output": output, "relative": [low / rate, high / rate]}


def firewall(far):
    """A firewall of the receiver drops UDP."""
    chain = "{ type filter hook input priority 0; }"
    with inside(far):
        tool("nft", f"add table ip t; add chain ip t c {chain}")
        tool("nft", "add rule ip t c udp dport 7148 drop")
    with receiver(far):
        output = sent("--seconds", "0.1")
    assert re.search("none of [0-9,]+ packets to UDP port 7148 of 10.77.0.2", output)
    assert "dropped behind it" in output
    return {}


def small_mtu(far):
    """A switch, here the other end of the link, has a smaller MTU than the sender."""
    tool("ip", "link", "set", "v0", "mtu", "9000")
    # a veth accepts segmented sends of any size
    tool("ethtool", "-K", "v0", "tx-udp-segmentation", "off")
    with receiver(far):
        output = sent("--seconds", "0.1")
    assert "v1 of the receiver got" in output
    assert "lost before it" in output
    assert re.search(r"packets of 1,4\d\d bytes arrive, not 8,256", output)
    assert "--packet-size 1472" in output
    return {}


if __name__ == "__main__":
    main(globals())
