# Copyright 2026 The gr-spead authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Receives heaps whose items are found by position, as mkrecv at Effelsberg does."""

import collections
import contextlib
import selectors
import threading

from common import spead_packet
from common.interrupts import at_interrupt

from instruments.heap_groups import HeapGroups

HEAP_ADDRESS_BITS = 48
BATCH = 64  # packets read from a socket before the next socket is read
INTERVAL = 0.1  # seconds between checks of Ctrl-C and of the timeout


class Receiver:
    """Checks packets, and adds their payload to its groups.

    groups: the HeapGroups
    rejected: a dict of packets for each reason
    ends: end-of-stream heaps
    """

    def __init__(self, positions, write):
        self.groups = HeapGroups(positions, write)
        self.rejected = collections.Counter()
        self.ends = 0
        self._positions = positions

    def add(self, datagram):
        """Add a packet (bytes-like), or reject it."""
        try:
            packet = spead_packet.parse(datagram)
        except ValueError as error:
            reason = str(error)
        else:
            reason = self._add_packet(packet)
        if reason:
            self.rejected[reason] += 1

    def _add_packet(self, packet):
        """Add a packet; returns the reason if it is rejected."""
        required, items = packet.items[:4], packet.items[4:]
        if tuple(item.id for item in required if item.immediate) != (
            spead_packet.REQUIRED
        ):
            return "required items not first"
        counter, heap_length, offset, payload_length = (item.value for item in required)
        if payload_length != len(packet.payload):
            return "payload length"
        if packet.is_end_of_stream():
            self.ends += 1
            return None
        if packet.heap_address_bits != HEAP_ADDRESS_BITS:
            return "not SPEAD-64-48"
        if counter == 1:
            return "heap counter 1"
        positions = self._positions
        if heap_length != positions.heap_bytes:
            return "heap length"
        if offset + payload_length > heap_length:
            return "payload offset"
        if len(items) <= max(positions.timestamp, positions.stream):
            return "too few items"
        # Like mkrecv, it does not check the IDs of the items.
        timestamp = items[positions.timestamp].value
        value = items[positions.stream].value & positions.mask
        if value not in positions.values:
            return "unknown stream"
        if not self.groups.on_grid(timestamp):
            return "timestamp off the grid"
        if not self.groups.within_reach(timestamp):
            return "timestamp out of reach"
        stream = positions.values.index(value)
        self.groups.add(timestamp, stream, offset, packet.payload)
        return None

    def summary(self):
        """The counters as a dict; the lists are for the streams."""
        groups = self.groups
        return {
            "complete": groups.first is not None
            and not any(groups.missing)
            and not self.rejected,
            "received": groups.received,
            "missing": groups.missing,
            "rejected": dict(self.rejected),
            "late": groups.late,
            "duplicates": groups.duplicates,
            "ends": self.ends,
            "first_timestamp": groups.first,
            "last_timestamp": groups.last,
        }


def datagrams(sockets, timeout=None):
    """Yield datagrams until Ctrl-C, or until none comes for `timeout` seconds.

    A datagram is valid until the next one.
    """
    interrupted = threading.Event()
    buffer = memoryview(bytearray(65536))
    with selectors.DefaultSelector() as readable, at_interrupt(interrupted.set):
        for sock in sockets:
            sock.setblocking(False)
            readable.register(sock, selectors.EVENT_READ)
        quiet = 0  # seconds
        while not interrupted.is_set() and (timeout is None or quiet < timeout):
            ready = readable.select(INTERVAL)
            quiet = 0 if ready else quiet + INTERVAL
            for key, _ in ready:
                with contextlib.suppress(BlockingIOError):
                    for _ in range(BATCH):
                        yield buffer[: key.fileobj.recv_into(buffer)]


def receive(sockets, positions, write, timeout=None, max_heaps=None):
    """Receive from bound sockets; return the summary, a dict.

    write: called with a timestamp and a list of heaps, see HeapGroups

    Ends at the first end-of-stream heap from any socket, after `timeout` seconds
    without a packet, after `max_heaps` heaps, or at Ctrl-C.
    """
    receiver = Receiver(positions, write)
    for datagram in datagrams(sockets, timeout):
        receiver.add(datagram)
        if receiver.ends or receiver.groups.complete == max_heaps:
            break
    receiver.groups.flush()
    return receiver.summary()
