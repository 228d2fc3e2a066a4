# Copyright 2026 The gr-spead authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""What the kernel counts of UDP on loopback: datagrams that were lost, and bytes."""

import threading
import time
from pathlib import Path

NET = Path("/proc/thread-self/net")  # the namespace of this thread, not of the process
EVERY = 0.01  # s
HEADERS = 20 + 8  # bytes of IPv4 and UDP


def udp_counters(text):
    """The counters of UDP by name, from the text of /proc/net/snmp."""
    lines = [line.split()[1:] for line in text.splitlines() if line.startswith("Udp:")]
    names, values = lines
    return dict(zip(names, map(int, values), strict=True))


def loopback_counters(text):
    """Bytes of UDP payload and packets dropped, from the text of /proc/net/dev.

    What is sent with segmentation offload passes as one packet, with one header. So
    headers must not count, for senders with and without it to be compared alike.
    """
    (line,) = (line for line in text.splitlines() if line.strip().startswith("lo:"))
    fields = [int(field) for field in line.partition(":")[2].split()]
    bytes_received, packets, _, dropped = fields[:4]
    return bytes_received - HEADERS * packets, dropped


def queued_bytes(text, port):
    """In a socket that is bound to the port, from /proc/net/udp's text, or None."""
    for line in text.splitlines()[1:]:
        _, local, _, _, queues, *_ = line.split()
        if int(local.rpartition(":")[2], 16) == port:
            return int(queues.partition(":")[2], 16)
    return None


def losses():
    """Datagrams so far that no receiver got: no room, no time, or nobody there."""
    udp = udp_counters((NET / "snmp").read_text())
    _, dropped = loopback_counters((NET / "dev").read_text())
    return udp["InErrors"] + udp["NoPorts"] + dropped


def unread_bytes(port):
    """What the receiver at this port has not read yet; None if there is no receiver."""
    for name in ("udp", "udp6"):
        queued = queued_bytes((NET / name).read_text(), port)
        if queued is not None:
            return queued
    return None


def middle_rate(times, counts):
    """What a counter grew by in a second, without the first and the last tenth of it.

    None if that is too short a time.
    """
    growth = counts[-1] - counts[0]
    low, high = counts[0] + 0.1 * growth, counts[0] + 0.9 * growth
    inside = [k for k, count in enumerate(counts) if low <= count <= high]
    if not growth or len(inside) < 3:
        return None
    first, last = inside[0], inside[-1]
    return (counts[last] - counts[first]) / (times[last] - times[first])


class LoopbackRate:
    """Watches how many bytes of UDP payload pass on loopback, while it is open."""

    def __enter__(self):
        self.times, self.counts = [], []
        self.done = threading.Event()
        self.thread = threading.Thread(target=self._watch)
        self.thread.start()
        return self

    def _watch(self):
        while True:
            self.counts.append(loopback_counters((NET / "dev").read_text())[0])
            self.times.append(time.monotonic())
            if self.done.wait(EVERY):
                return

    def __exit__(self, *_):
        self.done.set()
        self.thread.join()

    def rate(self):
        """Bytes per second; None if it was too short to tell."""
        return middle_rate(self.times, self.counts)
