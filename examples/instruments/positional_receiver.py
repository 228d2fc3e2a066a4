# Copyright 2026 The gr-spead authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Receives heaps whose items are found by position, as mkrecv of Effelsberg does."""

import collections
import contextlib
import selectors
import threading

from common import spead_packet
from common.receiver_program import at_interrupt

from instruments.heap_groups import HeapGroups

HEAP_ADDRESS_BITS = 48
BATCH = 64  # packets read from one socket before the next one has its turn
INTERVAL = 0.1  # seconds between looks at whether it is over


class Receiver:
    """Takes packets in and keeps the account.

    groups: the HeapGroups that the heaps go to
    rejected: a dict of packets for each reason
    ends: end-of-stream heaps
    """

    def __init__(self, positions, write):
        self.groups = HeapGroups(positions, write)
        self.rejected = collections.Counter()
        self.ends = 0
        self._positions = positions

    def add(self, datagram):
        """Take in a datagram (bytes-like)."""
        reason = self._fault(datagram)
        if reason:
            self.rejected[reason] += 1

    def _fault(self, datagram):
        """Why a packet is of no use, or None; then it is in its group."""
        try:
            packet = spead_packet.parse(datagram)
        except ValueError as error:
            return str(error)
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
        # Whatever stands there: receivers by position do not look at the ID.
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
        """What has come and has been handed on, as a dict."""
        groups = self.groups
        return {
            "complete": groups.first is not None
            and not any(groups.missing)
            and not self.rejected,
            "received": groups.received,
            "missing": groups.missing,
            "rejected": dict(self.rejected),
            "late": groups.late,
            "twice": groups.twice,
            "ends": self.ends,
            "first_timestamp": groups.first,
            "last_timestamp": groups.last,
        }


def datagrams(sockets, timeout=None):
    """Yield what arrives, up to Ctrl-C or `timeout` seconds without any.

    Each is only valid until the next one.
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
    """Receive from bound sockets; the summary, as a dict.

    write: gets a timestamp and a list of heaps, see HeapGroups

    It ends with the first end-of-stream heap at any socket, as a stream of spead2 does;
    after `timeout` seconds without a packet; when `max_heaps` have come; on Ctrl-C.
    """
    receiver = Receiver(positions, write)
    for datagram in datagrams(sockets, timeout):
        receiver.add(datagram)
        if receiver.ends or receiver.groups.complete == max_heaps:
            break
    receiver.groups.flush()
    return receiver.summary()
