# Copyright 2026 The gr-spead authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""A mistake is named where it is made: parameter, value, and what is allowed."""

import os

import pytest
from gnuradio import spead

CPUS = os.sysconf("SC_NPROCESSORS_CONF")
ONE = "one samples() and at most one timestamp()"
A = spead.samples(name="a")

# parameters, how the value is shown, and what the message says of the allowed ones
MISTAKES = [
    ({"heap_samples": 0}, "0", "1 to 4294967296"),
    ({"heap_samples": -5}, "-5", "1 to 4294967296"),
    ({"heap_samples": 2**32 + 1}, "4294967297", "1 to 4294967296"),
    ({"max_packet_size": -1}, "-1", "0 to 65507"),
    ({"max_packet_size": 79}, "79", "80 to 65507"),
    ({"max_packet_size": 63, "descriptors": "none"}, "63", "64 to 65507"),
    ({"max_packet_size": 65508}, "65508", "0 to 65507"),
    ({"heap_address_bits": 44}, "44", "40 or 48"),
    ({"heap_id_start": -1}, "-1", f"0 to {2**40 - 1}"),
    ({"heap_id_start": 2**48, "heap_address_bits": 48}, str(2**48), f"{2**48 - 1}"),
    ({"heap_id_step": 0}, "0", f"1 to {2**40 - 1}"),
    ({"items": []}, "[]", ONE),
    ({"items": [spead.timestamp()]}, 'name="timestamp")]', ONE),
    ({"items": [A, spead.samples(id=0x3301, name="b")]}, 'name="b")]', ONE),
    ({"items": [A, *[spead.timestamp()] * 2]}, 'name="timestamp")]', ONE),
    ({"items": [spead.samples(id=0x15)]}, "id=0x15", f"22 to {2**23 - 1}"),
    ({"items": [spead.samples(id=2**23)]}, "id=0x800000", f"22 to {2**23 - 1}"),
    (
        {"items": [spead.samples(id=2**15)], "heap_address_bits": 48},
        "id=0x8000",
        f"22 to {2**15 - 1}",
    ),
    ({"items": [spead.samples(name="")]}, 'name=""', "not empty"),
    ({"items": [A, spead.timestamp(name="a")]}, 'name="a"', "different IDs and names"),
    ({"items": [A, spead.timestamp(id=0x3300)]}, "id=0x3300", "different IDs"),
    ({"descriptors": "often"}, '"often"', '"first_heap", "none"'),
    ({"timestamp_start": -1}, "-1", f"0 to {2**40 - 1}"),
    ({"timestamp_step": 2**40}, str(2**40), f"0 to {2**40 - 1}"),
    ({"rate": -1.5}, "-1.5", "0 to "),
    ({"rate": float("nan")}, "nan", "0 to "),
    ({"rate": float("inf")}, "inf", "0 to "),
    ({"burst_size": 0}, "0", "1 to 1073741824"),
    ({"when_full": "explode"}, '"explode"', '"block", "drop"'),
    ({"buffer_size": -1}, "-1", "0 to "),
    ({"buffer_size": 1000}, "1000", "11392 to "),
    ({"buffer_size": 10000, "when_full": "drop"}, "10000", " to "),
    ({"buffer_size": 2**62}, str(2**62), "11392 to "),
    ({"tail": "wag"}, '"wag"', '"short", "pad", "drop"'),
    ({"stop_timeout": -0.1}, "-0.1", "0 to 3600"),
    ({"stop_timeout": float("nan")}, "nan", "0 to 3600"),
    ({"ttl": 256}, "256", "0 to 255"),
    ({"socket_buffer": -1}, "-1", "0 to 1073741824"),
    ({"dscp": 64}, "64", "0 to 63"),
    ({"affinity": -2}, "-2", f"-1 to {CPUS - 1}"),
    ({"affinity": CPUS}, str(CPUS), f"-1 to {CPUS - 1}"),
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
        spead.sink("127.0.0.1:7148", **options)
    message = str(error.value)
    assert message.startswith(f"spead.sink: {next(iter(options))} = ")
    said, rest = message.split(" is not possible; allowed: ")
    assert value in said
    assert allowed in rest


@pytest.mark.parametrize(
    "destination",
    ["", "host", "127.0.0.1:0", "127.0.0.1:65536", "::1:7148", "a:1,b:2"],
)
def test_a_mistaken_destination_is_named(destination):
    with pytest.raises(ValueError, match="port 1 to 65535") as error:
        spead.sink(destination)
    assert f'destinations = "{destination}"' in str(error.value)


def test_an_unknown_host_is_named():
    with pytest.raises(ValueError, match="looked up") as error:
        spead.sink("no-such-host.invalid:7148")
    assert 'destinations = "no-such-host.invalid:7148"' in str(error.value)


def test_options_are_keyword_only():
    with pytest.raises(TypeError):
        spead.sink("127.0.0.1:7148", 8192, 1472)


def test_help_shows_options_and_defaults():
    text = spead.sink.__init__.__doc__
    for part in (
        "destinations: str",
        "heap_samples: int = 8192, *",
        "max_packet_size: int = 1472",
        "= [spead.timestamp(id=0x1600, name='timestamp'), spead.samples(id=0x3300,",
        " = None, rate: float = 0",
        "when_full: str = 'block'",
        "affinity: int = -1",
    ):
        assert part in text
    assert "heap counter of the first heap" in spead.sink.__doc__
    assert "samples in heaps that were sent whole" in spead.sink.stats.__doc__


def test_a_bad_rate_is_refused_while_running(sock):
    sink = spead.sink("127.0.0.1:7148", rate=5.0)
    with pytest.raises(ValueError, match="rate = -1"):
        sink.set_rate(-1)
    assert sink.rate() == 5.0
