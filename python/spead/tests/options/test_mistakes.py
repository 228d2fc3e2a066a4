# Copyright 2026 The gr-spead authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""A mistake is named where it is made: parameter, value, and what is allowed."""

import os

import pytest
from gnuradio import spead
from possible_options import ITEMS, RX, SAMPLES, TO, many, x

CPUS = os.sysconf("SC_NPROCESSORS_CONF")
ONE = "one samples() and at most one timestamp()"
A = spead.samples(name="a")

# parameters, how the value is shown, and what the message says of the allowed ones
MISTAKES = [
    ({"heap_samples": 0}, "0", "1 to 4294967296"),
    ({"heap_samples": 2**32 + 1}, "4294967297", "1 to 4294967296"),
    ({"num_inputs": 0}, "0", "1 to 64"),
    ({"num_inputs": 65}, "65", "1 to 64"),
    ({"max_skew": -2}, "-2", "-1 to 65536"),
    ({"max_skew": 65537}, "65537", "-1 to 65536"),
    ({"input_type": "byte"}, '"byte"', '"int8", "sc8", "int16", "sc16", "float"'),
    ({"byte_order": "host"}, '"host"', '"big", "little"'),
    ({"byte_order": "little", "input_type": "int16"}, '"little"', 'tail="pad"'),
    ({"byte_order": "little", "input_type": "sc16"}, '"little"', "a fixed shape"),
    ({"byte_order": "little"}, '"little"', '"big" with samples of 8 bits'),
    ({"byte_order": "little", "input_type": "float"}, '"little"', "of 8 bits"),
    ({"sample_bits": 8}, "8", 'None with input_type="int8"; it is for "float" and'),
    ({"sample_bits": 16, "input_type": "sc16"}, "16", 'None with input_type="sc16"'),
    ({"sample_bits": 12, "input_type": "float"}, "12", "8 or 16"),
    ({"sample_bits": -8, "input_type": "float"}, "-8", "8 or 16"),
    ({"sample_bits": 2**32 + 8, "input_type": "float"}, f"{2**32 + 8}", "8 or 16"),
    ({"scale": 1}, "1", 'None with input_type="int8"; it is for "float" and "complex"'),
    ({"scale": 0.5, "input_type": "sc16"}, "0.5", 'None with input_type="sc16"'),
    ({"scale": 0, "input_type": "float"}, "0", "above 0, from 1.18e-38 to 3.40e+38"),
    ({"scale": 2**-127, "input_type": "complex"}, "5.8774", "above 0"),
    ({"scale": 2**128, "input_type": "float"}, "3.40282366920938e+38", "above 0"),
    ({"scale": float("nan"), "input_type": "float"}, "nan", "above 0"),
    ({"max_packet_size": -1}, "-1", "80 to 65507, or 0 for"),
    ({"max_packet_size": 79}, "79", "80 to 65507"),
    ({"max_packet_size": 63, "descriptors": "none"}, "63", "64 to 65507"),
    ({"max_packet_size": 95, "items": [*ITEMS, x(1)]}, "95", "96 to 65507"),
    # the end-of-stream heap is larger
    (
        {"max_packet_size": 56, "items": [SAMPLES], "descriptors": "none"},
        "56",
        "57 to 65507",
    ),
    ({"max_packet_size": 65508}, "65508", "80 to 65507"),
    ({"heap_address_bits": 44}, "44", "40 or 48"),
    ({"heap_id_start": -1}, "-1", f"0 to {2**40 - 1}"),
    ({"heap_id_start": 2**40}, str(2**40), f"0 to {2**40 - 1}"),
    ({"heap_id_start": 2**48, "heap_address_bits": 48}, str(2**48), f"{2**48 - 1}"),
    ({"heap_id_step": 0}, "0", f"1 to {2**24 - 1}"),
    ({"heap_id_step": 2**24}, "16777216", f"1 to {2**24 - 1}"),
    (
        {"heap_id_step": 2**31, "heap_address_bits": 48, "num_inputs": 2},
        str(2**31),
        f"1 to {2**31 - 1}",
    ),
    ({"items": []}, "[]", ONE),
    ({"items": [spead.timestamp()]}, 'name="timestamp")]', ONE),
    ({"items": [A, spead.samples(id=0x3301, name="b")]}, 'name="b")]', ONE),
    ({"items": [A, *[spead.timestamp()] * 2]}, 'name="timestamp")]', ONE),
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
    ({"items": [A, x(1), x(2, id=0x3102)]}, 'name="x"', "different IDs and names"),
    ({"items": many(126)}, "126 items", 'at most 125 with descriptors="first_heap"'),
    ({"items": many(251), "descriptors": "none"}, "251 items", "at most 250"),
    ({"items": many(251), "descriptors": "separate"}, "251 items", "at most 250"),
    ({"items": [A], **RX}, 'name="a")', "one timestamp() and one samples(), with time"),
    ({"descriptors": "often"}, '"often"', '"first_heap", "separate", "none"'),
    ({"descriptor_interval": -1}, "-1", "0.001 to 1000000000, or 0"),
    ({"descriptor_interval": 1e-4}, "0.0001", "0.001 to 1000000000, or 0"),
    ({"descriptor_interval": 2e9}, "2000000000", "0.001 to 1000000000, or 0"),
    ({"descriptor_interval": float("nan")}, "nan", "0.001 to 1000000000, or 0"),
    (
        {"descriptor_interval": 1, "descriptors": "none"},
        "1",
        '0 with descriptors="none"',
    ),
    ({"timestamp_start": -1}, "-1", f"0 to {2**40 - 1}"),
    ({"timestamp_start": 2**40}, str(2**40), f"0 to {2**40 - 1}"),
    ({"timestamp_step": -1}, "-1", f"0 to {2**40 - 1}"),
    ({"timestamp_step": 2**40}, str(2**40), f"0 to {2**40 - 1}"),
    ({"timestamp_step": 0, **RX}, "0", f"1 to {2**40 - 1} with timestamp_source"),
    ({"timestamp_source": "clock"}, '"clock"', '"count", "rx_time"'),
    ({"timestamp_start": 1, **RX}, "1", '0 with timestamp_source="rx_time"'),
    ({"sample_rate": None, "timestamp_source": "rx_time"}, "None", "a rate in Hz with"),
    ({"sample_rate": 10}, "10/1", 'None with timestamp_source="count"; it is for "rx_'),
    ({"sample_rate": 0}, "0/1", "two integers from 1 on"),
    ({"sample_rate": 10**12 + 1}, f"{10**12 + 1}/1", "no more than 10^12 Hz"),
    ({"sample_rate": 8e6 / 7}, "1142857.142", "(8000000, 7)"),
    ({"sample_rate": float("nan")}, "nan", "(8000000, 7)"),
    ({"sample_rate": float("inf")}, "inf", "(8000000, 7)"),
    ({"sample_rate": (1, 2, 3)}, "(1, 2, 3)", "a tuple of two integers"),
    ({"sample_rate": (1.5, 2)}, "(1.5, 2)", "a tuple of two integers"),
    ({"sample_rate": "10"}, "'10'", "a tuple of two integers"),
    ({"sync_time": "1.5"}, '"1.5"', '"0" with timestamp_source="count"'),
    ({"sync_time": 1}, "1", '"0" with timestamp_source="count"'),
    ({"on_gap": "ignore"}, '"ignore"', '"realign" with timestamp_source="count"'),
    ({"on_start": "zero_fill"}, '"zero_fill"', '"drop" with timestamp_source="count"'),
    ({"sync_time": 1.6e9}, "1600000000.0", "a float would round it"),
    ({"sync_time": None}, "None", "seconds since 1970 as text"),
    ({"sync_time": -1}, "-1", "integer nanoseconds, 0 or more"),
    ({"sync_time": "noon"}, '"noon"', "up to 11 digits and 18 decimals"),
    ({"on_gap": "mind"}, '"mind"', '"realign", "zero_fill", "ignore"'),
    ({"on_start": "jump"}, '"jump"', '"drop", "zero_fill"'),
    ({"rate": -1.5}, "-1.5", "0 or more"),
    ({"rate": float("nan")}, "nan", "0 or more"),
    ({"rate": float("inf")}, "inf", "0 or more"),
    ({"burst_size": 0}, "0", "1 to 1073741824"),
    ({"burst_size": 2**30 + 1}, str(2**30 + 1), "1 to 1073741824"),
    ({"when_full": "explode"}, '"explode"', '"block", "drop"'),
    ({"buffer_size": -1}, "-1", "0 to "),
    ({"buffer_size": 1000}, "1000", "11392 to "),
    ({"buffer_size": 10000, "when_full": "drop"}, "10000", " to "),
    ({"buffer_size": 2**62}, str(2**62), "11392 to "),
    ({"tail": "wag"}, '"wag"', '"short", "pad", "drop"'),
    ({"stop_timeout": -0.1}, "-0.1", "0 to 3600"),
    ({"stop_timeout": 3601}, "3601", "0 to 3600"),
    ({"stop_timeout": float("nan")}, "nan", "0 to 3600"),
    ({"source_port": -1}, "-1", "0 to 65535"),
    ({"source_port": 65536}, "65536", "0 to 65535"),
    ({"ttl": -1}, "-1", "0 to 255"),
    ({"ttl": 256}, "256", "0 to 255"),
    ({"socket_buffer": -1}, "-1", "0 to 1073741824"),
    ({"socket_buffer": 2**30 + 1}, str(2**30 + 1), "0 to 1073741824"),
    ({"dscp": -1}, "-1", "0 to 63"),
    ({"dscp": 64}, "64", "0 to 63"),
    ({"affinity": -2}, "-2", f"-1 to {CPUS - 1}"),
    ({"affinity": CPUS}, str(CPUS), f"-1 to {CPUS - 1}"),
    ({"stats_interval": -1}, "-1", "0.001 to 1000000000, or 0"),
    ({"stats_interval": 1e-4}, "0.0001", "0.001 to 1000000000, or 0"),
    ({"stats_interval": 2e9}, "2000000000", "0.001 to 1000000000, or 0"),
    ({"stats_interval": float("nan")}, "nan", "0.001 to 1000000000, or 0"),
    ({"interface": "nosuch0"}, '"nosuch0"', "an interface of this host"),
    ({"interface": "::1"}, '"::1"', "same IP version"),
    (
        {"max_packet_size": 64, "heap_samples": 2**20, "descriptors": "none"},
        "64",
        "8 bytes more",
    ),
]


