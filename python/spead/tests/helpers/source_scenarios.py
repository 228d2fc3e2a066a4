# Copyright 2026 The gr-spead authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""source_scenarios.py SCENARIO: a source in the far network namespace.

Each scenario runs in its own network namespaces, as in network_scenarios.py.
"""

import contextlib
import hashlib
import json
import random
import socket
import subprocess
import sys

import numpy as np
from gnuradio import spead
from inputs import run_all
from places import HELPERS, eventually
from received_streams import Receiving, joined, packets_by_heap
from starting_receiver import ranges
from streams import Running, noise
from two_hosts import (
    FAR_HOST,
    NEAR_HOST,
    add_link,
    inside,
    main,
    set_ipv6_addresses,
    set_up,
    tool,
)

GROUPS = ["239.77.0.0+7:7148", "239.77.0.8+7:7148"]  # of each polarisation
HEAP = 4096


def receiving_at(far, endpoints, **options):
    with inside(far):
        return Receiving(endpoints, **options)


def polarisations_in_groups(far):
    samples = [noise(200 * HEAP, seed) for seed in (1, 2)]
    with receiving_at(far, GROUPS, num_outputs=2, interface=FAR_HOST) as receiver:
        sink = spead.sink(GROUPS, HEAP, num_inputs=2, interface="v0", ttl=2, rate=8e6)
        run_all(sink, *samples)
        receiver.wait()
    for i, own in enumerate(samples):
        np.testing.assert_array_equal(receiver.samples(i), own)
        assert receiver.tags("timestamp", i) == [(0, 0)]
    return receiver.stats


def ipv6_group(far):
    set_ipv6_addresses(far)
    samples = noise(100 * HEAP)
    for endpoint in ("[ff15::77:1]:7148", "[ff02::114]:7148", "[fd77::2]:7149"):
        with receiving_at(far, endpoint, interface="v1") as receiver:
            run_all(spead.sink(endpoint, HEAP, interface="v0", rate=8e6), samples)
            receiver.wait()
        np.testing.assert_array_equal(receiver.samples(), samples)
    return receiver.stats


def receivers_that_start_together(far):
    """Ten processes on a group, made at random times: the same tick at the same offset.

    Packets are lost. The last process starts after the tick.
    """
    group, chooser = "239.77.1.0", random.Random(5)
    samples = noise(100 * HEAP)
    packets = joined(packets_by_heap(samples, HEAP, descriptors="every"))
    tick = 60 * HEAP + 1234
    begins = sorted(chooser.randrange(5 * HEAP, 50 * HEAP) for _ in range(9))
    begins.append(tick + HEAP)
    command = [sys.executable, HELPERS / "starting_receiver.py", f"{group}:7148"]
    command += [FAR_HOST, str(tick)]
    with contextlib.ExitStack() as stack:
        pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "text": True}
        with inside(far):
            processes = [
                stack.enter_context(subprocess.Popen(command, **pipes)) for _ in begins
            ]
        sender = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        interface = socket.inet_aton(NEAR_HOST)
        sender.setsockopt(socket.IPPROTO_IP, socket.IP_MULTICAST_IF, interface)
        waiting = list(zip(begins, processes, strict=True))
        for i, packet in enumerate(packets):
            while waiting and i * len(samples) >= waiting[0][0] * len(packets):
                _, process = waiting.pop(0)
                process.stdin.write("\n")
                process.stdin.flush()
                assert process.stdout.readline() == "ready\n"
            if chooser.random() > 0.02 or i == len(packets) - 1:
                sender.sendto(packet, (group, 7148))
        # the log of GNU Radio comes first
        ends = [process.stdout.read().splitlines()[-1] for process in processes]
    reports = [json.loads(line) for line in ends]
    for begin, report in zip(begins, reports, strict=True):
        assert report["times"] == [[0, tick]], report
        assert report["missing"]
        assert bool(report["early"]) == (begin < tick)
        kept = np.delete(samples[tick:][: report["count"]], ranges(report["missing"]))
        assert report["digest"] == hashlib.sha256(kept).hexdigest()
    return {}


def groups_of_others(far):
    """A source ignores groups that other sockets have joined at the same port."""
    samples = noise(50 * HEAP)
    with (
        receiving_at(far, "239.77.0.1:7148", interface="v1") as other,
        receiving_at(far, "239.77.0.2:7148", interface="v1") as receiver,
    ):
        for group in ("239.77.0.1", "239.77.0.2"):
            sink = spead.sink(f"{group}:7148", HEAP, interface="v0", rate=8e6)
            run_all(sink, samples)
        receiver.wait()
        other.wait()
    np.testing.assert_array_equal(receiver.samples(), samples)
    np.testing.assert_array_equal(other.samples(), samples)
    return receiver.stats


def interface_down(far, endpoint):
    """After an outage, samples keep their position; the missing ones are counted."""
    pattern = noise(100000)  # the samples that Running repeats
    with (
        receiving_at(far, endpoint, interface="v1", max_gap=2**32) as receiver,
        Running(endpoint, None, heap_samples=HEAP, interface="v0", rate=16e6) as sink,
    ):
        eventually(lambda: receiver.stats["samples_out"] > 10**6)
        with inside(far):
            tool("ip", "link", "set", "v1", "down")
        # more samples than the sink can buffer
        before = sink.stats()["samples_in"]
        eventually(lambda: sink.stats()["samples_in"] > before + 12 * 10**6)
        with inside(far):
            tool("ip", "link", "set", "v1", "up")
        before = receiver.stats["samples_out"]
        eventually(lambda: receiver.stats["samples_out"] > before + 3 * 10**6)
    received = receiver.samples()
    expected = np.resize(pattern, len(received))
    for begin, n in receiver.tags("missing"):
        expected[begin : begin + n] = 0
    np.testing.assert_array_equal(received, expected)
    stats = receiver.stats
    assert stats["samples_missing"] > 0
    assert stats["samples_out"] == (
        stats["samples_received"] + stats["samples_missing"] - stats["samples_skipped"]
    )
    assert stats["discontinuities"] == 0
    return stats


def interface_made_again(far, endpoint):
    """After the interface is recreated, the next run joins the group on the new one."""
    receiver = receiving_at(far, endpoint, interface="v1", end_on_stop=False)

    def send():
        received = receiver.stats["samples_received"]
        run_all(spead.sink(endpoint, HEAP, interface="v0", rate=8e6), noise(50 * HEAP))
        return receiver.stats["samples_received"] > received

    with receiver:
        eventually(send)
        tool("ip", "link", "del", "v0")
        add_link(far)
        set_up("v0", NEAR_HOST)
    with inside(far):
        receiver.graph.start()
    eventually(send)
    receiver.graph.stop()
    receiver.wait()
    return receiver.stats


if __name__ == "__main__":
    main(globals())
