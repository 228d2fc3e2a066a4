# Copyright 2026 The gr-spead authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Random streams with random losses, restarts and splits are recorded as sent."""

import math
from datetime import datetime
from fractions import Fraction

import h5py
import numpy as np
import pytest
from capture_files import ETHERNET, frame, ip_packets, udp, write_capture
from crafted_packets import addressed, immediate, packet
from places import NEEDS_LIBPCAP
from recorded_files import read_h5, record

pytestmark = NEEDS_LIBPCAP
BITS = 48
ITEM = 0x3101
SYNC = 1_600_000_000
APART = 10**9  # heaps between the parts of a stream
KINDS = [  # output_type, wire_type, numbers in packets, samples in files
    ("int8", "i1", "i1", "i1"),
    ("int8", "u1", "u1", "u1"),
    ("int16", "<i2", "<i2", "<i2"),
    ("int16", "u2", ">u2", "<u2"),
    ("int32", "i4", ">i4", "<i4"),
    ("float", "f4", ">f4", "<f4"),
    ("sc8", "i1", "i1", [("r", "i1"), ("i", "i1")]),
    ("sc16", "<i2", "<i2", [("r", "<i2"), ("i", "<i2")]),
    ("complex", "f4", ">f4", "<c8"),
]


class RandomStream:
    """A stream in a capture; row k is at tick first + k * step / heap_rows.

    samples: (rows, outputs, numbers of a row); arrived: which of them are in packets
    rows: sorted; states: value of an item at each row
    """

    def __init__(self, seed, path):
        self.random = random = np.random.default_rng(seed)
        output_type, wire_type, number, self.dtype = KINDS[seed % len(KINDS)]
        self.number = np.dtype(number)
        self.pair = 1 + (output_type in ("sc8", "sc16", "complex"))
        self.sizes = {"time": int(random.integers(20, 200))}
        if random.integers(2):
            names = random.permutation(["time", "pol", "frequency", "antenna"])[:3]
            self.sizes |= {str(name): int(random.integers(2, 7)) for name in names}
            self.sizes["pol"] = 2
            names = random.permutation(list(self.sizes))
            self.sizes = {str(name): self.sizes[name] for name in names}
        self.heap_rows = self.sizes["time"]
        self.has_axes = len(self.sizes) > 1
        self.outputs = self.sizes.get("pol", 1)
        self.step = int(random.integers(1, 3 * self.heap_rows))
        self.first = int(random.integers(10**6))
        if self.has_axes:  # heaps begin at multiples of their length
            self.step, self.first = self.heap_rows, 0
        self.options = (
            f"output_type={output_type!r}, wire_type={wire_type!r},"
            f" timestamp_step={self.step}, max_gap={random.choice([0, 1 << 24])},"
            " items=[spead.timestamp(), spead.immediate(0x3101, 'state'),"
            " spead.samples()],"
        )
        if output_type in ("float", "complex"):
            self.options += " scale=1,"
        if self.has_axes:
            axes = ", ".join(f"{name}={size}" for name, size in self.sizes.items())
            self.options += f" axes={axes!r},"
        else:
            self.options += f" heap_samples={self.heap_rows},"
        self.row_bytes = (
            math.prod(self.sizes.values())
            // self.heap_rows
            * self.pair
            * self.number.itemsize
        )
        self._write(path)

    def _write(self, path):
        frames, times, heaps = [], [], {}
        time, loss = 0.0, self.random.choice([0, 0.01, 0.2])
        counter = 0
        for part in map(int, self.random.permutation(3)):
            time += 60  # of silence
            state = self.random.integers(3)  # 0: the item is not sent
            for i in range(self.random.integers(5, 20)):
                counter += 1
                time += 0.001
                state += bool(state and self.random.random() < 0.3) * 1000
                heap = part * APART + i
                kept = self._heap(heap, counter, int(state), loss, heaps)
                frames += [  # each part from another sender
                    frame(ETHERNET, ip_packet)
                    for content in kept
                    for ip_packet in ip_packets(udp(content, 5000 + part, 7148))
                ]
                times += [time] * len(kept)
        write_capture(path, frames, times=times)
        rows = np.concatenate(
            [heap * self.heap_rows + np.arange(self.heap_rows) for heap in heaps]
        )
        order = np.argsort(rows)
        self.rows = rows[order]
        self.samples, self.arrived, self.states = (
            np.concatenate(arrays)[order]
            for arrays in zip(*heaps.values(), strict=True)
        )

    def _heap(self, heap, counter, state, loss, heaps):
        """The packets that arrive."""
        shape = (*self.sizes.values(), self.pair)
        size = math.prod(shape) * self.number.itemsize
        content = self.random.integers(1, 100, math.prod(shape)).astype(self.number)
        arrived = np.zeros(size, bool)
        # samples must be whole
        unit = self.pair * self.number.itemsize
        packet_bytes = int(self.random.integers(size // 5, min(size, 8000) + 1))
        packet_bytes = max(packet_bytes // unit, 1) * unit
        pointers = [
            immediate(0x1600, self.first + heap * self.step, BITS),
            *([immediate(ITEM, state, BITS)] if state else []),
            addressed(0x3300, 0, BITS),
        ]
        packets = []
        for offset in range(0, size, packet_bytes):
            if self.random.random() >= loss:
                payload = content.tobytes()[offset : offset + packet_bytes]
                packets.append(packet(counter, pointers, payload, offset, size, BITS))
                arrived[offset : offset + packet_bytes] = True
        arrived = arrived.reshape(*shape, -1).all(axis=-1)
        content = content.reshape(shape)
        heaps[heap] = (
            self._by_row(content),
            self._by_row(arrived),
            np.full(self.heap_rows, state),
        )
        return packets

    def _by_row(self, array):
        names = [*self.sizes]
        if "pol" not in names:
            names, array = ["pol", *names], array[np.newaxis]
        order = [names.index("time"), names.index("pol")]
        order += [i for i in range(array.ndim) if i not in order]
        return array.transpose(order).reshape(self.heap_rows, self.outputs, -1)

    def rows_of(self, path):
        """The rows in a file, from its parts."""
        with h5py.File(path, "r", swmr=True) as file:
            parts, count = file["ticks"][:], len(file["output0"])
        rows = np.arange(count)
        part = parts[np.searchsorted(parts["row"], rows, "right") - 1]
        scaled = (part["tick"] - self.first) * self.heap_rows
        scaled += (rows - part["row"]) * self.step
        assert not (scaled % self.step).any()
        return scaled // self.step

    def check(self, path, output):
        """Check a file; returns which of all rows it holds."""
        samples, ticks, is_missing = read_h5(path, output)
        rows = self.rows_of(path)
        np.testing.assert_array_equal(
            ticks, self.first + rows * self.step // self.heap_rows
        )
        index = np.searchsorted(self.rows, rows)
        # a row of a heap that was lost
        held = (index < len(self.rows)) & (self.rows[index % len(self.rows)] == rows)
        assert is_missing[~held].all()
        index = index[held]
        arrived = self.arrived[index, output]
        whole = arrived.all(axis=1)
        if self.has_axes:  # the tag is about a heap, with all its outputs
            heaps = self.rows // self.heap_rows
            incomplete = heaps[~self.arrived.all(axis=(1, 2))]
            whole = ~np.isin(heaps[index], incomplete)
        np.testing.assert_array_equal(is_missing[held], ~whole)
        assert samples.dtype == np.dtype(self.dtype)
        number = self.number.newbyteorder("<")
        numbers = samples.reshape(len(samples), -1).view(number)
        expected = np.where(arrived, self.samples[index, output], 0)
        np.testing.assert_array_equal(numbers[held], expected)
        assert not numbers[~held].any()
        self._check_states(path, output, held, index, arrived)
        return index

    def _check_states(self, path, output, held, index, arrived):
        """A value holds until the next one, or until the next part."""
        with h5py.File(path, "r", swmr=True) as file:
            parts, items = file["ticks"]["row"], file["items"][:]
        items = items[(items["output"] == output) & (items["name"] == b"state")]
        rows = np.nonzero(held)[0]
        last = np.searchsorted(items["row"], rows, "right") - 1
        part = np.maximum(parts[np.searchsorted(parts, rows, "right") - 1], 0)
        states = np.zeros(len(rows), int)
        has_value = (
            (last >= 0) & (items["row"][last] >= part) if len(items) else last > 0
        )
        states[has_value] = items["value"][last[has_value]]
        is_certain = arrived.any(axis=1)
        np.testing.assert_array_equal(
            states[is_certain], self.states[index][is_certain]
        )

    def positions(self, path, period, rate=None, sync_time=0):
        """In which period the first and the last row of a file are."""
        rows = self.rows_of(path)
        for row in rows[[0, -1]]:
            position = self.first + Fraction(int(row) * self.step, self.heap_rows)
            if rate:
                position = sync_time + position / rate
            yield position // period


@pytest.mark.parametrize("seed", range(30))
def test_every_row_is_right_or_marked(tmp_path, seed):
    stream = RandomStream(seed, tmp_path / "a.pcap")
    options = ["--options", stream.options]
    split = None
    if seed % 3 == 1:
        unit = stream.step // math.gcd(stream.step, stream.heap_rows)
        unit_rows = unit * stream.heap_rows // stream.step
        rows = int(stream.random.integers(1, 5 * stream.heap_rows))
        size = max(rows, unit_rows) * stream.row_bytes
        options += ["--split", f"{size}B"]
        split = size // (unit_rows * stream.row_bytes) * unit, None
    elif seed % 3 == 2:
        rate = int(stream.random.integers(1, 3 * stream.step + 2))
        split = 2, rate, SYNC
        options += ["--sample-rate", rate, "--sync-time", SYNC, "--split", 2]
    assert record(tmp_path / "a.pcap", tmp_path / "night.h5", *options) == 0
    paths = list(tmp_path.glob("*.h5"))
    for output in range(stream.outputs):
        found = [stream.check(path, output) for path in paths]
        recorded = np.zeros(len(stream.rows), int)
        np.add.at(recorded, np.concatenate(found), 1)
        assert recorded.max() == 1
        assert stream.arrived[recorded == 0, output].sum() == 0
    for path in paths if split else []:
        number, last = stream.positions(path, *split)
        assert number == last
        name = str(number * split[0])
        if seed % 3 == 2:
            name = f"{datetime.utcfromtimestamp(2 * number):%Y%m%dT%H%M%SZ}"
        assert path.name == f"night-{name}.h5"
