# Copyright 2026 The gr-spead authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""What the examples share: endpoints, sizes, rates and Ctrl-C."""

import argparse
import fractions
import re
import signal
import subprocess
import sys

import pytest
from common.arguments import positive, positive_rate, rate, seconds, size
from common.endpoints import bound_socket, endpoints
from places import BOUND, EXAMPLES


def test_endpoints_are_written_as_for_the_sink():
    assert endpoints("239.1.2.254+3:7148") == [
        ("239.1.2.254", 7148),
        ("239.1.2.255", 7148),
        ("239.1.3.0", 7148),
        ("239.1.3.1", 7148),
    ]
    assert endpoints("[ff15::77]:7148, localhost:0, 7148") == [
        ("ff15::77", 7148),
        ("localhost", 0),
        ("127.0.0.1", 7148),
    ]


@pytest.mark.parametrize(
    "text",
    [
        *("", "host", "host:65536", "host+1:1", "a:1,", "::1:1"),
        *("255.255.255.255+1:1", "127.0.0.1+99999:1"),
    ],
)
def test_other_endpoints_are_rejected(text):
    last = re.escape(text.rpartition(",")[2])
    with pytest.raises(ValueError, match=f"^'{last}'(:| is not)"):
        endpoints(text)


@pytest.mark.parametrize(
    ("endpoint", "message"),
    [
        (("192.0.2.1", 7148), "192.0.2.1:7148: Cannot assign"),
        (("no-such-host.invalid", 1), "no-such-host.invalid:1: "),
        (("a..b", 1), "a..b:1: "),
        (("239.1.2.3", 0, "nosuch0"), "239.1.2.3:0 on interface nosuch0: no interface"),
        (("127.0.0.1", 0, "lo"), "127.0.0.1:0 on interface lo: .* multicast groups"),
    ],
)
def test_an_endpoint_that_cannot_be_bound_is_named(endpoint, message):
    with pytest.raises(OSError, match=f"^cannot receive at {message}"):
        bound_socket(*endpoint)


def test_an_endpoint_in_use_is_named():
    with bound_socket("127.0.0.1", 0) as sock:
        port = sock.getsockname()[1]
        with pytest.raises(OSError, match=f" 127.0.0.1:{port}: Address already in use"):
            bound_socket("127.0.0.1", port)


def test_sizes_have_binary_suffixes_and_rates_have_decimal_ones():
    assert [size(text) for text in ("0", "0x1000", "4k", "10M")] == [
        *(0, 4096, 4096, 10 << 20)
    ]
    assert rate("2.4M") == rate("2400000") == rate("2.4e6") == 2_400_000
    assert rate("100000000/3") == fractions.Fraction(10**8, 3)


@pytest.mark.parametrize(
    ("kind", "text"),
    [
        (size, "4x"),
        (size, "-1"),
        (size, "99999999999999999999"),
        (positive, "0"),
        (rate, "1/0"),
        (rate, "1e400"),
        (rate, "1e-400"),
        (rate, "1e999999999"),
        (positive_rate, "0"),
        (seconds, "-1"),
        (seconds, "1/0"),
        (seconds, "nan"),
    ],
)
def test_an_invalid_number_is_named(kind, text):
    with pytest.raises(argparse.ArgumentTypeError, match=f"'{text}'"):
        kind(text)


def test_a_second_ctrl_c_ends_a_program_at_once():
    program = """
import os, time
from common.interrupts import at_interrupt

with at_interrupt(lambda: os.write(1, b"ending\\n")):  # may interrupt print()
    print("running", flush=True)
    while True:
        time.sleep(1)
"""
    command = [sys.executable, "-c", program]
    with subprocess.Popen(
        command, cwd=EXAMPLES, stdout=subprocess.PIPE, text=True
    ) as process:
        try:
            assert process.stdout.readline() == "running\n"
            process.send_signal(signal.SIGINT)
            assert process.stdout.readline() == "ending\n"
            process.send_signal(signal.SIGINT)
            assert process.wait(BOUND) == -signal.SIGINT
        finally:
            process.kill()
