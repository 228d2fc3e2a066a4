#!/usr/bin/env python3
# Copyright 2026 The gr-spead authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""make_blocks.py BLOCKS OUTPUT: completes the GRC blocks.

Adds the documentation to the SPEAD UDP Sink and Source, and writes a block for the
stream of each instrument: these blocks with other default values, which users may
change.
"""

import re
import sys
from pathlib import Path

from block_documentation import TOP, documentation

DIGITISER = {
    "num_inputs": "2",
    "heap_samples": "4096",
    "max_packet_size": "4168",
    "heap_address_bits": "48",
    "heap_id_start": "2",
    "items": '[spead.timestamp(), spead.immediate(0x3101, "digitiser_id", [0, 1]), '
    'spead.immediate(0x3102, "digitiser_status", 0), spead.samples(0x3300)]',
    "tail": "drop",
    "send_stop": "False",
}
DIGITISER_SINK = {
    "destinations": "['127.0.0.1:7148', '127.0.0.1:7149']",
    "input_type": "float",
    **DIGITISER,
}
DIGITISER_SOURCE = {
    "endpoints": "['127.0.0.1:7148', '127.0.0.1:7149']",
    "output_type": "float",
    "num_outputs": "2",
}
CHANNELISED_SINK = {
    "heap_address_bits": "48",
    "descriptors": "separate",
    "descriptor_interval": "5",
    "tail": "drop",
    "timestamp_step": "2 * 1024 * 256",
}
CHANNELISED_SOURCE = {"timestamp_step": "2 * 1024 * 256"}
F_ENGINE = {"axes": "frequency=64/1024, time=256, pol=2"}
# The value of "feng_id" is also the first heap counter.
F_ENGINE_ITEMS = (
    '[spead.timestamp(), spead.immediate(0x4101, "feng_id", {}), '
    'spead.immediate(0x4103, "frequency", []), spead.samples(0x4300, "feng_raw")]'
)
BEAM = {"axes": "frequency=64/1024, time=256"}
STATION_BEAM = {
    "items": '[spead.immediate(0x3010, "scan_id", 1), '
    'spead.immediate(0x3000, "channel", 3 << 16 | 100), '
    'spead.immediate(0x3001, "station", 5 << 16), '
    'spead.samples(0x3300, "voltages")]',
    "axes": "time=2048, pol=2",
}

# ID and label of the stream, page of the manual -> fields of the sink and the source
PRESETS = {
    ("meerkat_digitiser", "MeerKAT Digitiser", "meerkat"): (
        DIGITISER_SINK
        | {
            "heap_id_step": "2",
            "descriptors": "separate",
            "descriptor_interval": "5",
        },
        DIGITISER_SOURCE,
    ),
    ("meerkat_f_engine", "MeerKAT F-Engine", "meerkat"): (
        CHANNELISED_SINK
        | F_ENGINE
        | {
            "items": F_ENGINE_ITEMS.format(0),
            "heap_id_start": "0",
            "heap_id_step": "64",
        },
        CHANNELISED_SOURCE | F_ENGINE,
    ),
    ("meerkat_beam", "MeerKAT Beam", "meerkat"): (
        CHANNELISED_SINK
        | BEAM
        | {
            "items": "[spead.timestamp(), "
            'spead.immediate(0x4103, "frequency", []), '
            'spead.samples(0x5000, "bf_raw")]'
        },
        CHANNELISED_SOURCE | BEAM,
    ),
    ("effelsberg_packetiser", "Effelsberg Packetiser", "effelsberg"): (
        DIGITISER_SINK | {"descriptors": "none"},
        DIGITISER_SOURCE | {"items": "[spead.timestamp(), spead.samples(0x3300)]"},
    ),
    ("ska_low_station_beam", "SKA-Low Station Beam", "ska_low"): (
        STATION_BEAM
        | {
            "single_packet_heaps": "True",
            "max_packet_size": "9000",
            "heap_address_bits": "48",
            "descriptors": "none",
            "tail": "drop",
            "send_stop": "False",
        },
        STATION_BEAM
        | {
            "items": STATION_BEAM["items"].replace("[", "[spead.timestamp(1), "),
            # heap counters are packets since 2000-01-01 00:00:00 TAI
            "timestamp_step": "1",
            "sample_rate": "(31250000, 69120)",
            "sync_time": "946684768",
        },
    ),
}


def replaced(text, pattern, value):
    """The text with the value instead of the only group of the pattern."""
    match = re.search(pattern, text)
    return text[: match.start(1)] + value + text[match.end(1) :]


def label_of(field, block):
    return re.search(rf"\n-   id: {field}\n(?:    #.*\n)*    label: (.*)\n", block)[1]


def preset(block, kind, stream, label, page, fields):
    """The description of a block with other defaults."""
    title = f"{label} {kind.capitalize()}"
    block = replaced(block, rf"\nid: (spead_{kind})\n", f"spead_{stream}_{kind}")
    block = replaced(block, r"\nlabel: (.*)\n", title)
    block = replaced(block, r"\ncategory: '(.*)'\n", "[SPEAD]/Instruments")
    lines = [
        f"The SPEAD UDP {kind.capitalize()} with other defaults, the options of the"
        f" {label}, which may be changed:",
        *(f"{label_of(name, block)}: {value}" for name, value in fields.items()),
        f"The page docs/instruments/{page}.md in the source code of gr-spead describes"
        " the stream. With axes, a stream consists of vectors: the product of all sizes"
        ' but "time" and "pol".',
    ]
    text = "\n\n\n".join("    " + line for line in lines)
    block = replaced(block, r"\ndocumentation: >-\n()", f"{text}\n\n\n")
    for name, value in fields.items():
        quoted = "'" + value.replace("'", "''") + "'"
        field = rf"\n-   id: {name}\n(?:    .*\n)*?    default: (.*)\n"
        block = replaced(block, field, quoted)
    return block


def share_feng_id(block):
    """The F-engine's sink with a single field for the feng_id and the heap counters."""
    for name, label in (("start", "feng_id"), ("step", "antennas")):
        field = rf"\n-   id: heap_id_{name}\n    label: (.*)\n"
        block = replaced(block, field, f"Heap ID {name} ({label})")
        field = rf"\n-   id: heap_id_{name}\n(?:    .*\n)*?    hide: (.*)\n"
        block = replaced(block, field, "none")
    block = replaced(block, r"\n-   id: items\n(?:    .*\n)*?    hide: (.*)\n", "all")
    items = F_ENGINE_ITEMS.format("${heap_id_start}")
    block = replaced(block, r"\n            items=(.*),\n", items)
    return replaced(block, r"(    - .*'set_items'.*\n)", "")


