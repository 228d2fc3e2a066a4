# Copyright 2026 The gr-spead authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""The blocks in Python, and options that are possible."""

from gnuradio import spead

TO = "127.0.0.1:7148"
AT = "127.0.0.1:0"  # a free port
ENDPOINTS = {"sink": {"destinations": TO}, "source": {"endpoints": AT}}
ITEMS = [spead.timestamp(), spead.samples()]
TIMESTAMP, SAMPLES = ITEMS
RX = {"sample_rate": 10}


def make(block, **options):
    """A "sink" or a "source", by default with an endpoint that any host has."""
    return getattr(spead, block)(**ENDPOINTS[block] | options)


def x(value, id=0x3101, name="x"):
    return spead.immediate(id, name, value)


def many(count):
    """So many items in all."""
    return [*ITEMS, *(x(0, 100 + i, str(i)) for i in range(count - 2))]


# At the very limits: the first of each, which is not the default. The others make it
# possible.
SINKS = [
    {"destinations": "[::1]:1"},
    {"destinations": "127.0.0.1:7148, localhost:1"},
    {"destinations": "127.0.0.1+7:7148"},
    {"destinations": ["127.0.0.1:1", "127.0.0.1:2"], "num_inputs": 2},
    {"heap_samples": 1},
    {"heap_samples": 2**32},
    {"num_inputs": 64},
    {"input_type": "complex"},
    {"wire_type": "<i2", "input_type": "int16"},
    {"axes": "channel=4, time=2, pol=2"},
    {"single_packet_heaps": True, "descriptors": "none", "heap_samples": 1000},
    {"wire_type": "c16", "input_type": "complex"},
    {"wire_type": "i10", "input_type": "float", "heap_samples": 4},
    {"wire_type": "i12", "input_type": "sc16", "heap_samples": 1},
    {"scale": 2**-126, "input_type": "float"},
    {"scale": 2.0**127, "input_type": "complex"},
    {"max_packet_size": 0},
    {"max_packet_size": 80},
    {"max_packet_size": 64, "descriptors": "none"},
    {"max_packet_size": 57, "descriptors": "none", "items": [SAMPLES]},
    {
        "max_packet_size": 56,
        "descriptors": "none",
        "items": [SAMPLES],
        "send_stop": False,
    },
    {"max_packet_size": 65507},
    {"heap_address_bits": 48},
    {"heap_id_start": 0},
    {"heap_id_start": 2**40 - 1},
    {"heap_id_start": 2**48 - 1, "heap_address_bits": 48},
    {"heap_id_step": 2**24 - 1},
    {"heap_id_step": 2**23 - 1, "num_inputs": 2},
    {"heap_id_step": 2**32 - 1, "heap_address_bits": 48},
    {"items": [SAMPLES]},
    {"items": [spead.samples(id=0x16), spead.timestamp(id=2**23 - 1)]},
    {"items": [spead.samples(id=2**15 - 1)], "heap_address_bits": 48},
    {"items": [SAMPLES, x(2**40 - 1)]},
    {"items": [SAMPLES, x(2**48 - 1)], "heap_address_bits": 48},
    {"items": [SAMPLES, x([1, 2])], "num_inputs": 2},
    {"items": many(125), "max_packet_size": 8972},
    {"items": many(250), "max_packet_size": 8972, "descriptors": "none"},
    {"descriptors": "separate"},
    {"descriptor_interval": 1e-3},
    {"descriptor_interval": 1e9, "descriptors": "separate"},
    {"pad_packets": False},
    {"timestamp_start": 2**40 - 1},
    {"timestamp_start": 2**48 - 1, "heap_address_bits": 48},
    {"timestamp_step": 0},
    {"timestamp_step": 2**40 - 1},
    {"timestamp_step": 1, **RX},
    {"sample_rate": 1},
    {"sample_rate": 1e12},
    {"sample_rate": (8000000, 7)},
    {"sync_time": "99999999999.999999999999999999", **RX},
    {"on_gap": "zero_fill", **RX},
    {"rate": 1e6},
    {"burst_size": 1},
    {"burst_size": 2**30},
    {"when_full": "drop"},
    {"buffer_size": 8 * 1472},
    {"tail": "drop"},
    {"send_stop": False},
    {"interface": "lo"},
    {"ttl": 0},
    {"ttl": 255},
    {"affinity": 0},
    {"stats_interval": 1e-3},
    {"stats_interval": 1e9},
]

SOURCES = [
    {"endpoints": "[::1]:0"},
    {"endpoints": "127.0.0.1:0, localhost:0"},
    {"endpoints": "127.0.0.1+7:0"},
    {"endpoints": [AT, AT], "num_outputs": 2},
    {"output_type": "complex"},
    {"wire_type": "<i2", "output_type": "int16", "items": ITEMS},
    {"axes": "channel=4/8, time=2, pol=2", "output_type": "sc8"},
    {"wire_type": "c8", "output_type": "complex", "items": ITEMS},
    {"wire_type": "i10", "output_type": "int16", "items": ITEMS},
    {"scale": 2**-126, "output_type": "float"},
    {"scale": 2.0**127, "output_type": "complex"},
    {"num_outputs": 64, "endpoints": [AT] * 64},
    {"num_outputs": 2, "items": [*ITEMS, x([1, 2])]},
    {"items": [SAMPLES]},
    {"items": [SAMPLES, x(2**48 - 1), TIMESTAMP]},
    {"items": [*ITEMS, x([0, 2**48 - 1])], "num_outputs": 2},
    {"items": many(255)},
    {"heap_samples": 1},
    {"heap_samples": 2**32},
    {"timestamp_step": 1},
    {"timestamp_step": 2**48 - 1},
    {"sample_rate": 1},
    {"sample_rate": 1e12},
    {"sample_rate": (8000000, 7)},
    {"sync_time": "99999999999.999999999999999999", **RX},
    {"timestamp_start": 0},
    {"timestamp_start": 2**63 - 1},
    {"timestamp_start": "1600000000.25", "sync_time": "1600000000", "sample_rate": 1},
    {"on_missing": "skip"},
    {"max_delay": 0},
    {"max_delay": 60.0},
    {"max_gap": 0},
    {"max_gap": 2**32},
    {"end_on_stop": False},
    {"realtime": True},
    {"repeat": True},
    {"timeout": 1e-3},
    {"timeout": 1e9},
    {"buffer_size": 2**18},
    {"stats_interval": 1e-3},
    {"stats_interval": 1e9},
    {"interface": "lo"},
]

# by the names of the blocks
POSSIBLE = {"sink": SINKS, "source": SOURCES}
