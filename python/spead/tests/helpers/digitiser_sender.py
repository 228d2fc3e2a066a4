# Copyright 2026 The gr-spead authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""A digitiser that sends with spead2, for tests of the receivers."""

import json
import signal
import subprocess
import sys

import numpy as np
import spead2
import spead2.send
from places import BOUND, EXAMPLES, eventually
from reference_packets import FLAVOUR, HEAP_SAMPLES, Digitiser
from streams import noise

IMMEDIATE = [("u", 48)]


class DigitiserSender:
    """Sends heaps, each in one packet, to one of its endpoints."""

    def __init__(self, endpoints, heap_bytes=4096, **options):
        self.digitiser = Digitiser()
        self.stream = spead2.send.UdpStream(
            spead2.ThreadPool(),
            endpoints,
            spead2.send.StreamConfig(max_packet_size=heap_bytes + 128),
            **options,
        )
        self.endpoints = len(endpoints)
        self.counter = 2

    def _send(self, heap, to, counter=None):
        heap.repeat_pointers = True
        if counter is None:
            counter = self.counter
            self.counter += 2
        self.stream.send_heap(heap, counter, substream_index=to)

    def data(self, payload, *, to=0, counter=None, **immediates):
        """Send a heap with immediate items by name; None omits an item."""
        values = {"timestamp": 0, "digitiser_id": 0, "digitiser_status": 0}
        values.update(immediates)
        heap = spead2.send.Heap(FLAVOUR)
        for name, value in values.items():
            if value is not None:
                item_id = self.digitiser.items[name].id
                item = spead2.Item(item_id, "", "", (), format=IMMEDIATE, value=value)
                heap.add_item(item)
        samples = np.frombuffer(payload, np.uint8)
        item = spead2.Item(0x3300, "", "", samples.shape, np.uint8, value=samples)
        heap.add_item(item)
        self._send(heap, to, counter)

    def both(self, payloads, first=0, skip=()):
        """Send heaps of both polarisations in order of time.

        payloads: shape (2, heaps, bytes)
        first: timestamp of the first heaps
        skip: pairs of a polarisation and an index that are not sent

        Each polarisation has half of the endpoints, in turn; both share a single one.
        """
        groups = max(self.endpoints // 2, 1)
        for index in range(payloads.shape[1]):
            for polarisation in range(2):
                if (polarisation, index) not in skip:
                    to = polarisation * groups + index % groups
                    self.data(
                        payloads[polarisation, index],
                        to=to % self.endpoints,
                        timestamp=first + index * HEAP_SAMPLES,
                        digitiser_id=polarisation,
                    )

    def descriptors(self):
        """Send descriptors to each endpoint, with odd heap counters."""
        for to in range(self.endpoints):
            heap = self.digitiser.items.get_heap(descriptors="all", data="none")
            self._send(heap, to, 2 * to + 1)

    def end(self):
        """Send the end of the stream to each endpoint."""
        for to in range(self.endpoints):
            self._send(self.digitiser.items.get_end(), to)


def sender_to(*sockets, **options):
    """A sender to bound sockets."""
    return DigitiserSender([sock.getsockname()[:2] for sock in sockets], **options)


def heaps_of_noise(heaps, heap_bytes=HEAP_SAMPLES):
    """Payloads of both polarisations."""
    return noise(2 * heaps * heap_bytes).view(np.uint8).reshape(2, heaps, heap_bytes)


def summary_when_interrupted(program, folder):
    """The summary of a receiver after 10 heaps of both polarisations and Ctrl-C.

    A heap far ahead makes it write the others.
    """
    report, saved = folder / "json", folder / "saved.1"
    command = [sys.executable, EXAMPLES / "instruments" / program, "127.0.0.1:0"]
    command += ["--save", folder / "saved", "--json", report]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        try:
            host, _, port = process.stdout.readline().split()[-1].rpartition(":")
            sender = DigitiserSender([(host, int(port))])
            sender.both(heaps_of_noise(10))
            sender.data(noise(HEAP_SAMPLES), timestamp=4096 * HEAP_SAMPLES)
            eventually(lambda: saved.exists() and saved.stat().st_size)
            process.send_signal(signal.SIGINT)
            process.communicate(timeout=BOUND)
        finally:
            process.kill()
    assert process.returncode == 1  # incomplete
    return json.loads(report.read_text())
