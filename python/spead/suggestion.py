# Copyright 2026 The gr-spead authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""The source that receives inspected streams."""

import json
import math
import os
import re
from collections import Counter
from itertools import combinations, pairwise

from .spead_python import _sample_types

# Options that are shown in GRC under these labels.
GRC_LABELS = {
    "endpoints": "Listen",
    "heap_samples": "Heap samples (per timestamp step)",
    "sample_rate": "Sample rate (Hz)",
    "timestamp_step": "Timestamp step (ticks)",
}
TYPES = {  # name of a sample type -> its label in GRC, its default on the wire
    name: (label, wire.lstrip("<>")) for name, label, wire in _sample_types()
}
# By ID and number of axes: the arrays of MeerKAT's correlator (katgpucbf).
AXES = {
    (0x4300, 3): ["channel", "time", "pol"],
    (0x5000, 2): ["channel", "time"],
    (0x1800, 2): ["channel", "baseline"],
}
HEAP_COUNTER, TIMESTAMP, SAMPLES = 1, 0x1600, 0x3300
MAX_SELECTED = 64  # num_outputs
MAX_VALUES = 256  # of an item, which are counted
MAX_SELECTIONS = 4  # to be tried


class Suggestion:
    """The options of the source that receives the streams, or the reason for none.

    endpoints: a text, or a list with a text for each output
    options: name -> text of the value, as in Python
    notes: what could not be determined
    remarks: what else a user should know, such as values that are rounded
    timestamp: ID of the item to take for the timestamp; None: the likeliest one
    selection: index of the items to take for telling streams apart, if several can
    times: whether to set the number of samples and ticks of a heap
    trial: what this source has made of the packets; None before try_on()
    """

    def __init__(
        self, streams, endpoints, interface="", timestamp=None, selection=0, times=True
    ):
        self.options, self.reason = {}, ""
        self.notes, self.remarks = [], []
        self._step, self._per_time = 0, 0
        self.trial = None
        self._streams = [s for s in streams if s["heaps"] or s["descriptor_heaps"]]
        with_samples = [s for s in self._streams if s["heaps"] and s["items"]]
        if not with_samples:
            self.reason = "no SPEAD packet arrived"
            if streams:
                self.reason = "no heap with samples was complete"
            if any(s["heaps"] for s in streams):
                self.reason = "the heaps have no items besides those of SPEAD"
            return
        layouts = Counter(tuple(s["items"]) for s in with_samples)
        if len(layouts) > 1:
            self.notes.append(
                "streams with other items arrive, too: receive them apart"
            )
        layout = layouts.most_common(1)[0][0]
        self._streams = [s for s in with_samples if tuple(s["items"]) == layout]
        self._needs_items = False
        # those of the same senders first: others may describe other streams
        describing = [s for s in [*self._streams, *streams] if s["descriptions"]]
        self._described, self._formats = {}, None
        if describing:
            self._formats = describing[0]["formats"]
            self._described = {d["id"]: d for d in describing[0]["descriptions"]}
        encodings = {
            (d["id"], d["type"], d["is_complex"])
            for s in self._streams
            for d in s["descriptions"]
            if d["is_array"]
        }
        if len({id for id, *_ in encodings}) < len(encodings):
            self.notes.append(
                "senders describe their samples in different ways: give each its own "
                "source"
            )
        samples = {
            f["samples"] for f in (self._formats or {}).values() if "samples" in f
        }
        if samples and not samples & set(layout):
            self.notes.append("the descriptors do not describe the items of the heaps")
            self._described, self._formats = {}, None
        self.options["endpoints"] = json.dumps(endpoints)
        self._find_items()
        if timestamp is not None:
            self._timestamp, self._needs_items = timestamp, True
        self._find_times()
        if isinstance(endpoints, list):
            if self._per_time:
                self._per_time = round(self._per_time / len(endpoints))
            self.options["num_outputs"] = str(len(endpoints))
        self._add_type()
        self._add_selection(selection)
        if times:
            self._add_times()
        if interface:
            self.options["interface"] = json.dumps(interface)

    def call(self):
        """The constructor of the source, in Python."""
        text = f"spead.source(\n    {self.options['endpoints']},\n"
        for name, value in self.options.items():
            if name != "endpoints":
                text += f"    {name}={value},\n"
        return text + ")"

    def grc(self):
        """Label and value of each parameter in GRC."""

        def field(value):
            path, question_mark, rest = value.strip('"').partition("?")
            if os.path.isfile(path):  # GRC runs in the folder of the flow graph
                return os.path.abspath(path) + question_mark + rest
            one_line = re.sub(r"\s*\n\s*", " ", value)
            return one_line.replace("[ ", "[").replace(", ]", "]").strip('"')

        return {
            GRC_LABELS.get(name, name.replace("_", " ").capitalize()): (
                TYPES[value.strip('"')][0] if name == "output_type" else field(value)
            )
            for name, value in self.options.items()
        }

    def samples_item(self):
        """ID and description (or None) of the item that holds the samples."""
        return self._samples, self._described.get(self._samples)

    def merit(self):
        """More is better: the heaps of the trial, then fewer missing samples."""
        trial = self.trial  # None if the source has refused the options
        return (
            (trial["heaps_received"], -trial["samples_missing"]) if trial else (-1, 0)
        )

    def receives_everything(self):
        """Whether all heaps arrived in the trial."""
        trial = self.trial
        return bool(trial) and trial["heaps_received"] >= trial["heaps"] > 0

    def is_doubtful(self):
        """Whether another source may receive more."""
        trial = self.trial
        return not self.receives_everything() or (
            trial["samples_missing"] > trial["samples_received"]
        )

    def try_on(self, inspector):
        """Let this source, exactly as printed, receive the packets of an inspector."""
        from gnuradio import spead

        call = self.call().replace("spead.source(", "dict(endpoints=", 1)
        options = eval(call, {"spead": spead})
        options.pop("interface", None)
        endpoints = options.pop("endpoints")
        if isinstance(endpoints, str):
            endpoints = [endpoints]
        try:
            self.trial = inspector.try_source(endpoints, **options)
        except ValueError as error:
            self.reason = str(error)

    def result(self):
        """What the trial showed, in lines."""
        trial = self.trial
        of_all = f" of {trial['heaps']:,} complete"
        if trial["heaps_received"] > trial["heaps"]:  # some repeat a heap counter
            of_all = ""
        text = f"tried: {trial['heaps_received']:,}{of_all} heaps received"
        # the first and the last heap may have arrived in part
        if trial["samples_missing"] * trial["heaps"] > 2 * trial["samples_received"]:
            text += f", {trial['samples_missing']:,} samples missing between them"
        if trial["is_partial"]:
            text += ", of a part of the packets"
        if self.receives_everything():
            return [text]
        ignored = f"{trial['packets_ignored']:,} packets ignored"
        if trial["ignored_reason"]:
            ignored += f", the latest because {trial['ignored_reason']}"
        return [text, *(trial["log"] or [ignored])]

    # Which items are the samples and the timestamp

    def _find_items(self):
        described = self._formats and next(
            (f for f in self._formats.values() if "error" not in f), None
        )
        items = self._streams[0]["items"]
        if described and described["samples"] in items:
            self._samples, self._timestamp = (
                described["samples"],
                described["timestamp"],
            )
            return
        addressed = {id: i for id, i in items.items() if not i["number"]}
        self._samples = max(
            addressed or items, key=lambda id: (id == SAMPLES, items[id]["max"])
        )
        counting = [
            id
            for id, item in items.items()
            if item["number"] and item["step"] and len(item["values"]) > MAX_SELECTED
        ]
        if TIMESTAMP in items and items[TIMESTAMP]["number"]:
            self._timestamp = TIMESTAMP
        elif self._streams[0]["single_packet_heaps"]:
            self._timestamp = HEAP_COUNTER
        else:
            self._timestamp = counting[0] if counting else None

    def other_timestamps(self):
        """Other items that may be the timestamp, if this one does not advance."""
        if self._step and self._timestamp is not None:
            return []
        items = self._streams[0]["items"]
        numbers = [
            id
            for id, item in items.items()
            if item["number"] and item["step"] and id != self._samples
        ]
        return [
            id for id in [TIMESTAMP, HEAP_COUNTER, *numbers] if id != self._timestamp
        ]

    def _values(self, id):
        return sorted({v for s in self._streams for v in s["items"][id]["values"]})

    def _find_times(self):
        self._step, self._per_time = 0, 0
        if self._timestamp == HEAP_COUNTER:
            self._step = self._streams[0]["heap_counter_step"]
            counters = sum(s["heap_counters"] for s in self._streams)
            self._per_time = round(sum(s["heaps"] for s in self._streams) / counters)
            if TIMESTAMP in self._streams[0]["items"]:
                self.remarks.append(
                    f"item {TIMESTAMP:#x} does not advance: if it does later, listen "
                    "for longer"
                )
        if self._timestamp not in self._streams[0]["items"]:
            return
        values = self._values(self._timestamp)
        steps = Counter(b - a for a, b in pairwise(values))
        if not steps:
            return
        self._step = steps.most_common(1)[0][0]
        all_items = [s["items"][self._timestamp] for s in self._streams]
        span = max(i["max"] for i in all_items) - min(i["min"] for i in all_items)
        heaps = sum(s["heaps"] + (s["heaps_lost"] or 0) for s in self._streams)
        self._per_time = round(heaps / (span // self._step + 1))
        if len(values) < MAX_VALUES:  # timestamps may have wrapped or restarted
            received = sum(s["heaps"] for s in self._streams)
            self._per_time = round(received / len(values))

    # Options

    def _add_type(self):
        self._axes = []
        self._sample_bytes = None
        self._needs_items |= not self._formats
        self._wire_type = ""
        array = self._described.get(self._samples)
        possible = array and [
            name
            for name in TYPES
            if self._formats and "error" not in self._formats[name]
        ]
        wire = self._formats[possible[0]]["wire_type"] if possible else ""
        if possible and "u" in wire and wire not in ("u1", "|u1"):
            possible = [n for n in possible if n in ("float", "complex")] or possible
        if possible and wire[-2:] in ("i4", "u4") and "int32" not in possible[:1]:
            self.remarks.append("floats round 32-bit integers above 2^24")
        if not possible:
            self.options["output_type"] = '"int8"'
            if self._formats:
                self.notes.append(f"as bytes: {self._formats['int8']['error']}")
                self._needs_items = True
            else:
                self.notes.append(
                    "without descriptors, the type of the samples is unknown: set "
                    "output_type and wire_type"
                )
            self._sample_bytes = 1
            return
        self.options["output_type"] = json.dumps(possible[0])
        self._wire_type = wire
        if wire == "i1" and array["bits"] != 8:
            self.remarks.append(f"as bytes: numbers of {array['bits']} bits")
        if wire == "u1" and possible[0] in ("int8", "sc8"):
            self.remarks.append("values above 127 become negative; floats keep them")
        bits = int("".join(c for c in wire if c.isdigit())) * 8
        self._sample_bytes = bits // 8
        if array["is_complex"] and "c" not in wire:
            self._sample_bytes *= 2
        shape = array["shape"]
        if array["is_complex"] and "c" not in wire:
            shape = shape[:-1]
        if len(shape) < 2 or None in shape:
            return
        names = AXES.get((self._samples, len(shape)))
        if not names:
            names = [f"axis_{i}" for i in range(len(shape))]
            self.notes.append(
                'name the axes: "time" runs along the stream, each "pol" has an output'
            )
        self._axes = [[n, size, size] for n, size in zip(names, shape, strict=True)]

    def _add_selection(self, index):
        """Several heaps of each time, which the value of an item tells apart."""
        candidates = self._find_selections()
        self.selections = len(candidates)
        selected = candidates[index] if candidates else ()
        if self._per_time and self._per_time > 1 and not selected:
            self.notes.append(
                f"there are {self._per_time} heaps of each time, which no items "
                "tell apart: give each stream its own port"
            )
        selections = {id: self._values(id) for id in selected}
        for id, item in self._streams[0]["items"].items():
            count = len(self._values(id))
            is_other = id not in (*selected, self._timestamp, self._samples)
            if item["number"] and is_other and 1 < count <= MAX_SELECTED:
                self.remarks.append(
                    f"item {id:#x} has {count} values: if each is a stream of its own, "
                    "select one in items"
                )
        for id in selected:
            part = self._part_of_axis(id, selections[id])
            if part is not None:
                size = self._axes[part][1]
                self._axes[part] = [self._name(id), size, size * len(selections[id])]
                del selections[id]
                break
        if self._axes:
            self.options["axes"] = json.dumps(
                ", ".join(
                    f"{name}={size}" + (f"/{total}" if total != size else "")
                    for name, size, total in self._axes
                )
            )
        if selections and (self._axes or len(selections) > 1):
            streams = math.prod(map(len, selections.values()))
            selections = {id: values[:1] for id, values in selections.items()}
            self.notes.append(
                f"of {streams} streams, this receives the first: see items"
            )
        elif selections:
            ((_, values),) = selections.items()
            self.options["num_outputs"] = str(len(values))
        if selections or self._needs_items:
            self._add_items(selections)

    def _find_selections(self):
        """The items whose values together may tell the heaps of a time apart."""
        if not self._per_time or self._per_time < 2:
            return []
        items = self._streams[0]["items"]
        counts = {
            id: len(self._values(id))
            for id, item in items.items()
            if item["number"] and id not in (self._timestamp, self._samples)
        }
        several = [id for id, count in counts.items() if 1 < count <= MAX_SELECTED]
        return [
            ids
            for number in (1, 2, 3)
            for ids in combinations(several, number)
            if math.prod(counts[id] for id in ids) == self._per_time
        ][:MAX_SELECTIONS]

    def _part_of_axis(self, selected, values):
        """The index of the axis of which heaps hold parts, or None."""
        name = self._name(selected)
        if selected not in self._described or name in ("time", "pol"):
            return None
        if not re.fullmatch(r"\w+", name):
            return None
        spacing = {b - a for a, b in pairwise(values)}
        for i, (_, size, _) in enumerate(self._axes):
            if values[0] == 0 and spacing == {size}:
                return i
        return None

    def _name(self, id):
        name = self._described.get(id, {}).get("name", "")
        names = [d["name"] for d in self._described.values()]
        is_own = name not in ("", "timestamp", "adc_samples") and names.count(name) == 1
        return name if is_own else f"item_{id:#x}"

    def _raw(self, id, value):
        """The value as in items, which know neither a sign nor a byte order."""
        if id not in self._described:
            return value
        bits = self._described[id]["bits"]
        raw = value % 2**bits
        if self._described[id]["type"].startswith("<"):
            raw = int.from_bytes(raw.to_bytes(bits // 8, "little"), "big")
        return raw

    def _add_items(self, selections):
        items = self._streams[0]["items"]
        lines = []
        if self._described.get(self._timestamp, {}).get("type", "").startswith("<"):
            self.notes.append(
                "the timestamps are little-endian, which items cannot give: give each "
                "stream its own port, and omit items"
            )
        if self._timestamp is not None:
            lines.append(f"spead.timestamp({self._timestamp:#x})")
        for id, item in items.items():
            if item["number"] and id not in (self._timestamp, self._samples):
                value = ""
                if id in selections:
                    raw = [self._raw(id, value) for value in selections[id]]
                    value = f", {raw if len(raw) > 1 else raw[0]}"
                lines.append(
                    f"spead.immediate({id:#x}, {json.dumps(self._name(id))}{value})"
                )
        lines.append(f"spead.samples({self._samples:#x})")
        self.options["items"] = (
            "[\n" + "".join(f"        {line},\n" for line in lines) + "    ]"
        )
        _, default = TYPES[json.loads(self.options["output_type"])]
        wire = self._wire_type.lstrip("|>")
        if wire and wire != default:
            self.options["wire_type"] = json.dumps(wire)

    def _add_times(self):
        if not self._step:
            return
        if self._axes:
            times = {name: size for name, size, _ in self._axes}.get("time", 1)
            if self._step != times:
                self.options["timestamp_step"] = str(self._step)
            return
        samples_item = self._streams[0]["items"][self._samples]
        samples = samples_item["max"] // self._sample_bytes
        if samples and samples != self._step:
            self.options["heap_samples"] = str(samples)
            self.options["timestamp_step"] = str(self._step)


def tried_suggestion(inspector, endpoints, interface=""):
    """The suggestion that receives most in a trial with the packets of an inspector."""
    streams = inspector.described_streams()
    first = best = Suggestion(streams, endpoints, interface)
    if first.reason:
        if inspector.is_partial() and any(s["heaps"] for s in inspector.streams()):
            first.reason = "a heap is larger than the 32 MiB that a trial may have"
        return first
    first.try_on(inspector)
    variants = [
        *({"timestamp": timestamp} for timestamp in first.other_timestamps()),
        *({"selection": i} for i in range(1, first.selections)),
        {"times": False},
    ]
    if len(inspector.endpoints()) > 1:
        variants.append({"endpoints": inspector.endpoints()})
    for variant in variants:
        if not best.is_doubtful():
            break
        chosen = {"endpoints": endpoints, "interface": interface} | variant
        other = Suggestion(streams, **chosen)
        other.try_on(inspector)
        best = max(best, other, key=Suggestion.merit)
    return best
