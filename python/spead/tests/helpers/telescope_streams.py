# Copyright 2026 The gr-spead authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Heaps with several axes, as the software of telescopes sends them through spead2."""

import numpy as np
import spead2
import spead2.send
from received_streams import joined, spead2_packets

STEP = 1 << 20  # ticks per heap
FIRST = 50 * STEP


class Stream:
    """Heaps as the software of a telescope sends them, through spead2.

    axes: name and size of each axis, in the order of the heap
    parts: number of substreams, which divide the first axis
    extra: (id, name, value) of immediate items
    """

    def __init__(self, axes, dtype, pairs, *, heaps=48, parts=1, extra=(), id=0x4300):
        self.axes, self.parts, self.id, self.pairs = dict(axes), parts, id, pairs
        sizes = list(self.axes.values())
        generator = np.random.default_rng(len(sizes) + parts)
        shape = (heaps, parts, *sizes, *([2] if pairs else []))
        if np.dtype(dtype).kind == "f":
            self.samples = generator.normal(size=shape).astype(dtype)
        else:
            largest = min(np.iinfo(dtype).max, 1 << 23)  # floats hold these
            self.samples = generator.integers(-largest, largest, shape, dtype)
        flavour = spead2.Flavour(4, 64, 48)
        group = spead2.send.ItemGroup(flavour=flavour)
        group.add_item(0x1600, "timestamp", "", (), format=[("u", 48)])
        group.add_item(0x4103, "frequency", "", (), format=[("u", 48)])
        for item in extra:
            group.add_item(*item[:2], "", (), format=[("u", 48)], value=item[2])
        group.add_item(id, "data", "", self.samples.shape[2:], self.samples.dtype)
        self.descriptors = group.get_heap(descriptors="all", data="none")
        self.heaps = []
        for heap in range(heaps):
            for part in range(parts):
                group["timestamp"].value = FIRST + heap * STEP
                group["frequency"].value = part * sizes[0]
                group["data"].value = self.samples[heap, part]
                self.heaps.append(group.get_heap(descriptors="none", data="all"))
                self.heaps[-1].repeat_pointers = True
        self.end = spead2.send.Heap(flavour)
        self.end.add_end()

    def packets(self):
        """The packets of each heap, without descriptors and end."""
        return spead2_packets(self.heaps, counter=10)

    def all_packets(self, heaps):
        before = joined(spead2_packets([self.descriptors], counter=1))
        return [*before, *joined(heaps), *joined(spead2_packets([self.end], counter=9))]

    @property
    def option(self):
        """The option axes."""
        sizes = [f"{name}={size}" for name, size in self.axes.items()]
        if self.parts > 1:
            sizes[0] += f"/{self.parts * next(iter(self.axes.values()))}"
        return ", ".join(sizes)

    def vectors(self, port, samples=None):
        """The items of an output, as an array of (items, ...)."""
        samples = self.samples if samples is None else samples
        names = list(self.axes)
        if "pol" in names:
            samples = samples.take(port, axis=2 + names.index("pol"))
            names.remove("pol")
        if "time" in names:
            samples = np.moveaxis(samples, 2 + names.index("time"), 1)
            # heap, time, part, axes
            return samples.reshape(-1, *samples.shape[2:])
        return samples


def expected_samples(vectors, output_type, scale=None):
    if output_type == "complex":
        numbers = vectors.astype(np.float32) / np.float32(scale or 1)
        return numbers.view(np.complex64).reshape(len(vectors), -1)
    return vectors.reshape(len(vectors), -1)


F_ENGINE = {"channel": 16, "time": 32, "pol": 2}
F_ENGINE_PART = {"frequency": 0, "time": 16, "pol": 2}
STREAMS = {  # stream: output type, scale
    "F-engine": (Stream(F_ENGINE, np.int8, True), "sc8", None),
    "F-engine as floats": (Stream(F_ENGINE, np.int8, True), "complex", 127),
    "beam": (
        Stream({"channel": 64, "time": 16}, np.int8, True, id=0x5000),
        "sc8",
        None,
    ),
    "products": (
        Stream({"channel": 32, "baseline": 10}, np.int32, True, id=0x1800),
        "complex",
        1,
    ),
    "spectrometer": (Stream({"channel": 1024}, np.float32, False), "float", None),
    "real voltages": (Stream(F_ENGINE, np.int16, False), "int16", None),
    "time first": (Stream({"time": 5, "channel": 7}, np.int16, True), "sc16", None),
    "four axes": (
        Stream({"antenna": 3, "channel": 4, "time": 8, "pol": 2}, np.int8, True),
        "sc8",
        None,
    ),
    "one channel": (
        Stream({"channel": 1, "time": 64}, np.float32, True),
        "complex",
        None,
    ),
    "32768 channels": (
        Stream({"channel": 32768, "time": 2, "pol": 2}, np.int8, True, heaps=3),
        "sc8",
        None,
    ),
    **{
        f"{parts} substreams": (
            Stream(
                {"frequency": 64 // parts, "time": 16, "pol": 2},
                np.int8,
                True,
                parts=parts,
            ),
            "sc8",
            None,
        )
        for parts in (2, 16, 64)
    },
    "substreams of products": (
        Stream({"frequency": 16, "baseline": 21}, np.int32, True, parts=4),
        "complex",
        1,
    ),
}
