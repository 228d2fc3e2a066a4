# Copyright 2026 The gr-spead authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""A mistake is named where it is made: parameter, value, and what is allowed."""

import os

import pytest
from gnuradio import spead
from possible_options import AT, ITEMS, RX, SAMPLES, TO, make, many, x

CPUS = os.sysconf("SC_NPROCESSORS_CONF")
MEMORY = min(os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE"), 2**40)
EACH = "one samples(), at most one timestamp() and any number of immediate()"
A = spead.samples(name="a")

# parameters, how the value is shown, and what the message says of the allowed ones
SINKS = [
    ({"destinations": "host"}, '"host"', "port 1 to 65535"),
    ({"destinations": []}, "0 strings", "one string"),
    ({"destinations": [TO, TO]}, "2 strings", "one string, as num_inputs is 1"),
    (
        {"destinations": [TO, TO], "num_inputs": 3},
        "2 strings",
        "one string, or one for each of 3 inputs",
    ),
    (
        {"destinations": ["127.0.0.1+2047:1", "127.0.0.1+2048:1"], "num_inputs": 2},
        "4097 endpoints",
        "4096 in all",
    ),
    ({"destinations": "stream.pcapng"}, '"stream.pcapng"', '"FILE.pcap"'),
    ({"destinations": "s.pcap?host"}, '"s.pcap?host"', "port 1 to 65535"),
    (
        {"destinations": ["s.pcap", TO], "num_inputs": 2},
        '"s.pcap"',
        "addresses only, or the same capture",
    ),
    ({"destinations": "no-such.invalid:1"}, '"no-such.invalid:1"', "looked up"),
    ({"heap_samples": 0}, "0", "1 to 4294967296"),
    ({"num_inputs": 65}, "65", "1 to 64"),
    ({"input_type": "byte"}, '"byte"', '"sc8", "int16", "sc16", "int32", "float"'),
    ({"wire_type": ">i1"}, '">i1"', '"f8", "i10", "i12", or "" with'),
    ({"wire_type": "i1 ", "input_type": "sc16"}, '"i1 "', 'with input_type="sc16"'),
    ({"wire_type": "c8", "input_type": "float"}, '"c8"', '"i10", "i12", or "" with'),
    (
        {"wire_type": "<i10", "input_type": "int16"},
        '"<i10"',
        '"i10", "i12", or "" with',
    ),
    ({"wire_type": "i10", "input_type": "int32"}, '"i10"', '"f8", or "" with'),
    (
        {"heap_samples": 4098, "wire_type": "i10", "input_type": "int16"},
        "4098",
        'multiples of 4 samples per heap with wire_type="i10"',
    ),
    ({"axes": "channel=0"}, '"channel=0"', 'a list such as "channel=64/1024, time=256'),
    ({"single_packet_heaps": True}, "True", 'False with descriptors="first_heap"'),
    (
        {"single_packet_heaps": True, "descriptors": "none"},
        "True",
        "False with heaps of 8192 bytes, which do not fit into a packet of",
    ),
    ({"tail": "short", "axes": "a=4"}, '"short"', '"pad", "drop" or "" with axes'),
    (
        {"tail": "short", "wire_type": "<i2", "input_type": "int16"},
        '"short"',
        "with little-endian or complex wire_type, which fix the shape",
    ),
    ({"num_inputs": 2, "axes": "a=4"}, "2", '1 with axes: the size of "pol" is the'),
    ({"axes": "a=4", "sample_rate": 1}, '"a=4"', '"" with sample_rate'),
    ({"axes": "a=4/8"}, '"a=4/8"', "immediate() in items"),
    ({"scale": 1}, "1", 'None with input_type="int8"; it is for "float" and "complex"'),
    (
        {"scale": float("nan"), "input_type": "float"},
        "nan",
        "above 0, from 1.18e-38 to 3.40e+38",
    ),
    ({"max_packet_size": 79}, "79", "80 to 65507"),
    ({"max_packet_size": 63, "descriptors": "none"}, "63", "64 to 65507"),
    # the end-of-stream heap is larger
    (
        {"max_packet_size": 56, "items": [SAMPLES], "descriptors": "none"},
        "56",
        "57 to 65507",
    ),
    ({"heap_address_bits": 44}, "44", "40, 48"),
    ({"heap_id_start": 2**40}, str(2**40), f"0 to {2**40 - 1}"),
    ({"heap_id_start": 2**48, "heap_address_bits": 48}, str(2**48), f"{2**48 - 1}"),
    ({"heap_id_step": 2**24}, "16777216", f"1 to {2**24 - 1}"),
    (
        {"heap_id_step": 2**31, "heap_address_bits": 48, "num_inputs": 2},
        str(2**31),
        f"1 to {2**31 - 1}",
    ),
    ({"items": []}, "[]", EACH),
    ({"items": [A, spead.samples(id=0x3301, name="b")]}, 'name="b")]', EACH),
    ({"items": [A, *[spead.timestamp()] * 2]}, 'name="timestamp")]', EACH),
    (
        {"items": [spead.samples(id=2**15)], "heap_address_bits": 48},
        "id=0x8000",
        f"22 to {2**15 - 1}",
    ),
    ({"items": [A, spead.timestamp(name="a")]}, 'name="a"', "different IDs and names"),
    ({"items": [A, spead.timestamp(id=0x3300)]}, "id=0x3300", "different IDs"),
    ({"items": [A, x(2**40)]}, f"value={2**40})", f"0 to {2**40 - 1}, one value"),
    ({"items": [A, x([1, 2])]}, "value=[1, 2])", "one value"),
    ({"items": [A, x([1, 2]), *ITEMS[:1]], "num_inputs": 3}, "[1, 2]", "each of 3 inp"),
    ({"items": many(126)}, "126 items", 'at most 125 with descriptors="first_heap"'),
    ({"items": many(252), "descriptors": "none"}, "252 items", "at most 251"),
    ({"items": [A], **RX}, 'name="a")', "one timestamp() and one samples(), with samp"),
    ({"descriptors": "often"}, '"often"', '"first_heap", "separate", "none"'),
    ({"descriptor_interval": 1e-4}, "0.0001", "0.001 to 1000000000, or 0"),
    ({"timestamp_start": 2**40}, str(2**40), f"0 to {2**40 - 1}"),
    ({"timestamp_step": 2**40}, str(2**40), f"0 to {2**40 - 1}"),
    ({"timestamp_step": 0, **RX}, "0", f"1 to {2**40 - 1} with sample_rate"),
    ({"timestamp_start": 1, **RX}, "1", "0 with sample_rate"),
    ({"sample_rate": 0}, "0/1", "two integers from 1 on"),
    ({"sample_rate": 10**12 + 1}, f"{10**12 + 1}/1", "no more than 10^12 Hz"),
    ({"sample_rate": 8e6 / 7}, "1142857.142", "(8000000, 7)"),
    ({"sample_rate": float("nan")}, "nan", "(8000000, 7)"),
    ({"sync_time": "1.5"}, '"1.5"', '"0" without sample_rate'),
    ({"sync_time": 10**15}, str(10**15), '"0" without sample_rate'),
    ({"sync_time": 1700000000, "sample_rate": 10}, "1700000000", "(10 days)"),
    ({"on_gap": "zero_fill"}, '"zero_fill"', '"realign" without sample_rate'),
    ({"sync_time": 1.6e9}, "1600000000.0", "a float is precise only"),
    ({"sync_time": None}, "None", "seconds since 1970 as text"),
    ({"sync_time": "noon"}, '"noon"', "up to 11 digits and 18 decimals"),
    ({"on_gap": "mind"}, '"mind"', '"realign", "zero_fill"'),
    ({"rate": -1.5}, "-1.5", "0 or more"),
    ({"burst_size": 2**30 + 1}, str(2**30 + 1), "1 to 1073741824"),
    ({"when_full": "explode"}, '"explode"', '"block", "drop"'),
    ({"buffer_size": 1000}, "1000", "11392 to "),
    ({"buffer_size": 10000, "when_full": "drop"}, "10000", " to "),
    ({"buffer_size": 2**62}, str(2**62), "11392 to "),
    ({"tail": "wag"}, '"wag"', '"short", "pad", "drop", ""'),
    ({"ttl": 256}, "256", "0 to 255"),
    ({"affinity": CPUS}, str(CPUS), f"-1 to {CPUS - 1}"),
    ({"stats_interval": float("nan")}, "nan", "0.001 to 1000000000, or 0"),
    ({"interface": "nosuch0"}, '"nosuch0"', "an interface of this host"),
    ({"interface": "::1"}, '"::1"', "same IP version"),
]


APART = "endpoints with one string for each output"

SOURCES = [
    ({"endpoints": "host"}, '"host"', "port 0 to 65535"),
    ({"endpoints": [AT, AT], "num_outputs": 3}, "2 strings", "for each of 3 outputs"),
    ({"endpoints": "192.0.2.1:7148"}, '"192.0.2.1:7148"', "an address of this host"),
    ({"endpoints": "no-such.invalid:1"}, '"no-such.invalid:1"', "looked up"),
    ({"output_type": "byte"}, '"byte"', '"sc8", "int16", "sc16", "int32", "float"'),
    ({"wire_type": "<i2", "items": ITEMS}, '"<i2"', '"i1", "u1", or "" with output_ty'),
    ({"wire_type": "i1"}, '"i1"', '"" with items=None, as the descriptors give the'),
    ({"num_outputs": 2, "axes": "a=4"}, "2", '1 with axes: the size of "pol" is the'),
    ({"on_missing": "skip", "axes": "a=4"}, '"skip"', '"zero_fill" with axes'),
    ({"axes": "a=4/8", "items": ITEMS}, '"a=4/8"', "immediate() in items"),
    ({"scale": 1}, "1", 'None with output_type="int8"; it is for "float" and "complex'),
    ({"num_outputs": 65}, "65", "1 to 64"),
    ({"num_outputs": 2}, "2", f"1, or {APART}"),
    ({"num_outputs": 2, "items": [*ITEMS, x(1)]}, "2", "one value for each output"),
    ({"items": [*ITEMS, *ITEMS]}, 'name="adc_samples")]', EACH),
    ({"items": [*ITEMS, x(1), x(1)]}, "id=0x3101", "different IDs and names"),
    ({"items": [*ITEMS, x([1, 2])]}, "value=[1, 2])", "one value, as num_outputs is 1"),
    ({"items": [*ITEMS, x([1, 1])], "num_outputs": 2}, "[1, 1]", "a different one"),
    (
        {"items": [*ITEMS, x([1, 2]), x([3, 4], 0x3102, "y")], "num_outputs": 2},
        'name="y", value=[3, 4])]',
        "at most one immediate() with several values",
    ),
    (
        {"items": [ITEMS[1], x([1, 2])], "num_outputs": 2},
        'name="x", value=[1, 2])]',
        "a timestamp() if there are several outputs",
    ),
    ({"items": many(256)}, "256 items", "at most 255"),
    ({"heap_samples": 0}, "0", "1 to 4294967296"),
    ({"timestamp_step": 2**48}, str(2**48), f"1 to {2**48 - 1}"),
    ({"sync_time": 10**15}, str(10**15), '"0" without sample_rate'),
    ({"timestamp_start": -1}, "-1", f"0 to {2**63 - 1}"),
    ({"timestamp_start": 1.6e9}, "1600000000.0", "a tick as an integer, or seconds"),
    ({"timestamp_start": "1600000000"}, '"1600000000"', "without sample_rate"),
    (
        {"timestamp_start": "15", "sample_rate": 1, "sync_time": "16"},
        '"15"',
        "from sync_time on",
    ),
    ({"timestamp_start": "noon", "sample_rate": 1}, '"noon"', "seconds since 1970"),
    ({"on_missing": "wait"}, '"wait"', '"zero_fill", "skip"'),
    (
        {"on_missing": "skip", "items": [*ITEMS, x([1, 2])], "num_outputs": 2},
        '"skip"',
        '"zero_fill" with more than one output',
    ),
    ({"max_delay": 61}, "61", "0 to 60"),
    ({"max_gap": 2**32 + 1}, str(2**32 + 1), "0 to 4294967296"),
    ({"timeout": float("inf")}, "inf", "0.001 to 1000000000, or 0"),
    ({"buffer_size": 2**40 + 1}, str(2**40 + 1), f"{2**18} to {2**40}, or 0"),
    (
        {"buffer_size": MEMORY},
        str(MEMORY),
        "(half of the memory for all outputs), or 0",
    ),
    ({"stats_interval": 2e9}, "2000000000", "0.001 to 1000000000, or 0"),
    ({"interface": "nosuch0"}, '"nosuch0"', "an interface of this host"),
    ({"interface": "192.0.2.1"}, '"192.0.2.1"', "no interface has this address"),
]


@pytest.mark.parametrize(
    ("block", "options", "value", "allowed"),
    [("sink", *row) for row in SINKS] + [("source", *row) for row in SOURCES],
    ids=str,
)
def test_a_mistake_is_named(block, options, value, allowed):
    with pytest.raises(ValueError, match=rf"^spead\.{block}: ") as error:
        make(block, **options)
    message = str(error.value)
    assert message.startswith(f"spead.{block}: {next(iter(options))} = ")
    assignment, rule = message.split(" is invalid; allowed: ")
    assert value in assignment
    assert allowed in rule


@pytest.mark.parametrize(
    ("axes", "allowed"),
    [
        ("time=8, pol=2", "one string, as a heap holds all of each axis"),
        ("frequency=2/8, pol=2", "one string, or one for each of 4 parts"),
    ],
)
def test_endpoints_are_those_of_parts_of_an_axis(axes, allowed):
    with pytest.raises(ValueError, match=allowed):
        spead.source([TO, TO], axes=axes)


def test_a_broadcast_destination_is_refused():
    """That of the loopback interface, which all hosts have."""
    with pytest.raises(
        RuntimeError,
        match=r"127\.255\.255\.255:7148.: .* broadcast address, which is not",
    ):
        spead.sink("127.255.255.255:7148")


def test_a_bad_rate_is_refused_later_too():
    sink = spead.sink(TO, rate=5.0)
    with pytest.raises(ValueError, match="rate = -1"):
        sink.set_rate(-1)
    assert sink.rate() == 5.0
