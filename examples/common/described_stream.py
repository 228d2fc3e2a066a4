# Copyright 2026 The gr-spead authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Finds out what arrives at an endpoint, to record it."""

import json
import os
import time
from typing import NamedTuple

from gnuradio import spead
from gnuradio.spead.spead_python import _inspector
from gnuradio.spead.stream_report import reason_for_nothing
from gnuradio.spead.suggestion import tried_suggestion

TYPES = {  # SigMF name -> output_type and wire_type of the source
    "ri8": ("int8", "i1"),
    "ri16_le": ("int16", "i2"),
    "ri32_le": ("int32", "i4"),
    "rf32_le": ("float", "f4"),
    "ci8": ("sc8", "i1"),
    "ci16_le": ("sc16", "i2"),
    "cf32_le": ("complex", "f4"),
    "ru8": ("int8", "u1"),
    "cu8": ("sc8", "u1"),
}
WAIT_SECONDS = 20  # for descriptors; instruments repeat them every 5 s
MIN_SECONDS, MIN_HEAPS = 1, 64  # until all streams at the endpoints have been seen


class Stream(NamedTuple):
    endpoints: str
    type: str  # of SigMF
    heap_address_bits: int | None
    options: dict  # of the source


def given_stream(endpoints, type, timestamp_id, samples_id):
    """A stream whose descriptors are ignored."""
    output_type, wire_type = TYPES[type]
    items = [spead.timestamp(timestamp_id), spead.samples(samples_id)]
    options = {"output_type": output_type, "wire_type": wire_type, "items": items}
    return Stream(endpoints, type, None, options)


def inspected_stream(endpoints, interface, timeout):
    """The stream that arrives, according to its descriptors.

    Raises ValueError if it is not the only one, or cannot be recorded.
    """
    path = endpoints.split("?")[0]
    if os.path.exists(path) and not os.path.isfile(path):
        raise ValueError(f"{path} can be read only once; give --type")
    inspector = _inspector(endpoints, interface)
    if not inspector.is_capture():
        endpoints = ",".join(inspector.endpoints())
        print(f"listening on {endpoints}", flush=True)
    _wait_for_descriptors(inspector, timeout)
    streams = inspector.streams()
    if not streams:
        raise ValueError(reason_for_nothing(inspector, [endpoints]))
    stream = _described_stream(inspector, endpoints)
    if not inspector.is_capture():
        if any(stream["ends"] for stream in streams):
            raise ValueError(
                "the stream ended before its type was known; to record it from its"
                f" first heap, give --type {stream.type}"
            )
        heaps = sum(stream["heaps"] for stream in streams)
        print(
            f"recording {stream.type} from now on, after {heaps:,} heaps; with --type"
            f" {stream.type}, a recording begins with the first heap",
            flush=True,
        )
    return stream


def _wait_for_descriptors(inspector, timeout):
    """Inspect until the stream is known, it ends, or waiting is futile."""
    first = None
    last, packets = time.monotonic(), 0
    while True:
        inspector.receive(0.1)
        streams, now = inspector.streams(), time.monotonic()
        arrived = sum(stream["packets"] for stream in streams)
        arrived += sum(inspector.rejected().values())
        heaps = sum(stream["heaps"] for stream in streams)
        if arrived > packets:
            last, packets, first = now, arrived, first or now
        waited = now - first if first else 0
        is_known = heaps and any(stream["descriptions"] for stream in streams)
        if (
            inspector.is_capture()
            or any(stream["ends"] for stream in streams)
            or (is_known and (heaps >= MIN_HEAPS or waited >= MIN_SECONDS))
            or waited >= WAIT_SECONDS
            or (timeout and now - last >= timeout)
        ):
            return


def _described_stream(inspector, endpoints):
    streams = inspector.streams()
    described = next((stream for stream in streams if stream["descriptions"]), None)
    if not described:
        raise ValueError(
            "no descriptors arrived; to record the stream without them, give --type,"
            " and --timestamp-id and --samples-id if they are not 0x1600 and 0x3300"
        )
    suggestion = tried_suggestion(inspector, endpoints)
    if suggestion.reason:
        raise ValueError(suggestion.reason)
    suggested = {
        name: json.loads(text)
        for name, text in suggestion.options.items()
        if name != "items"
    }
    found = described["formats"][suggested["output_type"]]
    items = {item["id"]: item for item in described["descriptions"]}
    if "error" in found:
        raise ValueError(found["error"].split("; set")[0])
    samples, timestamp = items[found["samples"]], items.get(found["timestamp"])
    wire_type = found["wire_type"].lstrip("<>")
    is_sigmf = (suggested["output_type"], wire_type) in (
        *TYPES.values(),
        ("complex", "c8"),
    )
    if not is_sigmf or samples["bits"] != 8 * int(wire_type[1:]):
        raise ValueError(
            f"the samples are {samples['type']}, of {samples['bits']} bits, which this"
            " program cannot record"
        )
    if "axes" in suggested:
        raise ValueError(
            f"the samples have several axes, {suggested['axes']}; a recording has none"
        )
    if "num_outputs" in suggested:
        raise ValueError(
            f"{suggested['num_outputs']} streams arrive; a recording holds one, which"
            " needs an endpoint of its own"
        )
    if suggestion.notes:
        raise ValueError("; ".join(suggestion.notes))
    names = ("output_type", "heap_samples", "timestamp_step")
    options = {name: suggested[name] for name in names if name in suggested}
    # With items, the source need not wait for descriptors again. They cannot describe
    # all timestamps.
    if not timestamp or timestamp["type"] in (">u5", ">u6"):
        options["wire_type"] = found["wire_type"]
        options["items"] = [spead.samples(samples["id"])]
        if timestamp:
            options["items"].append(spead.timestamp(timestamp["id"]))
    unsigned = wire_type == "u1"
    name = next(
        name
        for name, (output_type, wire_type) in TYPES.items()
        if output_type == suggested["output_type"] and (wire_type == "u1") == unsigned
    )
    return Stream(endpoints, name, described["heap_address_bits"], options)