def with_sample_types(block):
    """The block with the lists of sample types, from the table in C++."""
    header = TOP / "lib" / "core" / "protocol" / "sample_format.h"
    row = r'\{ ("\w+"), sample_type::.*, ("\w+"), ("[\w ]+") \}'
    columns = zip(*re.findall(row, header.read_text()), strict=True)
    for name in ("SAMPLE_TYPES", "SAMPLE_TYPE_PORTS", "SAMPLE_TYPE_LABELS"):
        block = block.replace(f": {name}\n", f": [{', '.join(next(columns))}]\n")
    return block


def main():
    folder, output = map(Path, sys.argv[1:])
    blocks = {}
    for kind in ("sink", "source"):
        name = f"spead_{kind}.block.yml"
        block = with_sample_types((folder / name).read_text())
        end = "file_format: 1\n"
        blocks[kind] = block.replace(end, documentation(kind, block) + end)
        (output / name).write_text(blocks[kind])
    for (stream, label, page), presets in PRESETS.items():
        for (kind, block), fields in zip(blocks.items(), presets, strict=True):
            text = preset(block, kind, stream, label, page, fields)
            if (stream, kind) == ("meerkat_f_engine", "sink"):
                text = share_feng_id(text)
            (output / f"spead_{stream}_{kind}.block.yml").write_text(text)


if __name__ == "__main__":
    main()
