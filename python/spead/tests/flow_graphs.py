# Copyright 2026 The gr-spead authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""The examples as programs of their own, and what they send to sockets of a test."""

import contextlib
import functools
import os
import select
import shutil
import signal
import subprocess
import sys
import time
from types import SimpleNamespace

import spead_packet
from conftest import BOUND, EXAMPLES, ROOT, bound_socket, destination


def compiled(name, folder):
    """The program that grcc makes of an example."""
    subprocess.run(
        [shutil.which("grcc"), "-o", folder, EXAMPLES / f"{name}.grc"],
        env=os.environ | {"GRC_BLOCKS_PATH": str(ROOT / "grc")},
        check=True,
        timeout=2 * BOUND,
        capture_output=True,
    )
    return folder / f"{name}.py"


@contextlib.contextmanager
def running(program, *arguments, status=0):
    """A program that runs meanwhile; it has to end with this exit status then.

    What it has printed is in the attribute `printed` afterwards; interrupt() is Ctrl-C.
    """
    command = [sys.executable, program, *map(str, arguments)]
    with subprocess.Popen(
        command,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    ) as process:
        interrupt = functools.partial(process.send_signal, signal.SIGINT)
        ended = SimpleNamespace(printed="", interrupt=interrupt)
        try:
            yield ended
            ended.printed, _ = process.communicate(timeout=BOUND)
        except BaseException:
            process.kill()
            print(process.communicate()[0])  # which may tell why
            raise
    assert process.returncode == status, ended.printed


@contextlib.contextmanager
def bound_sockets(count):
    with contextlib.ExitStack() as stack:
        yield [stack.enter_context(bound_socket()) for _ in range(count)]


def destinations(sockets):
    """As the sink takes them, in turn."""
    return ",".join(map(destination, sockets))


def until_ends(sockets):
    """The packets of each socket up to its end-of-stream heap, by kind."""
    received = {
        sock: SimpleNamespace(data=[], descriptors=[], ends=[]) for sock in sockets
    }
    waiting = set(sockets)
    end = time.monotonic() + BOUND
    while waiting:
        ready, _, _ = select.select(waiting, [], [], max(end - time.monotonic(), 0))
        assert ready, f"{len(waiting)} of {len(sockets)} streams did not end"
        for sock in ready:
            datagram = sock.recv(65536)
            packet = spead_packet.parse(datagram)
            if packet.is_end_of_stream():
                received[sock].ends.append(datagram)
                waiting.remove(sock)
            elif packet.has_descriptors():
                received[sock].descriptors.append(datagram)
            else:
                received[sock].data.append(datagram)
    return [received[sock] for sock in sockets]
