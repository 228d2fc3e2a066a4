# Copyright 2026 The gr-spead authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""A recording in HDF5, which other programs can read meanwhile, and after a crash.

After a crash, a file of HDF5 is readable up to the last flush if it was in the mode
"single writer, multiple readers" (SWMR), in which datasets only grow.
"""

import contextlib

import h5py
import numpy as np

CHUNK_BYTES = 4 << 20
STAGE_BYTES = 4 << 20  # of all outputs
MAX_NAME = 64  # of an item, as the source reads it

TABLES = {  # name -> type of a row
    "ticks": [("row", "i8"), ("tick", "i8")],
    "missing": [("row", "u8"), ("rows", "u8"), ("output", "u1"), ("samples", "u8")],
    "skipped": [("row", "u8"), ("output", "u1"), ("samples", "u8")],
    "items": [
        ("row", "u8"),
        ("output", "u1"),
        ("name", f"S{MAX_NAME}"),
        ("value", "i8"),
    ],
}
TIME = [("seconds", "i8"), ("fraction", "f8")]  # rx_time, as in tags of GNU Radio


@contextlib.contextmanager
def _as_os_errors():
    """HDF5 reports errors of the disk as errors of several types."""
    try:
        yield
    except (RuntimeError, ValueError) as error:
        raise OSError(str(error)) from error


class Hdf5File:
    """A new file; what is added is readable after flush().

    layout: a Layout, stream: a Stream, program: text
    """

    def __init__(self, path, layout, stream, program):
        self._layout = layout
        # v110: for the SWMR mode. No cache of chunks: rows are in the file before the
        # flush that makes them visible.
        self._file = h5py.File(path, "x", libver=("v110", "v110"), rdcc_nbytes=0)
        number = layout.number
        if layout.is_complex:
            number = np.dtype(
                "c8" if number.kind == "f" else [("r", number), ("i", number)]
            )
        self._number = number
        rows = max(1, CHUNK_BYTES // layout.row_bytes)
        creation = h5py.h5p.create(h5py.h5p.DATASET_CREATE)
        creation.set_fill_time(h5py.h5d.FILL_TIME_NEVER)  # would write each chunk twice
        self._outputs = [
            self._file.create_dataset(
                f"output{output}",
                (0, *layout.shape),
                number,
                maxshape=(None, *layout.shape),
                chunks=(rows, *layout.shape),
                dcpl=creation,
            )
            for output in range(layout.outputs)
        ]
        self._rows = 0
        # A call of HDF5 takes 100 us: collect the rows of several heaps.
        rows = max(1, STAGE_BYTES // (layout.row_bytes * layout.outputs))
        number, numbers = layout.number, layout.row_samples * (1 + layout.is_complex)
        shape = (rows, numbers) if numbers > 1 else (rows,)
        self._stages = [np.empty(shape, number) for _ in self._outputs]
        self._staged = 0  # rows
        has_times = layout.time(0) is not None
        self._tables = {}
        for name, fields in TABLES.items():
            if name == "ticks" and has_times:
                fields = fields + TIME
            self._tables[name] = self._file.create_dataset(
                name, (0,), np.dtype(fields), maxshape=(None,), chunks=(1024,)
            )
        # table -> key -> row
        self._added: dict[str, dict] = {name: {} for name in TABLES}
        self._describe(stream, program)
        self._file.swmr_mode = True

    def _describe(self, stream, program):
        """Attributes, which cannot be added later."""
        layout = self._layout
        attributes = {
            "program": program,
            "endpoints": stream.endpoints,
            "options": stream.text,
            "ticks_per_row": layout.ticks_per_row.as_integer_ratio(),
        }
        if layout.tick_rate:
            attributes["ticks_per_second"] = layout.tick_rate.as_integer_ratio()
        self._file.attrs.update(attributes)
        for dataset in self._outputs:
            for i, axis in enumerate(["time", *layout.axes]):
                dataset.dims[i].label = axis
            if stream.samples:
                dataset.attrs.update(_attributes(stream.samples))
        text = h5py.string_dtype()
        fields = [("id", "u8")]
        fields += [(name, text) for name in ("name", "type", "shape", "description")]
        table = [tuple(_attributes(d).values()) for d in stream.descriptions]
        self._file.create_dataset("descriptors", data=np.array(table, np.dtype(fields)))

    def write(self, arrays):
        """Append rows: an array of numbers for each output."""
        count = len(arrays[0])
        if self._staged + count > len(self._stages[0]):
            self._write_stages()
        if count > len(self._stages[0]):
            self._append(arrays)
            return
        end = self._staged + count
        for stage, array in zip(self._stages, arrays, strict=True):
            stage[self._staged : end] = array
        self._staged = end

    def _write_stages(self):
        if self._staged:
            self._append([stage[: self._staged] for stage in self._stages])
            self._staged = 0

    def _append(self, arrays):
        with _as_os_errors():
            end = self._rows + len(arrays[0])
            for dataset, array in zip(self._outputs, arrays, strict=True):
                dataset.resize(end, 0)
                samples = np.ascontiguousarray(array).view(self._number)
                dataset[self._rows : end] = samples.reshape(-1, *self._layout.shape)
            self._rows = end

    def add_part(self, row, tick):
        entry: tuple = (row, tick)
        time = self._layout.time(tick)
        if time is not None:
            entry += (time // 1, float(time % 1))
        self._added["ticks"][row] = entry

    def add_missing(self, row, rows, output, samples):
        self._added["missing"][row, output] = row, rows, output, samples

    def add_skipped(self, row, output, samples):
        self._added["skipped"][row, output] = row, output, samples

    def add_item(self, row, output, name, value):
        self._added["items"][row, output, name] = row, output, name.encode(), value

    def flush(self):
        self._write_stages()
        with _as_os_errors():
            # before the rows that they are about
            for name, rows in self._added.items():
                if rows:
                    table = self._tables[name]
                    begin = len(table)
                    table.resize(begin + len(rows), 0)
                    table[begin:] = np.array(list(rows.values()), table.dtype)
                    table.flush()
                    rows.clear()
            for dataset in self._outputs:
                dataset.flush()

    def close(self):
        self.flush()
        with _as_os_errors():
            self._file.close()


def _attributes(description):
    return {
        "id": description["id"],
        "name": description["name"],
        "type": description["type"],
        "shape": str(tuple(description["shape"])),
        "description": description["text"],
    }
