# Copyright 2026 The gr-spead authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""A recording in SigMF, https://sigmf.org."""

import io
import json
import os
import time

from .recording import time_text

SUFFIXES = ".sigmf-data", ".sigmf-meta", ".sigmf"
VERSION = "1.2.0"  # of SigMF
FLUSH_SHARE = 20  # the metadata are written as a whole: less often if it takes long


class SigmfFile:
    """New files of samples; what is added is listed in the metadata after flush().

    After a crash, the file of samples may be longer than the metadata state.
    """

    def __init__(self, path, layout, stream, program):
        self._layout = layout
        self._metadata_path = _with_suffix(path, ".sigmf-meta")
        self._data = io.FileIO(_with_suffix(path, ".sigmf-data"), "x")
        self._rows = 0
        bits = 8 * layout.number.itemsize
        name = f"{'c' if layout.is_complex else 'r'}{layout.number.kind}{bits}"
        self._global = {
            "core:datatype": name if bits == 8 else f"{name}_le",
            "core:version": VERSION,
            "core:recorder": program,
            "core:extensions": [
                {"name": "spead", "version": "1.0.0", "optional": True}
            ],
            "spead:endpoints": stream.endpoints,
            "spead:options": stream.text,
            "spead:descriptors": stream.descriptions,
        }
        if layout.tick_rate:
            rate = layout.tick_rate / layout.ticks_per_row
            self._global["core:sample_rate"] = float(rate)
        self._captures, self._annotations, self._items = {}, [], {}
        self._next_flush = 0.0

    def write(self, arrays):
        (samples,) = arrays
        rest = memoryview(samples).cast("B")
        while rest:
            rest = rest[self._data.write(rest) :]
        self._rows += len(samples)

    def add_part(self, row, tick):
        tick += max(-row, 0) * self._layout.ticks_per_row
        row = max(row, 0)
        whole = tick == int(tick)
        capture = {
            "core:sample_start": row,
            "spead:tick": int(tick) if whole else str(tick),
        }
        seconds = self._layout.time(tick)
        if seconds is not None:
            capture["core:datetime"] = time_text(seconds, "%Y-%m-%dT%H:%M:%S")
        self._captures[row] = capture

    def add_missing(self, row, rows, _, samples):
        self._annotate(row, "missing", count=rows)

    def add_skipped(self, row, _, samples):
        self._annotate(row, "skipped", **{"spead:value": samples})

    def add_item(self, row, _, name, value):
        self._items[row, name] = value

    def _annotate(self, row, label, count=None, **fields):
        annotation = {"core:sample_start": row, "core:label": label, **fields}
        if count is not None:
            annotation["core:sample_count"] = count
        self._annotations.append(annotation)

    def flush(self):
        if time.monotonic() >= self._next_flush:
            begin = time.monotonic()
            self._write_metadata()
            end = time.monotonic()
            self._next_flush = end + FLUSH_SHARE * (end - begin)

    def _write_metadata(self):
        for (row, name), value in self._items.items():
            self._annotate(row, name, **{"spead:value": value})
        self._items.clear()
        self._annotations.sort(key=lambda annotation: annotation["core:sample_start"])
        metadata = {
            "global": self._global | {"spead:samples": self._rows},
            "captures": list(self._captures.values()),
            "annotations": self._annotations,
        }
        unfinished = self._metadata_path + ".tmp"
        with open(unfinished, "w") as file:
            json.dump(metadata, file, indent=1)
        os.replace(unfinished, self._metadata_path)

    def close(self):
        self._write_metadata()
        self._data.close()


def _with_suffix(path, suffix):
    return os.path.splitext(path)[0] + suffix
