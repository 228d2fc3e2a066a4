# Copyright 2026 The gr-spead authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Reads recordings in the DADA format: an ASCII header, then samples.

The header has one line "KEY value # comment" per field and is zero-padded to HDR_SIZE
bytes. The receivers at Effelsberg describe the SPEAD stream in it: heaps, timestamps
and multicast groups.
"""

import os

import numpy as np

HDR_SIZE = 4096  # bytes, unless the header says otherwise


class Header:
    """The fields of a header.

    If a field is absent, empty or "unset", the methods return the default, or raise
    ValueError if there is no default.
    """

    def __init__(self, content):
        self.fields = {}
        for line in content.split(b"\0")[0].decode("ascii", "replace").splitlines():
            key, *value = line.partition("#")[0].split(maxsplit=1) or [""]
            if key:
                self.fields[key] = value[0].strip() if value else ""

    def text(self, key, default=None):
        value = self.fields.get(key, "")
        if value not in ("", "unset"):
            return value
        if default is None:
            raise ValueError(f"the header has no {key}")
        return default

    def integer(self, key, default=None):
        """Decimal, with or without leading zeros, or hexadecimal after 0x."""
        if default is not None and self.text(key, "unset") == "unset":
            return default
        text = self.text(key)
        try:
            return int(text, 16 if "x" in text.lower() else 10)
        except ValueError:
            raise ValueError(f"{key} = {text!r} is not an integer") from None


def read_header(path):
    """Read the header of a file; raises ValueError if it has none."""
    with open(path, "rb") as file:
        header = Header(file.read(HDR_SIZE))
        size = header.integer("HDR_SIZE", 0)
        if size < 1:
            raise ValueError(f"{path} is not a DADA file: it has no HDR_SIZE above 0")
        if size > HDR_SIZE:
            file.seek(0)
            header = Header(file.read(min(size, os.stat(path).st_size)))
    return header


class Recording:
    """A recording of an EDD packetiser: heaps of alternating polarisations.

    header: its Header
    polarisations: number of polarisations, 1 or 2
    heap_samples, heap_bytes: samples and bytes in a heap
    sample_clock_start: timestamp of the first heaps of the observation, in ticks
    offset: ticks from sample_clock_start to the first heaps of this file (OBS_OFFSET)
    data: memory map of the complete heaps, shape (heaps, heap_bytes), int8. The last
        heap may be of either polarisation.

    Raises ValueError if the header does not describe such a stream.
    """

    def __init__(self, path):
        self.path = path
        self.header = header = read_header(path)
        # Newer receivers write HEAP_NBYTES, older ones HEAP_SIZE.
        self.heap_bytes = header.integer("HEAP_NBYTES", header.integer("HEAP_SIZE", 0))
        self.heap_samples = header.integer("IDX1_STEP")
        self.polarisations = header.integer("NPOL")
        self.sample_clock_start = header.integer("SAMPLE_CLOCK_START")
        bits = header.integer("NBIT") * header.integer("NDIM", 1)
        heap_bits = self.heap_samples * bits
        if self.heap_samples < 1 or heap_bits < 1 or heap_bits != 8 * self.heap_bytes:
            raise ValueError(
                f"IDX1_STEP = {self.heap_samples} samples of {bits} bits do not fill"
                f" a heap of {self.heap_bytes} bytes"
            )
        if self.polarisations not in (1, 2):
            raise ValueError(f"NPOL = {self.polarisations} is neither 1 nor 2")
        bytes_before = header.integer("OBS_OFFSET", 0)
        self.offset = bytes_before * 8 // (bits * self.polarisations)
        begin = header.integer("HDR_SIZE")
        heaps = (os.stat(path).st_size - begin) // self.heap_bytes
        if heaps < 1:
            raise ValueError(f"{path} has no whole heap of {self.heap_bytes} bytes")
        self.data = np.memmap(path, np.int8, "r", begin, (heaps, self.heap_bytes))

    def destinations(self):
        """The destinations of each polarisation, in the syntax of the sink.

        MCAST_SOURCES lists equally many groups per polarisation, in their order.
        """
        groups = self.header.text("MCAST_SOURCES").split(",")
        if len(groups) % self.polarisations:
            raise ValueError(
                f"MCAST_SOURCES = {','.join(groups)!r} cannot be divided"
                f" among {self.polarisations} polarisations"
            )
        count = len(groups) // self.polarisations
        port = self.header.integer("PORT")
        return [
            ",".join(
                f"{group.strip()}:{port}" for group in groups[first : first + count]
            )
            for first in range(0, len(groups), count)
        ]
