# Copyright 2026 The gr-spead authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Records the outputs of a source, with their times, losses and items, in files.

A row is what an output has at one time: a sample or, with axes, a vector.
"""

import datetime
import errno
import itertools
import math
import os
import re
import shutil
import threading
from fractions import Fraction
from typing import NamedTuple

import numpy as np
import pmt
from gnuradio import gr

NUMBERS = {  # output_type -> type of a number, whether samples are pairs of them
    "int8": ("i1", False),
    "int16": ("i2", False),
    "int32": ("i4", False),
    "float": ("f4", False),
    "sc8": ("i1", True),
    "sc16": ("i2", True),
    "complex": ("f4", True),
}
SPARE_BYTES = 16 << 20  # left on the disk, so that the files can be completed


class Layout:
    """What the outputs of a source are, and when.

    stream: a Stream of described_stream

    number: numpy type of a number
    is_complex: whether a sample is a pair of numbers
    axes: names of the axes of a row; shape: their sizes; row_samples: their product
    row_bytes: of one output
    heap_rows: rows that one tag "missing" is about, 0: those that it counts
    ticks_per_row, tick_rate, sync_time: Fractions; the last two may be None
    """

    def __init__(self, stream):
        options = stream.options
        number, self.is_complex = NUMBERS[options.get("output_type", "int8")]
        sent = stream.wire_type.lstrip("<>|=")
        if sent == number.replace("i", "u"):
            number = sent
        self.number = np.dtype(f"<{number}")
        sizes = {}
        for name, size in re.findall(r"(\w+) *= *([\d/]+)", options.get("axes", "")):
            sizes[name] = int(size.split("/")[-1])
        self.outputs = sizes.pop("pol", options.get("num_outputs", 1))
        self.heap_rows = sizes.pop("time", 1) if options.get("axes") else 0
        self.axes, self.shape = list(sizes), tuple(sizes.values())
        self.row_samples = math.prod(self.shape)
        numbers = self.row_samples * (1 + self.is_complex)
        self.row_bytes = numbers * self.number.itemsize
        self.item = (self.number, numbers) if numbers > 1 else self.number
        heap_rows = self.heap_rows or options.get("heap_samples", 8192)
        step = options.get("timestamp_step")
        self.ticks_per_row = Fraction(step or heap_rows, heap_rows)
        rate, self.sync_time = options.get("sample_rate"), options.get("sync_time")
        self.tick_rate = Fraction(rate) if rate else None
        if self.sync_time is not None:
            is_text = isinstance(self.sync_time, str)
            unit = 1 if is_text else Fraction(1, 10**9)
            self.sync_time = Fraction(self.sync_time) * unit

    def time(self, tick):
        """Seconds since 1970, or None."""
        if self.tick_rate is None or self.sync_time is None:
            return None
        return self.sync_time + tick / self.tick_rate


class Period(NamedTuple):
    """How often a file begins.

    length: in seconds or, if not is_seconds, in ticks
    """

    length: Fraction
    is_seconds: bool

    def number(self, layout, tick):
        """The number of the period that holds a tick."""
        position = layout.time(tick) if self.is_seconds else tick
        return math.floor(position / self.length)

    def first_tick(self, layout, number):
        """The first tick of a period, a Fraction."""
        begin = number * self.length
        if self.is_seconds:
            begin = (begin - layout.sync_time) * layout.tick_rate
        return begin

    def name(self, number):
        begin = number * self.length
        return time_text(begin, "%Y%m%dT%H%M%S") if self.is_seconds else str(begin)


def time_text(seconds, form):
    """A time to the picosecond, without trailing zeros."""
    picoseconds = round(seconds * 10**12)
    whole = datetime.datetime.fromtimestamp(
        picoseconds // 10**12, datetime.timezone.utc
    )
    fraction = f".{picoseconds % 10**12:012}".rstrip("0").rstrip(".")
    return f"{whole:{form}}{fraction}Z"


class Recorder(gr.sync_block):
    """A sink for all outputs of the source.

    path: of the file
    open_file: function of a path that creates a file: an Hdf5File or SigmfFile
    period: a Period, or None for one file
    rows: to record, or None

    paths: of the files; recorded: number of rows in them
    missing: samples of these rows, and those that were left out; discontinuities
    error: the OSError that ended the recording, or None
    is_damaged: whether a file could not be written, and must not be touched again
    """

    def __init__(self, layout, path, open_file, period=None, rows=None):
        gr.sync_block.__init__(
            self, "spead_recorder", [layout.item] * layout.outputs, None
        )
        self.layout = layout
        self.paths = []
        self.error, self.is_damaged = None, False
        self.recorded = 0  # rows; those that are readable if the file is damaged
        self.missing = self.discontinuities = 0
        self.first_tick = None
        self._path, self._open_file = path, open_file
        self._period, self._limit = period, rows
        self._flushed = 0  # rows
        self._lock = threading.Lock()  # flush() is called by another thread
        self._file = None
        self._file_begin, self._file_end = 0, None  # rows; None: no end
        self._file_number = None  # of the period
        self._anchor = None  # a row and its tick
        self._items = {}  # (output, name) -> value
        self._cut = []  # missing ranges that continue in the next file

    def work(self, inputs, _):
        begin = self.nitems_read(0)
        end = begin + len(inputs[0])
        if self._limit is not None:
            end = min(end, self._limit)
        tags: dict[int, dict] = {}
        for output in range(len(inputs)):
            for tag in self.get_tags_in_window(output, 0, end - begin):
                key = pmt.symbol_to_string(tag.key)
                values = tags.setdefault(tag.offset, {})
                values[output, key] = pmt.to_python(tag.value)
        with self._lock:
            if self.error:
                return -1
            try:
                self._record(begin, end, inputs, sorted(tags.items()))
            except OSError as error:
                self._fail(error)
            if self.error or self.recorded == self._limit:
                return -1
        return end - begin

    def flush(self):
        """Make readable what has been recorded."""
        with self._lock:
            if self._file and not self.error:
                try:
                    self._file.flush()
                    self._flushed = self.recorded
                except OSError as error:
                    self._fail(error)

    def close(self):
        """Complete the last file, unless it is damaged."""
        with self._lock:
            if self._file and not self.is_damaged:
                try:
                    self._file.close()
                except OSError as error:
                    self._fail(error)
            self._file = None

    def _fail(self, error):
        self.error = error
        if not isinstance(error, DiskFull):
            self.is_damaged = True
            self.recorded = self._flushed

    def _record(self, begin, end, inputs, tags):
        for row, values in tags:
            self._write(begin, row, inputs)
            self._add_tags(row, values)
        self._write(begin, end, inputs)

    def _write(self, begin, end, inputs):
        """Write the rows from self.recorded to end; inputs start with row begin."""
        while self.recorded < end:
            self._open_if_needed()
            stop = min(end, self._file_end or end)
            arrays = [rows[self.recorded - begin : stop - begin] for rows in inputs]
            self._check_room(sum(array.nbytes for array in arrays))
            self._file.write(arrays)
            self.recorded = stop

    def _check_room(self, size):
        folder = os.path.dirname(self._path) or "."
        if shutil.disk_usage(folder).free < SPARE_BYTES + size:
            raise DiskFull(errno.ENOSPC, os.strerror(errno.ENOSPC), folder)

    def _add_tags(self, row, values):
        timestamp = values.pop((0, "timestamp"), None)
        if timestamp is not None:
            if (0, "skipped") not in values:  # the stream starts over
                self._items.clear()
            self._begin_part(row, timestamp)
        self._open_if_needed()
        for (output, key), value in values.items():
            # with axes, a tag is about all outputs, and repeated on each
            is_counted = output == 0 or not self.layout.heap_rows
            if key == "missing":
                end = row + (self.layout.heap_rows or value)
                self._add_missing(row, end, output, value)
                if not self.layout.heap_rows:
                    value = min(end, self._limit or end) - row
                self.missing += value * is_counted
            elif key == "skipped":
                self.missing += value * is_counted
                self._file.add_skipped(row - self._file_begin, output, value)
            elif key not in ("timestamp", "rx_time"):
                self._items[output, key] = value
                self._file.add_item(row - self._file_begin, output, key, value)

    def _add_missing(self, begin, end, output, samples):
        first_row = begin - self._file_begin
        if self._file_end and end > self._file_end:
            self._cut.append((self._file_end, end, output, samples))
            end = self._file_end
        self._file.add_missing(first_row, end - begin, output, samples)

    def _begin_part(self, row, tick):
        """The stream begins or jumps: a row has this tick."""
        self._anchor = row, Fraction(tick)
        if self.first_tick is None:
            self.first_tick = tick
        else:
            self.discontinuities += 1
        if not self._file:
            return
        if self._period:
            if self._period.number(self.layout, tick) != self._file_number:
                self._file_end = row
                return
            self._file_end = self._end_of_period(row)
        self._file.add_part(row - self._file_begin, tick)
        self._state_items(row)

    def _tick(self, row):
        first, tick = self._anchor
        return tick + (row - first) * self.layout.ticks_per_row

    def _end_of_period(self, row):
        """The first row of the next period."""
        number = self._period.number(self.layout, self._tick(row))
        end = self._period.first_tick(self.layout, number + 1)
        return row + math.ceil((end - self._tick(row)) / self.layout.ticks_per_row)

    def _open_if_needed(self):
        row = self.recorded
        if self._file and (self._file_end is None or row < self._file_end):
            return
        if self._file:
            self._file.close()
            self._file, self._flushed = None, row
        path = self._path
        if self._period:
            self._file_number = self._period.number(self.layout, self._tick(row))
            self._file_end = self._end_of_period(row)
            path = self._path_of_period()
        self._check_room(0)
        self._file = self._open_file(path)
        self._file_begin = row
        self.paths.append(path)
        self._begin_file(row)

    def _path_of_period(self):
        stem, suffix = os.path.splitext(self._path)
        stem = f"{stem}-{self._period.name(self._file_number)}"
        # several if the stream has gone back, or the program has run before
        numbers = itertools.chain([""], map("_{}".format, itertools.count(2)))
        paths = (f"{stem}{number}{suffix}" for number in numbers)
        return next(path for path in paths if not os.path.exists(path))

    def _begin_file(self, row):
        """State what holds from the first row of a file on."""
        # a part begins with the last row at or before this one whose tick is whole
        back = (row - self._anchor[0]) % self.layout.ticks_per_row.denominator
        self._file.add_part(-back, int(self._tick(row - back)))
        self._state_items(row)
        cut, self._cut = self._cut, []
        for begin, end, output, samples in cut:
            self._add_missing(begin, end, output, samples)

    def _state_items(self, row):
        for (output, name), value in self._items.items():
            self._file.add_item(row - self._file_begin, output, name, value)


class DiskFull(OSError):
    """The disk has no room for more; the files are complete."""
