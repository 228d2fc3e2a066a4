# Copyright 2026 The gr-spead authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""A stream is recorded as it is, whenever its descriptors arrive."""

import pytest
from capture_files import capture
from gnuradio.spead.described_stream import inspected_stream, wait_for_descriptors
from gnuradio.spead.spead_python import _inspector
from gnuradio.spead.suggestion import tried_suggestion
from inspected_streams import HEAP, antennas_and_parts
from places import NEEDS_LIBPCAP

PARTS = 8


class LiveInspector:
    """Receives the heaps of one time in each call, in real time."""

    def __init__(self, times):
        self._inspector = _inspector("127.0.0.1:0")
        self._times = iter(times)

    def __getattr__(self, name):
        return getattr(self._inspector, name)

    def receive(self, seconds):
        for packet in next(self._times, []):
            self._inspector.add(packet, "127.0.0.1:1", 0)
        self._inspector.receive(seconds)


def test_late_descriptors_are_awaited_with_several_heaps_after_them():
    descriptors, *heaps = antennas_and_parts(True, 1, PARTS)
    times = [heaps[i : i + PARTS] for i in range(0, len(heaps), PARTS)]
    times[10].insert(0, descriptors)
    inspector = LiveInspector(times)
    wait_for_descriptors(inspector, timeout=0)
    suggestion = tried_suggestion(inspector, "127.0.0.1:0")
    assert suggestion.timestamp_id() == 0x1600
    assert suggestion.options["timestamp_step"] == str(HEAP)


@NEEDS_LIBPCAP
def test_heaps_of_a_single_time_are_not_recorded_by_their_counters(tmp_path):
    heaps = antennas_and_parts(True, 1, PARTS)[: 1 + PARTS]
    path = capture(tmp_path / "stream.pcap", heaps)
    with pytest.raises(ValueError, match="item 0x1600 does not advance"):
        inspected_stream(str(path), "", 0)
