# Copyright 2026 The gr-spead authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""The source that receives inspected streams.

A suggestion is derived, tried, and written as a call and in GRC's labels: what is
printed must be what has been tried.
"""

import json
import math
import os
import re
from collections import Counter
from itertools import pairwise

from .heap_times import HEAP_COUNTER, MAX_SELECTED, HeapTimes
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
TIMESTAMP, SAMPLES = 0x1600, 0x3300
MAX_TIMESTAMPS = 3  # others to be tried
MAX_COUNTING = 8  # items that advance
MAX_TAGS = 32  # immediate items


class Suggestion:
    """The options of the source that receives the streams, or the reason for none.

    endpoints: a text, or a list with a text for each output
    options: name -> text of the value, as in Python
    notes: what could not be determined
    remarks: what else a user should know, such as values that are rounded
    timestamp: ID of the item to take for the timestamp; None: the likeliest one
    selection: index of the items to take for telling streams apart, if several can
    times: whether to set the number of samples and ticks of a heap
    shaped: whether to set axes
    sender: the one whose descriptors are used
    wire_type: type of the numbers in packets, as in numpy; empty: unknown
    trial: what this source has made of the packets; None before try_on()
    """

    def __init__(
        self,
        streams,
        endpoints,
        interface="",
        *,
        timestamp=None,
        selection=0,
        times=True,
        shaped=True,
    ):
        self.options, self.reason, self.sender = {}, "", ""
        self.notes, self.remarks = [], []
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

        def arrays(stream):
            return tuple(id for id, i in stream["items"].items() if not i["number"])

        layouts = Counter(map(arrays, with_samples))
        if len(layouts) > 1:
            self.notes.append(
                "streams with other items arrive, too: receive them apart"
            )
        layout = layouts.most_common(1)[0][0]
        self._streams = [s for s in with_samples if arrays(s) == layout]
        self._needs_items = False
        # those of the same senders first: others may describe other streams
        describing = [s for s in [*self._streams, *streams] if s["descriptions"]]
        self.sender = (describing or self._streams)[0]["sender"]
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
        if samples and not samples & {id for s in self._streams for id in s["items"]}:
            self.notes.append("the descriptors do not describe the items of the heaps")
            self._described, self._formats = {}, None
        self.endpoints = endpoints
        self.options["endpoints"] = json.dumps(endpoints)
        self._find_items()
        if timestamp is not None:
            self._timestamp, self._needs_items = timestamp, True
        self._find_times(isinstance(endpoints, list))
        if isinstance(endpoints, list):
            self.options["num_outputs"] = str(len(endpoints))
        self._add_type(shaped)
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

    def arguments(self):
        """The arguments of the constructor but for the endpoints, on one line."""
        options = (
            f"{name}={value}"
            for name, value in self.options.items()
            if name != "endpoints"
        )
        return re.sub(r"\s+", " ", ", ".join(options))

    def grc(self):
        """Label and value of each parameter in GRC."""

        def absolute(endpoint):
            if os.path.isfile(endpoint):  # GRC runs in the folder of the flow graph
                return os.path.abspath(endpoint)
            path, question_mark, rest = endpoint.partition("?")
            is_file = question_mark and os.path.isfile(path)
            return os.path.abspath(path) + question_mark + rest if is_file else endpoint

        def field(name, value):
            if name == "endpoints":
                endpoints = self.endpoints
                if isinstance(endpoints, str):
                    return absolute(endpoints)
                return str([absolute(endpoint) for endpoint in endpoints])
            one_line = re.sub(r"\s*\n\s*", " ", value)
            return one_line.replace("[ ", "[").replace(", ]", "]").strip('"')

        return {
            GRC_LABELS.get(name, name.replace("_", " ").capitalize()): (
                TYPES[value.strip('"')][0]
                if name == "output_type"
                else field(name, value)
            )
            for name, value in self.options.items()
        }

    def has_counters_with_times(self):
        """Whether heap counters hold the timestamps, so that no loss can be counted."""
        return bool(self.options) and self._times.are_in_counters

    def has_no_time(self):
        """Whether heap counters place the samples, for want of a timestamp."""
        return bool(self.options) and self._timestamp is None

    def timestamp_id(self):
        """ID of the timestamp; None without one."""
        return self._timestamp

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
        try:
            options = eval(call, {"spead": spead})
            options.pop("interface", None)
            endpoints = options.pop("endpoints")
            if isinstance(endpoints, str):
                endpoints = [endpoints]
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
        times = [id for id in self._described if self._is_described_time(id)]
        times = [id for id in [*times, TIMESTAMP] if id in items]
        times = [id for id in times if items[id]["number"]]
        if times:
            self._timestamp = times[0]
        elif (
            self._streams[0]["single_packet_heaps"]
            and self._streams[0]["heap_counter_step"]
        ):
            self._timestamp = HEAP_COUNTER
        else:
            counting = self._counting_items()
            many = [id for id in counting if len(self._values(id)) > MAX_SELECTED]
            self._timestamp = many[0] if many else None

    def other_timestamps(self):
        """Other items that may be the timestamp, likeliest first."""
        if self._timestamp in (None, HEAP_COUNTER) or not self._step:
            others = [TIMESTAMP, HEAP_COUNTER, *self._counting_items()]
        elif (
            self._is_described_time(self._timestamp)
            or self._times.selections
            or self._times.excess
            or self._times.heaps_per_time() > 1
        ):  # any other would mix streams
            return []
        else:
            others = self._counting_items()
        return [id for id in dict.fromkeys(others) if id != self._timestamp][
            :MAX_TIMESTAMPS
        ]

    def _is_described_time(self, id):
        item = self._described.get(id)
        return item and (id == TIMESTAMP or item["name"].lower() == "timestamp")

    def _counting_items(self):
        """The items that advance, the likeliest timestamp first."""
        items = self._streams[0]["items"]
        counting = [
            id
            for id, item in items.items()
            if item["number"] and item["step"] and id != self._samples
        ]

        regularity = {}
        for id in counting[:MAX_COUNTING]:
            times = HeapTimes(self._heaps(), id, [self._samples])
            regularity[id] = times.regularity
        return sorted(regularity, key=lambda id: -regularity[id])

    def _heaps(self):
        """The heaps with samples of each stream."""
        return [
            [heap for heap in stream["first_heaps"] if self._samples in heap[2]]
            for stream in self._streams
        ]

    def _has_several_endpoints(self):
        return len({stream["endpoint"] for stream in self._streams}) > 1

    def _values(self, id):
        items = [s["items"][id] for s in self._streams if id in s["items"]]
        return sorted({value for item in items for value in item["values"]})

    def _find_times(self, is_apart):
        excluded = [self._samples]
        self._times = HeapTimes(self._heaps(), self._timestamp, excluded, is_apart)
        self._step = self._times.step
        if self._timestamp == HEAP_COUNTER:
            self._step = self._streams[0]["heap_counter_step"] or self._step
            item = self._streams[0]["items"].get(TIMESTAMP)
            if item and item["number"] and not item["step"]:
                self.notes.append(
                    f"item {TIMESTAMP:#x} does not advance: if it does later, listen "
                    "for longer"
                )
        if self._timestamp is None:
            described = next(filter(self._is_described_time, self._described), None)
            reason = "no timestamp is known"
            if described is not None:
                reason = f"item {described:#x} is no integer"
            self.remarks.append(f"{reason}: heap counters place the samples in time")
        has_time = self._timestamp not in (None, HEAP_COUNTER)
        if self._has_several_endpoints() and not has_time and not is_apart:
            self.notes.append(
                "without timestamps, nothing tells the streams of several endpoints "
                "apart: give each endpoint its own source"
            )
        all_heaps = sum(len(stream["first_heaps"]) for stream in self._streams)
        if others := all_heaps - sum(map(len, self._heaps())):
            self.remarks.append(
                f"{others} of {all_heaps} heaps do not have item {self._samples:#x}: "
                "they are ignored"
            )

    # Options

    def _add_type(self, shaped):
        self._axes = []
        self._sample_bits = None
        self._needs_items |= not self._formats
        self.wire_type = ""
        array = self._described.get(self._samples)
        possible = array and [
            name
            for name in TYPES
            if self._formats and "error" not in self._formats[name]
        ]
        as_bytes = [
            name
            for name in possible or []
            if self._formats[name]["wire_type"] == "i1" and array["bits"] != 8
        ]
        possible = [n for n in possible or [] if n not in as_bytes] or as_bytes
        wire = self._formats[possible[0]]["wire_type"] if possible else ""
        if possible and "u" in wire and wire not in ("u1", "|u1"):
            possible = [n for n in possible if n in ("float", "complex")] or possible
        if possible and wire[-2:] in ("i4", "u4") and "int32" not in possible[:1]:
            self.remarks.append("floats round 32-bit integers above 2^24")
        if wire.endswith(("f8", "c16")):
            self.remarks.append("64-bit floats are rounded to 32 bits")
        if not possible:
            self.options["output_type"] = '"int8"'
            if self._formats:
                error = self._formats["int8"]["error"]
                reason = error.removesuffix("; set items to output their bytes")
                self.notes.append(f"as bytes: {reason}")
                self._needs_items = True
            else:
                self.notes.append(
                    "no descriptors have arrived: listen for longer (instruments send "
                    "them every 5 s), or"
                )
                self.notes.append(
                    "set output_type and wire_type, and divide heap_samples by the "
                    "bytes of a sample"
                )
            self._sample_bits = 8
            return
        self.options["output_type"] = json.dumps(possible[0])
        self.wire_type = wire
        is_bytes = possible[0] in as_bytes
        if is_bytes:
            self.remarks.append(f"as bytes: numbers of {array['bits']} bits")
        if wire == "u1" and possible[0] in ("int8", "sc8"):
            self.remarks.append(
                "values above 127 become negative; float and complex with scale=1 keep "
                "them"
            )
        if possible[0] in ("float", "complex") and wire.strip("<>|")[0] in "iu":
            self.options["scale"] = "1"
            self.remarks.append(
                "scale=1 keeps the numbers; without it, 1.0 is full scale"
            )
        self._sample_bits = 8 if is_bytes else array["bits"]
        if array["is_complex"] and "c" not in wire:
            self._sample_bits *= 2
        shape = array["shape"]
        if array["is_complex"] and "c" not in wire:
            shape = shape[:-1]
        if not is_bytes and None not in shape:
            size = math.prod(shape) * self._sample_bits // 8
            item = self._streams[0]["items"][self._samples]
            if not item["number"] and item["max"] > size:
                self.remarks.append(
                    f"the samples are described as {size} bytes, but heaps hold "
                    f"{item['max']}"
                )
        if len(shape) < 2 or None in shape or is_bytes or not shaped:
            return
        names = AXES.get((self._samples, len(shape)))
        if not names:
            names = [f"axis_{i}" for i in range(len(shape))]
            self.remarks.append(
                'name the axes: "time" runs along the stream, each "pol" has an output'
            )
        self._axes = [[n, size, size] for n, size in zip(names, shape, strict=True)]

    def _add_selection(self, index):
        """Several heaps of each time, which the value of an item tells apart."""
        candidates = self._times.selections
        self.selections = len(candidates)
        selected = candidates[index] if candidates else ()
        per_time = self._times.heaps_per_time()
        if self._times.excess:
            count = len(self._values(self._times.excess))
            self.notes.append(
                f"item {self._times.excess:#x} has {count} values; a source receives "
                f"{MAX_SELECTED} of them: select them in items"
            )
        elif (per_time > 1 or self._times.senders_differ) and not selected:
            remedy = "give each stream its own port"
            if self._has_several_endpoints():
                remedy = "give each endpoint its own source"
            count = max(per_time, 2)
            self.notes.append(
                f"there are {count} heaps of each time, which no items tell apart: "
                f"{remedy}"
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
                # descriptors do not tell which item divides this axis
                self._needs_items |= name != self._described[selected]["name"]
                return i
        return None

    def _name(self, id):
        name = self._described.get(id, {}).get("name", "")
        names = [d["name"] for d in self._described.values()]
        is_own = name not in ("", "timestamp", "adc_samples") and names.count(name) == 1
        return name if is_own else f"item_{id:#x}"

    def _is_axis(self, id):
        return any(name == self._name(id) for name, *_ in self._axes)

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
        tags = [
            id
            for id, item in items.items()
            if item["number"] and id not in (self._timestamp, self._samples)
        ]
        needed = [id for id in tags if id in selections or self._is_axis(id)]
        shown = set(needed + tags[: max(MAX_TAGS - len(needed), 0)])
        if len(shown) < len(tags):
            self.remarks.append(f"{len(tags) - len(shown)} more items can become tags")
        for id in tags:
            if id in shown:
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
        wire = self.wire_type.lstrip("|>")
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
        samples = samples_item["max"] * 8 // self._sample_bits
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
        {"shaped": False},
    ]
    chosen = {"endpoints": endpoints, "interface": interface}
    if len(apart := inspector.endpoints()) > 1:
        variants.insert(0, {"endpoints": apart})
        variants += [{"endpoints": apart}, {"endpoints": apart, "shaped": False}]
        if first.has_no_time():  # nothing else tells the streams apart
            chosen["endpoints"] = apart
            best = Suggestion(streams, **chosen)
            best.try_on(inspector)
    for variant in variants:
        if not best.is_doubtful():
            break
        other = Suggestion(streams, **chosen | variant)
        other.try_on(inspector)
        if other.merit() > best.merit():
            best, chosen = other, chosen | variant
    return best
