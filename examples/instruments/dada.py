# Copyright 2026 The gr-spead authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Recordings in the DADA format: an ASCII header, then samples.

A header is a line "KEY value # comment" for each field, filled up with zeros to its
HDR_SIZE. What the receivers of Effelsberg write into it describes the SPEAD stream that
was recorded (heaps, timestamps, multicast groups), so that it can be sent again.
"""

import decimal
import fractions
import os

import numpy as np

HDR_SIZE = 4096  # bytes, unless the header says otherwise


def integer(text):
    """Leading zeros mean nothing, other than in Python."""
    return int(text, 16 if "x" in text.lower() else 10)


class Header:
    """The fields of a header, a dict of text by key, with access by type.

    A key that is absent, or has no value or the value "unset", gives the default, or a
    ValueError if there is none; so does a value of another type.
    """

    def __init__(self, fields):
        self.fields = dict(fields)

    @classmethod
    def parse(cls, content):
        """From the bytes of a header."""
        fields = {}
        for line in content.split(b"\0")[0].decode("ascii", "replace").splitlines():
            key, *value = line.partition("#")[0].split(maxsplit=1) or [""]
            if key:
                fields[key] = value[0].strip() if value else ""
        return cls(fields)

    def to_bytes(self):
        """The header as it stands in a file, of HDR_SIZE bytes."""
        size = self.integer("HDR_SIZE", HDR_SIZE)
        lines = "".join(f"{key} {value}\n" for key, value in self.fields.items())
        if len(lines) >= size:
            raise ValueError(f"{len(lines)} bytes of fields, HDR_SIZE is {size}")
        return lines.encode("ascii").ljust(size, b"\0")

    def text(self, key, default=None):
        value = self.fields.get(key, "")
        if value not in ("", "unset"):
            return value
        if default is None:
            raise ValueError(f"the header has no {key}")
        return default

    def integer(self, key, default=None):
        """Decimal or, behind 0x, hexadecimal."""
        return self._number(key, default, integer, "an integer")

    def integers(self, key, default=None):
        """A tuple, of what commas separate."""

        def convert(text):
            return tuple(integer(part) for part in text.split(","))

        return self._number(key, default, convert, "a list of integers")

    def exact(self, key, default=None):
        """A Fraction: times since 1970 to the microsecond are too long for a double."""

        def convert(text):
            return fractions.Fraction(decimal.Decimal(text))

        return self._number(key, default, convert, "a number")

    def _number(self, key, default, convert, what):
        if default is not None and self.text(key, "unset") == "unset":
            return default
        text = self.text(key)
        try:
            return convert(text)
        except (ArithmeticError, ValueError):
            raise ValueError(f"{key} = {text!r} is not {what}") from None


def read_header(path):
    """The header of a file, however long; ValueError if it has none."""
    with open(path, "rb") as file:
        header = Header.parse(file.read(HDR_SIZE))
        size = header.integer("HDR_SIZE")
        if size > HDR_SIZE:
            file.seek(0)
            header = Header.parse(file.read(size))
    return header


class Recording:
    """A recording of an EDD packetiser: heaps of one polarisation after the other.

    header: its Header
    polarisations: how many there are
    heap_samples, sample_bits, heap_bytes: of each heap
    sample_clock_start: the timestamp of the first heaps, in ticks of sample_clock
    offset: ticks from there to the samples of this file (OBS_OFFSET), 0 in the first
        file of an observation
    sample_clock: ticks per second, sync_time: seconds since 1970 at tick 0; Fractions
    data: the heaps in the order of the file, shape (heaps, heap bytes), int8, or uint8
        if a sample does not have 8 bits; mapped, not read. The last heap may be of any
        polarisation; an incomplete one is left out.

    ValueError if the header does not describe such a stream.
    """

    def __init__(self, path):
        self.path = path
        self.header = header = read_header(path)
        self.sample_bits = header.integer("NBIT")
        # One name in older receivers, the other in newer ones.
        self.heap_bytes = header.integer("HEAP_NBYTES", header.integer("HEAP_SIZE", 0))
        self.heap_samples = header.integer("IDX1_STEP")
        self.polarisations = header.integer("NPOL")
        self.sample_clock_start = header.integer("SAMPLE_CLOCK_START")
        self.sample_clock = header.exact("SAMPLE_CLOCK")
        self.sync_time = header.exact("SYNC_TIME")
        bits = self.sample_bits * header.integer("NDIM", 1)
        if self.heap_samples < 1 or self.heap_samples * bits != 8 * self.heap_bytes:
            raise ValueError(
                f"IDX1_STEP = {self.heap_samples} samples of {bits} bits are no heap of"
                f" {self.heap_bytes} bytes"
            )
        if self.polarisations not in (1, 2):
            raise ValueError(f"NPOL = {self.polarisations} is neither 1 nor 2")
        bytes_before = header.integer("OBS_OFFSET", 0)
        self.offset = bytes_before * 8 // (bits * self.polarisations)
        kind = np.int8 if self.sample_bits == 8 else np.uint8
        begin = header.integer("HDR_SIZE")
        heaps = (os.stat(path).st_size - begin) // self.heap_bytes
        if heaps < 1:
            raise ValueError(f"{path} has no whole heap of {self.heap_bytes} bytes")
        self.data = np.memmap(path, kind, "r", begin, (heaps, self.heap_bytes))

    def samples(self, polarisation):
        """The bytes of the samples of a polarisation, in the order of time."""
        return self.data[polarisation :: self.polarisations].ravel()

    def timestamps(self, polarisation, start=None):
        """Of its heaps, in ticks; from sample_clock_start unless told otherwise."""
        first = self.sample_clock_start if start is None else start
        heaps = len(self.data[polarisation :: self.polarisations])
        return [first + self.heap_samples * heap for heap in range(heaps)]

    def destinations(self):
        """Where it was sent: a list for each polarisation, as the sink takes it.

        From MCAST_SOURCES, which names as many groups for each, and PORT.
        """
        groups = self.header.text("MCAST_SOURCES").split(",")
        if len(groups) % self.polarisations:
            raise ValueError(f"MCAST_SOURCES = {','.join(groups)!r}: not alike for all")
        each = len(groups) // self.polarisations
        port = self.header.integer("PORT")
        return [
            ",".join(f"{group.strip()}:{port}" for group in groups[at : at + each])
            for at in range(0, len(groups), each)
        ]
