# Copyright 2026 The gr-spead authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Directories, capabilities of this machine, and timeouts."""

import os
import socket
import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest
from conservation import check_all_blocks

ROOT = Path(__file__).resolve().parents[4]
BUILD = Path(os.environ.get("GR_SPEAD_BUILD", ROOT / "build"))
EXAMPLES = ROOT / "examples"
HELPERS = Path(__file__).parent

BOUND = 30  # seconds; the timeout of every wait, far above what a passing test needs
NAMESPACES = not subprocess.run(
    ["unshare", "--net", "ip", "link", "set", "lo", "up"], capture_output=True
).returncode
NEEDS_NAMESPACES = pytest.mark.skipif(
    not NAMESPACES, reason="needs root, for network namespaces of its own"
)
NEEDS_LIBMNL = pytest.mark.skipif(
    b"libmnl.so" not in (BUILD / "lib" / "libgnuradio-spead.so").read_bytes(),
    reason="needs a build with libmnl, to detect loss of the link",
)
NEEDS_LIBPCAP = pytest.mark.skipif(
    b"libpcap.so" not in (BUILD / "lib" / "libgnuradio-spead.so").read_bytes(),
    reason="needs a build with libpcap, to read captures",
)
SO_RCVBUFFORCE = 33  # as root, beyond net.core.rmem_max
RECEIVE_BUFFER = 128 << 20


def enlarge_buffer(sock):
    """Give a socket RECEIVE_BUFFER, or without privileges net.core.rmem_max.

    Returns the size in bytes.
    """
    try:
        sock.setsockopt(socket.SOL_SOCKET, SO_RCVBUFFORCE, RECEIVE_BUFFER)
    except PermissionError:
        sock.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, RECEIVE_BUFFER)
    return sock.getsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF) // 2


def max_receive_buffer():
    """The largest receive buffer that this user can set, in bytes."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as sock:
        return enlarge_buffer(sock)


NEEDS_BUFFER = pytest.mark.skipif(
    max_receive_buffer() < RECEIVE_BUFFER,
    reason="needs root, for a receive buffer beyond net.core.rmem_max: it sends faster"
    " than any receiver could read",
)


def without_notice(log):
    """The log without notices: the end of a stream, no libmnl at build time."""
    lines = log.splitlines(keepends=True)
    notices = "built without libmnl", ":info: the stream has ended"
    return "".join(line for line in lines if not any(text in line for text in notices))


def install(prefix):
    """Install the build below a prefix; returns the output of CMake.

    Every file belongs to the component "Unspecified". With a component given, CMake
    does not overwrite the install_manifest.txt that the `uninstall` target reads.
    """
    return subprocess.run(
        ["cmake", "--install", BUILD, "--prefix", prefix, "--component", "Unspecified"],
        check=True,
        timeout=120,
        capture_output=True,
        text=True,
    ).stdout


def eventually(condition):
    """Poll until a condition holds; fail after BOUND."""
    pause = threading.Event()
    deadline = time.monotonic() + BOUND
    while not condition():
        check_all_blocks()
        assert time.monotonic() < deadline, f"condition not met within {BOUND} s"
        pause.wait(0.002)


def run_scenario(script, scenario, *arguments):
    """Run a scenario of a script in this directory; returns its output and log."""
    done = subprocess.run(
        [sys.executable, HELPERS / script, scenario, *map(str, arguments)],
        timeout=4 * BOUND,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    assert '"scenario": "' + scenario in done.stdout
    return done.stdout + done.stderr
