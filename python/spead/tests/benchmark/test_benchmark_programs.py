# Copyright 2026 The gr-spead authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""The benchmark programs in C++ run, send noise, and print a speed."""

import re
import subprocess

import numpy as np
from benchmarks import BUILT
from places import BOUND
from receiving import bound_socket, datagrams


def run_built(name, *options):
    return subprocess.run(
        [BUILT / name, *map(str, options)],
        timeout=BOUND,
        capture_output=True,
        text=True,
        check=False,
    )


def check_speed(done):
    assert done.returncode == 0, done.stderr
    assert re.fullmatch(r"[\d.]+ MB/s", done.stdout.splitlines()[-1])


def send_perf(sock, *options):
    return run_built("send_perf", *options, *sock.getsockname())


def test_send_perf_sends_heaps_of_noise(sock):
    done = send_perf(sock, "-n", 3, "-H", 4096, "-p", 9000)
    check_speed(done)
    for packet in datagrams(sock, 3):
        assert len(np.unique(np.frombuffer(packet[-4096:], np.int8))) == 256


def test_send_perf_clips_the_chosen_share_of_floats(sock):
    for sample_type in ("float", "complex"):
        options = ("-n", 4, "-H", 8192, "-t", sample_type)
        assert "clipped" not in send_perf(sock, *options).stdout
        done = send_perf(sock, *options, "-c", 10)
        share = re.search(r"([\d.]+) % of the samples were clipped", done.stdout)
        assert 9.5 < float(share[1]) < 10.5
        check_speed(done)


def test_send_perf_with_two_inputs_and_destinations():
    with bound_socket() as sock:
        port = sock.getsockname()[1]
        options = ("-n", 4, "-H", 1024, "-i", 2, "-d", 2, "-r", 100)
        done = run_built("send_perf", *options, "127.0.0.1", port)
        check_speed(done)
        assert len(datagrams(sock, 2)) == 2  # the others go to the next port


def test_limits_print_a_speed(sock):
    done = run_built("limit", "-p", 1000, "-s", 0.01, *sock.getsockname())
    check_speed(done)
    assert len(sock.recv(65536)) == 1000
    check_speed(run_built("volk_limit", 0.01))


def test_a_wrong_number_is_rejected():
    done = run_built("send_perf", "-p", "1472x", "127.0.0.1", 9)
    assert done.returncode == 1
    assert "-p 1472x: must be a number from 0 to 65507" in done.stderr
