# Copyright 2026 The gr-spead authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Blocks that receive and send whole heaps as PDUs."""

import threading
import time
from typing import Any

import numpy as np
import pmt
from gnuradio import gr

from .heap_items import DESCRIPTOR, FIRST_FREE, Description, descriptor, encode
from .heap_pdus import (
    EMPTY,
    HEAP_COUNTER,
    SCALAR_TYPES,
    dict_items,
    from_pmt,
    id_of,
    make_pdu,
    scalar_types,
    shortened,
)
from .spead_python import (
    _from_uniform_vector,
    _heap_receiver,
    _heap_sender,
    _max_heap_bytes,
    _queued_messages,
    _to_uniform_vector,
)

PDUS = pmt.intern("pdus")
MAX_DESCRIPTIONS = 4096  # of a sender
MAX_SENDERS = 64  # whose descriptions are remembered
# GNU Radio keeps each symbol forever, and its table becomes slow.
MAX_SYMBOLS = 65536
MAX_SYMBOL_BYTES = 16 << 20  # of all symbols
MAX_QUEUED = 256  # PDUs in the queue of a block
MAX_QUEUED_BYTES = 256 << 20
ITEM_BYTES = 512  # of an item in a PDU, besides its value
MAX_DRAIN_SECONDS = 2  # to send the queued PDUs when the flow graph stops


class Symbols:
    """Makes symbols of what the network sends, up to a number."""

    def __init__(self):
        self._known = {}
        self._bytes = 0

    def intern(self, text):
        """Raises ValueError if there is no room for another symbol."""
        symbol = self._known.get(text)
        if symbol is None:
            if (
                len(self._known) >= MAX_SYMBOLS
                or self._bytes + len(text) > MAX_SYMBOL_BYTES
            ):
                raise ValueError(
                    f"there are already {len(self._known)} different names and texts,"
                    " which GNU Radio would keep forever"
                )
            symbol = self._known[text] = pmt.intern(text)
            self._bytes += len(text)
        return symbol


class HeapDecoder:
    """Turns heaps into values, and remembers the descriptors of each sender."""

    def __init__(self, warn):
        self._warn = warn
        self._senders = {}  # number -> ({ID: Description}, {name: ID})
        self.items_undecodable = 0

    def values(self, bits, sender, descriptors, items):
        """Name -> str, scalar or array of the items of a heap.

        descriptors: as (address bits, items), or None if it is no packet
        items: (ID, integer or bytes)
        """
        known, ids = self._senders.pop(sender, ({}, {}))
        self._senders[sender] = known, ids  # the latest sender is the last
        if len(self._senders) > MAX_SENDERS:
            del self._senders[next(iter(self._senders))]
        for content in descriptors:
            self._add(known, ids, content)
        values = {}
        for id, value in items:
            name, decoded = self._decode(known.get(id), id, value, bits)
            values[name] = decoded
        return values

    def _add(self, known, ids, content):
        try:
            if content is None:
                raise ValueError("a descriptor is no SPEAD packet")
            description = Description.read(*content)
        except ValueError as error:
            return self.refuse(f"descriptor ignored: {error}")
        # as in spead2, it replaces those with its ID and with its name
        if (other := known.pop(description.id, None)) is not None:
            del ids[other.name]
        known.pop(ids.pop(description.name, None), None)
        if len(known) < MAX_DESCRIPTIONS:
            known[description.id] = description
            ids[description.name] = description.id
        else:
            self.refuse(f"a sender describes more than {MAX_DESCRIPTIONS} items")

    def _decode(self, description, id, value, bits):
        if description is not None:
            name = description.name
            # an empty name, or one that is the ID of another item, names nothing
            if not name or id_of(name) not in (None, id):
                name = hex(id)
            try:
                return name, description.decode(value, bits)
            except Exception as error:  # numpy raises any kind
                self.refuse(f"item {name[:40]!r} cannot be decoded: {error}")
        return hex(id), np.uint64(value) if isinstance(value, int) else value

    def refuse(self, reason):
        self.items_undecodable += 1
        self._warn(reason)


