# Copyright 2026 The gr-spead authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Wireshark's dissector, packaging/wireshark/spead.lua."""

import random
import shutil
import subprocess

import instrument_captures
import pytest
from capture_files import capture
from crafted_packets import addressed, descriptor, descriptor_heap, immediate, packet
from gnuradio.spead.spead_python import _inspector
from inputs import packet_of
from places import BOUND, NEEDS_LIBPCAP, ROOT

pytestmark = [
    NEEDS_LIBPCAP,
    pytest.mark.skipif(not shutil.which("tshark"), reason="needs tshark"),
]
DISSECTOR = ROOT / "packaging" / "wireshark" / "spead.lua"


def dissected(path, *fields, occurrence="a"):
    """The values of these fields in each frame, as lists of text."""
    options = ["-T", "fields", "-E", f"occurrence={occurrence}", "-E", "aggregator=|"]
    for field in fields:
        options += ["-e", field]
    program = subprocess.run(
        ["tshark", "-X", f"lua_script:{DISSECTOR}", "-r", path, *options],
        capture_output=True,
        text=True,
        timeout=BOUND,
        check=True,
    )
    assert "Lua" not in program.stdout
    assert "Lua" not in program.stderr
    return [
        [values.split("|") if values else [] for values in line.split("\t")]
        for line in program.stdout.splitlines()
    ]


@pytest.mark.parametrize("name", instrument_captures.CAPTURES)
def test_captures_of_instruments_are_dissected(tmp_path, name):
    path = tmp_path / "stream.pcap"
    instrument_captures.write_capture(path, name, seconds=1)
    rows = dissected(
        path,
        "udp.payload",
        "spead.item.id",
        "spead.heap_counter",
        "spead.heap_length",
        "spead.payload_offset",
        "spead.timestamp",
        "spead.payload",
        "spead.malformed",
        occurrence="f",  # without the items of descriptors
    )
    all_ids = dissected(path, "spead.item.id")
    assert len(rows) > 10
    for row, (ids,) in zip(rows, all_ids, strict=True):
        (datagram,), _, *fields = row
        sent = packet_of(bytes.fromhex(datagram), 48)
        numbers = [sent.cnt, sent.size, sent.offset, sent.items.get(0x1600)]
        assert fields[:4] == [[] if n is None else [str(n)] for n in numbers]
        assert fields[4:] == [[sent.payload.hex()] if sent.payload else [], []]
        assert [int(id, 16) for id in ids][: len(sent.ids)] == sent.ids


def test_items_have_the_names_of_their_descriptors(tmp_path):
    descriptors = [
        descriptor("timestamp", 0x1600, format=[("u", 40)]),
        descriptor("gain", 0x7001, format=[("u", 40)]),
    ]
    items = [immediate(0x7001, 5), immediate(0x7002, 6), addressed(0x3300, 0)]
    path = capture(
        tmp_path / "stream.pcap",
        [descriptor_heap(descriptors, 1), packet(2, items, bytes(100))],
    )
    _, (names,) = dissected(path, "spead.item.name")
    assert names[-2:] == ["gain", "samples"]
    _, ((text,),) = dissected(path, "_ws.col.Info")
    assert text == "Heap 2, bytes 0 + 100 of 100"


def test_damaged_packets_are_marked(tmp_path):
    chooser = random.Random(7)
    packets = []
    for i in range(600):
        items = [immediate(0x1600, i), addressed(chooser.choice([0x3300, 5, 0x10]), 0)]
        damaged = bytearray(packet(i, items, chooser.randbytes(64)))
        for _ in range(chooser.randrange(3)):
            damaged[chooser.randrange(6, len(damaged))] ^= 1 << chooser.randrange(8)
        packets.append(bytes(damaged[: chooser.choice([len(damaged), 8, 40, 70, 150])]))
    rows = dissected(capture(tmp_path / "stream.pcap", packets), "spead.malformed")
    for data, (marks,) in zip(packets, rows, strict=True):
        inspector = _inspector("127.0.0.1:0")
        inspector.add(data, "127.0.0.1:1", 0)
        rejected = set(inspector.rejected())
        if "items" not in rejected:  # a limit of gr-spead
            assert bool(marks) == bool(rejected), (data.hex(), rejected)
