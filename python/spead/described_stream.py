# Copyright 2026 The gr-spead authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Finds out what arrives at an endpoint, to record it."""

import os
import sys
import time
from collections.abc import Callable
from typing import Any, NamedTuple

from .spead_python import _inspector, source
from .stream_report import reason_for_nothing
from .suggestion import tried_suggestion

WAIT_SECONDS = 20  # for descriptors; instruments repeat them every 5 s
MIN_SECONDS, MIN_HEAPS = 1, 64  # after them, to see all streams and how time advances


class Stream(NamedTuple):
    """A stream to record.

    endpoints, options: of the source
    text: the options as text, as in Python
    wire_type: type of the numbers in packets, as in numpy; empty: as the output
    samples: description of the item with the samples, or None
    descriptions: of all items
    heap_address_bits: None if unknown
    make_source: function that makes the source
    """

    endpoints: Any
    options: dict
    text: str
    wire_type: str
    samples: dict | None = None
    descriptions: list = []  # noqa: RUF012, not changed
    heap_address_bits: int | None = None
    make_source: Callable = source


def given_stream(endpoints, text):
    """The stream that a source with these options receives.

    text: arguments of spead.source(), as spead-inspect prints them
    """
    from gnuradio import spead

    def call(endpoints=endpoints, **options):
        return endpoints, options

    try:
        endpoints, options = eval(f"call({text})", {"call": call, "spead": spead})
    except Exception as error:
        raise ValueError(f"--options {text!r}: {error}") from None
    return Stream(endpoints, options, text, options.get("wire_type", ""))


def inspected_stream(endpoints, interface, timeout):
    """The stream that arrives, according to its descriptors.

    timeout: seconds without packets after which to give up; 0: never
    Raises ValueError if a source cannot receive all of it.
    """
    path = endpoints.split("?")[0]
    if os.path.exists(path) and not os.path.isfile(path):
        raise ValueError(f"{path} can be read only once; give --options")
    inspector = _inspector(endpoints, "" if os.path.isfile(path) else interface)
    if not inspector.is_capture():
        endpoints = ",".join(inspector.endpoints())
        print(f"listening on {endpoints}", flush=True)
    wait_for_descriptors(inspector, timeout)
    if not inspector.streams():
        raise ValueError(reason_for_nothing(inspector, [endpoints]))
    suggestion = tried_suggestion(inspector, endpoints)
    if suggestion.reason:
        raise ValueError(suggestion.reason)
    text = suggestion.arguments()
    if suggestion.notes or not suggestion.trial["heaps_received"]:
        reasons = suggestion.notes or suggestion.result()
        raise ValueError(
            "the descriptors do not tell everything; complete these options, and give"
            f" them as --options '{text}'\n{chr(10).join(reasons)}"
        )
    for remark in suggestion.remarks:
        print(f"spead-record: {remark}", file=sys.stderr)
    if not inspector.is_capture():
        if any(stream["ends"] for stream in inspector.streams()):
            raise ValueError(
                "the stream ended before its format was known; to record it from its"
                f" first heap, give --options '{text}'"
            )
        heaps = sum(stream["heaps"] for stream in inspector.streams())
        print(
            f"recording from now on, after {heaps:,} heaps; to record a stream from its"
            f" first heap, give --options '{text}'",
            flush=True,
        )
    return _described_stream(inspector, suggestion, text)


def _described_stream(inspector, suggestion, text):
    described = next(s for s in inspector.streams() if s["descriptions"])
    stream = given_stream(suggestion.endpoints, text)
    if not inspector.is_capture():  # its descriptors may not arrive again
        stream = stream._replace(make_source=inspector.described_source())
    return stream._replace(
        wire_type=suggestion.wire_type,
        samples=suggestion.samples_item()[1],
        descriptions=described["descriptions"],
        heap_address_bits=described["heap_address_bits"],
    )


def wait_for_descriptors(inspector, timeout):
    """Inspect until the stream is known, it ends, or waiting is futile."""
    first = known = None
    last, packets, known_heaps = time.monotonic(), 0, 0
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
        if is_known and known is None:
            known, known_heaps = now, heaps
        if inspector.is_capture():
            if inspector.has_ended() or (is_known and inspector.is_partial()):
                return
        elif (
            any(stream["ends"] for stream in streams)
            or (
                is_known
                and heaps - known_heaps >= MIN_HEAPS
                and now - known >= MIN_SECONDS
            )
            or waited >= WAIT_SECONDS
            or (timeout and now - last >= timeout)
        ):
            return