@pytest.mark.parametrize(("options", "value", "allowed"), MISTAKES, ids=str)
def test_a_mistake_is_named(options, value, allowed):
    with pytest.raises(ValueError, match=r"^spead\.sink: ") as error:
        spead.sink(TO, **options)
    message = str(error.value)
    assert message.startswith(f"spead.sink: {next(iter(options))} = ")
    said, rest = message.split(" is not possible; allowed: ")
    assert value in said
    assert allowed in rest


@pytest.mark.parametrize(
    ("destinations", "inputs", "value", "allowed"),
    [
        ("host", 1, '"host"', "port 1 to 65535"),
        ([], 1, "0 strings", "one string"),
        ([TO, TO], 1, "2 strings", "one string, as num_inputs is 1"),
        ([TO, TO], 3, "2 strings", "one string, or one for each of 3 inputs"),
        ([TO, f"{TO},there"], 2, '"there" (2 of 2)', '"host:port"'),
        (["127.0.0.1+2047:1", "127.0.0.1+2048:1"], 2, "4097 endp", "4096 in all"),
    ],
)
def test_a_mistaken_destination_is_named(destinations, inputs, value, allowed):
    with pytest.raises(ValueError, match=r"^spead\.sink: destinations = ") as error:
        spead.sink(destinations, num_inputs=inputs)
    said, rest = str(error.value).split(" is not possible; allowed: ")
    assert value in said
    assert allowed in rest


def test_an_unknown_host_is_named():
    with pytest.raises(ValueError, match="looked up") as error:
        spead.sink("no-such-host.invalid:7148")
    assert 'destinations = "no-such-host.invalid:7148"' in str(error.value)


def test_a_bad_rate_is_refused_later_too():
    sink = spead.sink(TO, rate=5.0)
    with pytest.raises(ValueError, match="rate = -1"):
        sink.set_rate(-1)
    assert sink.rate() == 5.0
