# Copyright 2026 The gr-spead authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""source_scenarios.py SCENARIO: a source at the far end of a network of its own."""

import numpy as np
from gnuradio import spead
from inputs import run_all
from places import eventually
from received_streams import Receiving
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


def receiving(far, endpoints, **options):
    with inside(far):
        return Receiving(endpoints, **options)


def polarisations_in_groups(far):
    samples = [noise(200 * HEAP, seed) for seed in (1, 2)]
    with receiving(far, GROUPS, num_outputs=2, interface=FAR_HOST) as there:
        sink = spead.sink(GROUPS, HEAP, num_inputs=2, interface="v0", ttl=2, rate=8e6)
        run_all(sink, *samples)
        there.wait()
    for i, own in enumerate(samples):
        np.testing.assert_array_equal(there.samples(i), own)
        assert there.tags("timestamp", i) == [(0, 0)]
    return there.stats


def ipv6_group(far):
    set_ipv6_addresses(far)
    samples = noise(100 * HEAP)
    for endpoint in ("[ff15::77:1]:7148", "[fd77::2]:7149"):
        with receiving(far, endpoint, interface="v1") as there:
            run_all(spead.sink(endpoint, HEAP, interface="v0", rate=8e6), samples)
            there.wait()
        np.testing.assert_array_equal(there.samples(), samples)
    return there.stats


def groups_of_others(far):
    """A group that another socket of the host has joined, at the same port."""
    samples = noise(50 * HEAP)
    with (
        receiving(far, "239.77.0.1:7148", interface="v1") as other,
        receiving(far, "239.77.0.2:7148", interface="v1") as there,
    ):
        for group in ("239.77.0.1", "239.77.0.2"):
            sink = spead.sink(f"{group}:7148", HEAP, interface="v0", rate=8e6)
            run_all(sink, samples)
        there.wait()
        other.wait()
    np.testing.assert_array_equal(there.samples(), samples)
    np.testing.assert_array_equal(other.samples(), samples)
    return there.stats


def interface_down(far, endpoint):
    """The stream goes on in its place, and what is missing is counted."""
    pattern = noise(100000)  # which the sender repeats
    with (
        receiving(far, endpoint, interface="v1", max_gap=2**32) as there,
        Running(endpoint, None, heap_samples=HEAP, interface="v0", rate=16e6) as sink,
    ):
        eventually(lambda: there.stats["samples_out"] > 10**6)
        with inside(far):
            tool("ip", "link", "set", "v1", "down")
        # more than the queues of the sink hold
        before = sink.stats()["samples_in"]
        eventually(lambda: sink.stats()["samples_in"] > before + 12 * 10**6)
        with inside(far):
            tool("ip", "link", "set", "v1", "up")
        lost = there.stats["samples_out"]
        eventually(lambda: there.stats["samples_out"] > lost + 3 * 10**6)
    got = there.samples()
    expected = np.resize(pattern, len(got))
    for at, n in there.tags("missing"):
        expected[at : at + n] = 0
    np.testing.assert_array_equal(got, expected)
    stats = there.stats
    assert stats["samples_missing"] > 0
    assert stats["samples_out"] == (
        stats["samples_received"] + stats["samples_missing"] - stats["samples_skipped"]
    )
    assert stats["discontinuities"] == 0
    return stats


def interface_made_again(far, endpoint):
    """The next run joins the group again, and is bound to the new interface."""
    there = receiving(far, endpoint, interface="v1", end_on_stop=False)

    def send():
        received = there.stats["samples_received"]
        run_all(spead.sink(endpoint, HEAP, interface="v0", rate=8e6), noise(50 * HEAP))
        return there.stats["samples_received"] > received

    with there:
        eventually(send)
        tool("ip", "link", "del", "v0")
        add_link(far)
        set_up("v0", NEAR_HOST)
    with inside(far):
        there.graph.start()
    eventually(send)
    there.graph.stop()
    there.wait()
    return there.stats


if __name__ == "__main__":
    main(globals())