class heap_source(gr.basic_block):
    """SPEAD Heap Source: receives whole heaps and publishes each as a PDU.

    For what is no stream of samples: metadata, bursts, visibilities, structures. Port
    "pdus" publishes a pair of a dict, item name -> value, and a vector. heap_to_numpy()
    converts it to numpy. A heap is published when all of it has arrived, or never.

    The constructor opens the sockets. It raises ValueError for an invalid argument, and
    RuntimeError if a system call fails.

    endpoints: where to listen: "host:port", multicast groups such as
        "239.2.1.150+7:7148", or captures, as for source. The block ends after captures.
    interface: network interface to receive multicast from: a name or an address. Empty:
        the routing table selects it.
    data: name of the item that becomes the vector of the PDU, for GNU Radio's PDU
        blocks: the flat array, if PMT has vectors of its type. Empty: the vector is
        empty.
    """

    def __init__(self, endpoints: str, interface: str = "", data: str = "") -> None:
        gr.basic_block.__init__(self, "spead_heap_source", None, None)
        self.message_port_register_out(PDUS)
        if not isinstance(data, str):
            raise TypeError(
                f"spead.heap_source: data = {data!r} is invalid; allowed: a string"
            )
        self._data = data
        log = gr.logger(self.alias())
        self._receiver = _heap_receiver(endpoints, interface, log.warn)
        self._decoder = HeapDecoder(self._receiver.warn)
        self._symbols = Symbols()
        self._thread: threading.Thread = None
        self._is_stopping = threading.Event()

    def start(self) -> bool:
        self._is_stopping.clear()
        self._thread = threading.Thread(target=self._run, name="spead-heaps")
        self._thread.start()
        return True

    def stop(self) -> bool:
        self._is_stopping.set()
        if self._thread:
            self._thread.join()
            self._thread = None
        return True

    def _run(self):
        while not self._is_stopping.is_set() and not self._receiver.has_ended():
            for heap in self._receiver.receive(100):
                self._publish(*heap)
        self._receiver.end_run()
        if not self._is_stopping.is_set():
            done = pmt.cons(pmt.intern("done"), pmt.from_long(1))
            self.gateway._post(pmt.intern("system"), done)

    def _publish(self, counter, bits, sender, descriptors, items, invalid):
        for _ in range(invalid):
            self._decoder.refuse("an item begins behind the end of its heap")
        values = self._decoder.values(bits, sender, descriptors, items)
        if not values:
            return  # only descriptors
        size = sum(ITEM_BYTES + np.asarray(value).nbytes for value in values.values())
        limit = min(MAX_QUEUED, MAX_QUEUED_BYTES // size)
        while _queued_messages(self.to_basic_block(), PDUS) > limit:
            if self._is_stopping.wait(0.001):
                return
        pdu = make_pdu(
            values,
            self._vector(values),
            counter,
            self._symbols.intern,
            self._decoder.refuse,
        )
        self.message_port_pub(PDUS, pdu)

    def _vector(self, values):
        if self._data not in values:
            return EMPTY
        value = values[self._data]
        if isinstance(value, str):
            value = np.frombuffer(value.encode(), np.uint8)
        vector = _to_uniform_vector(
            np.require(np.ravel(value), requirements=("C", "A"))
        )
        if vector is None:
            self._decoder.refuse(
                f"item {self._data!r} of dtype {value.dtype} is no vector of PMT"
            )
            return EMPTY
        return vector

    def ports(self) -> list[int]:
        """The ports that the sockets are bound to, in the order of the endpoints."""
        return self._receiver.ports()

    def stats(self) -> dict[str, Any]:
        """The counters, which continue across stop() and start().

        heaps_received: heaps that arrived completely
        heaps_incomplete: heaps of which packets were missing
        streams_ended: end-of-stream heaps
        packets_received: SPEAD packets received
        packets_duplicate: packets that arrived again
        bytes_received: UDP payload of packets_received
        datagrams_dropped_by_socket: dropped by the kernel: buffer full
        packets_rejected: datagrams by reason: not SPEAD, contradictory, IP fragments
        items_undecodable: descriptors and items that could not be decoded, see the log;
            such items are published as integers or bytes under their IDs
        """
        return self._receiver.stats() | {
            "items_undecodable": self._decoder.items_undecodable
        }

    def __repr__(self):
        return f"<spead.heap_source from {self._receiver.endpoints()}>"


class HeapEncoder:
    """Turns values into items, and tells which descriptors are due.

    ids: name -> ID
    """

    def __init__(self, ids, heap_address_bits, descriptor_interval):
        self._bits = heap_address_bits
        self._interval = descriptor_interval
        self._ids = dict(ids)
        self._next_free = 0x1000
        self._used = set(ids.values())
        self._descriptions = {}  # name -> Description
        self._varying = set()  # names of items whose type or shape has changed
        self._repeat_time = None  # none before the first heap of a run

    @property
    def largest_id(self):
        return (1 << 63 - self._bits) - 1

    def start_run(self):
        """Descriptors are due again."""
        self._descriptions = {}
        self._repeat_time = None

    def encode(self, values):
        """The items of a heap and the descriptors for it, as (ID, integer or bytes).

        Raises ValueError with the reason.
        """
        items, described = [], []
        for name, value in values.items():
            try:
                item = encode(self._id(name), name, value)
                content = item.value(self._bits)
            except ValueError as error:
                raise ValueError(f"item {name!r}: {error}") from None
            items.append((item.description.id, content))
            described.append(item.description)
        size = sum(len(content) for _, content in items if isinstance(content, bytes))
        if size > _max_heap_bytes:
            raise ValueError(f"{size} bytes are more than {_max_heap_bytes}")
        descriptors = []
        for description in described:
            known = self._descriptions.get(description.name)
            if known is not None and known != description:
                # a receiver that loses one heap must not misread the following ones
                self._varying.add(description.name)
            if known != description or description.name in self._varying:
                descriptors.append(self._descriptor(description))
            self._descriptions[description.name] = description
        return items, descriptors

    def repeated(self, now):
        """The descriptors of all items, if they are due after those of a heap."""
        is_due = self._repeat_time is not None and now >= self._repeat_time
        if is_due or self._repeat_time is None:
            self._repeat_time = now + (self._interval or float("inf"))
        if not is_due:
            return []
        return [self._descriptor(known) for known in self._descriptions.values()]

    def _descriptor(self, description):
        return DESCRIPTOR, descriptor(description, self._bits)

    def _id(self, name):
        if not name or not name.isascii():
            raise ValueError("its name must be ASCII, and not empty")
        if name in self._ids:
            return self._ids[name]
        id = id_of(name)
        if id is None:
            id = self._next_free
            while id in self._used:
                id += 1
            self._next_free = id + 1
        elif id in self._used:
            raise ValueError("another item has this ID; see ids")
        if not FIRST_FREE <= id <= self.largest_id:
            raise ValueError(
                f"ID {id:#x} is out of range [{FIRST_FREE:#x}, {self.largest_id:#x}]"
            )
        self._ids[name] = id
        self._used.add(id)
        return id


class heap_sink(gr.basic_block):
    """SPEAD Heap Sink: sends each PDU as a heap.

    For what is no stream of samples: metadata, bursts, visibilities, structures. Port
    "pdus" takes pairs of a dict, item name -> value, and a vector. heap_from_numpy()
    makes them from numpy. Values are text (symbols), numbers, uniform vectors, or
    tuples of a dtype, a shape and a u8vector. Other PDUs are counted and logged.

    The constructor opens the socket. It raises ValueError for an invalid argument, and
    RuntimeError if a system call fails.

    destination: "host:port", a multicast group, or a capture, as for sink
    ids: item name -> ID. A name such as "0x1234" has that ID; other names get free IDs
        from 0x1000 on.
    data: name of the item that holds the vector of a PDU, unless that is empty
    descriptor_interval: interval between repetitions of the descriptors in seconds, for
        receivers that start late. They are sent before the next heap. 0: not repeated.
    heap_address_bits: 40 (SPEAD-64-40) or 48 (SPEAD-64-48)
    max_packet_size: maximum size of a packet in bytes of UDP payload; see sink
    heap_id_start: heap counter of the first heap
    heap_id_step: step from one heap counter to the next. If n sinks send to the same
        receiver, give them heap_id_start 0 to n - 1 and heap_id_step n.
    rate: rate at which to send, in bytes of UDP payload per second. 0: unlimited.
    send_stop: whether to send an end-of-stream heap when the flow graph stops
    interface: network interface to send from: a name or an address. Empty: the routing
        table selects it.
    ttl: time to live of multicast packets in hops, 0 to 255
    """

    def __init__(
        self,
        destination: str,
        *,
        ids: dict[str, int] | None = None,
        data: str = "data",
        descriptor_interval: float = 1.0,
        heap_address_bits: int = 40,
        max_packet_size: int = 1472,
        heap_id_start: int = 1,
        heap_id_step: int = 1,
        rate: float = 0.0,
        send_stop: bool = True,
        interface: str = "",
        ttl: int = 1,
    ) -> None:
        gr.basic_block.__init__(self, "spead_heap_sink", None, None)
        self.message_port_register_in(PDUS)
        self.set_msg_handler(PDUS, self._send)
        self.set_msg_handler(pmt.intern("system"), self._end)
        if not isinstance(data, str) or not data or not data.isascii():
            raise ValueError(
                f"spead.heap_sink: data = {data!r} is invalid; allowed: a name in ASCII"
            )
        self._data = data
        self._destination = destination
        log = gr.logger(self.alias())
        self._sender = _heap_sender(
            destination,
            log.warn,
            descriptor_interval=descriptor_interval,
            heap_address_bits=heap_address_bits,
            max_packet_size=max_packet_size,
            heap_id_start=heap_id_start,
            heap_id_step=heap_id_step,
            rate=rate,
            send_stop=send_stop,
            interface=interface,
            ttl=ttl,
        )
        ids = _checked_ids(ids or {}, (1 << 63 - heap_address_bits) - 1)
        self._encoder = HeapEncoder(ids, heap_address_bits, descriptor_interval)
        self._pdus_refused = 0
        self._pdus_dropped = 0

    def start(self) -> bool:
        self._encoder.start_run()
        self._sender.start()
        return True

    def stop(self) -> bool:
        self._sender.expect_end()
        end = time.monotonic() + MAX_DRAIN_SECONDS
        while (pdu := self.gateway.delete_head_nowait(PDUS)) is not None:
            if time.monotonic() < end:
                self._send(pdu)
            else:
                self._pdus_dropped += 1
        if self._pdus_dropped:
            self._sender.warn(f"{self._pdus_dropped} PDUs were dropped at the end")
        self._sender.stop()
        return True

    def _end(self, message):
        """Send what is queued: GNU Radio ends the block at this message."""
        while (pdu := self.gateway.delete_head_nowait(PDUS)) is not None:
            self._send(pdu)
        self.gateway.system_handler(message)

    def _send(self, pdu):
        try:
            items, descriptors = self._encoder.encode(self._values(pdu))
        except ValueError as error:
            self._pdus_refused += 1
            self._sender.warn(f"a PDU is not sent: {error}")
        else:
            if repeated := self._encoder.repeated(time.monotonic()):
                self._sender.send(repeated, False)
            self._sender.send(descriptors + items, True)
        self._sender.write_log()

    def _values(self, pdu):
        """Name -> text, scalar or array. Raises ValueError."""
        if not pmt.is_pair(pdu) or pmt.is_dict(pdu):
            raise ValueError(f"{shortened(pdu)} is no pair of a dict and a vector")
        items, vector = pmt.car(pdu), pmt.cdr(pdu)
        values = {}
        if not pmt.is_null(items):
            if not pmt.is_dict(items):
                raise ValueError(f"{shortened(items)} is no dict")
            types = scalar_types(items)
            for key, value in dict_items(items):
                if not pmt.is_symbol(key):
                    raise ValueError(f"the key {shortened(key)} is no name")
                name = pmt.symbol_to_string(key)
                if name in (HEAP_COUNTER, SCALAR_TYPES):
                    continue
                try:
                    values[name] = from_pmt(value, types.get(name))
                except ValueError as error:
                    raise ValueError(f"item {name!r}: {error}") from None
        if not pmt.is_null(vector):
            array = _from_uniform_vector(vector)
            if array is None:
                raise ValueError(f"{shortened(vector)} is no uniform vector")
            if array.size:
                values[self._data] = array
        if not values:
            raise ValueError("it has no items")
        return values

    def stats(self) -> dict[str, Any]:
        """The counters, which continue across stop() and start().

        heaps_sent: heaps of which all packets were sent
        heaps_dropped: heaps with a packet that was not sent
        packets_sent: packets handed to the kernel
        packets_dropped: packets that could not be sent
        bytes_sent: UDP payload of packets_sent
        icmp_errors: ICMP errors received: usually, no process listens
        send_errors: failed sends by error
        pdus_refused: PDUs that are no heaps; the log gives the reason
        pdus_dropped: PDUs that were still queued when the flow graph stopped
        """
        return self._sender.stats() | {
            "pdus_refused": self._pdus_refused,
            "pdus_dropped": self._pdus_dropped,
        }

    def __repr__(self):
        return f"<spead.heap_sink to {self._destination}>"


def _checked_ids(ids, largest):
    def refuse(allowed):
        raise ValueError(
            f"spead.heap_sink: ids = {ids!r} is invalid; allowed: {allowed}"
        )

    if not isinstance(ids, dict):
        refuse("a dict of names and IDs")
    for name, id in ids.items():
        if not isinstance(name, str) or not isinstance(id, int):
            refuse("a dict of names and IDs")
        if not FIRST_FREE <= id <= largest:
            refuse(f"IDs from {FIRST_FREE:#x} to {largest:#x}")
        if id_of(name) not in (None, id):
            refuse('names that are no other ID, such as "0x1234"')
    if len(set(ids.values())) < len(ids):
        refuse("different IDs")
    return ids
