# Copyright 2026 The gr-spead authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Runs examples as programs, and receives their packets; what they send."""

import contextlib
import os
import select
import shutil
import subprocess
import sys
import threading
import time
from types import SimpleNamespace

import numpy as np
import pytest
import spead2
import spead2.recv
import spead_packet
from gnuradio import analog, blocks, gr
from places import BOUND, EXAMPLES, ROOT
from receiving import bound_socket, destination
from reference_packets import ADC_SAMPLES


def compiled(name, folder):
    """The program that grcc makes of an example."""
    subprocess.run(
        [shutil.which("grcc"), "-o", folder, EXAMPLES / f"{name}.grc"],
        env=os.environ | {"GRC_BLOCKS_PATH": str(ROOT / "grc")},
        check=True,
        timeout=4 * BOUND,
        capture_output=True,
    )
    return folder / f"{name}.py"


@contextlib.contextmanager
def running(program, *arguments, status=0):
    """Run a program, which must end with this exit status.

    Afterwards the attribute `printed` has its output, but for what the test has read
    from `stdout`.
    """
    command = [sys.executable, program, *map(str, arguments)]
    with subprocess.Popen(
        command,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    ) as process:
        ended = SimpleNamespace(printed="", stdout=process.stdout)
        try:
            yield ended
            ended.printed, _ = process.communicate(timeout=BOUND)
        except BaseException:
            process.kill()
            print(process.communicate()[0])
            raise
    assert process.returncode == status, ended.printed


@contextlib.contextmanager
def bound_sockets(count):
    with contextlib.ExitStack() as stack:
        yield [stack.enter_context(bound_socket()) for _ in range(count)]


def destinations(sockets):
    """The destinations of an input of the sink."""
    return ",".join(map(destination, sockets))


def packets_until(sockets, enough):
    """The packets of each socket, by kind, until `enough(packets)`."""
    received = {
        sock: SimpleNamespace(data=[], descriptors=[], ends=[]) for sock in sockets
    }
    packets = list(received.values())
    end = time.monotonic() + BOUND
    while not enough(packets):
        ready, _, _ = select.select(sockets, [], [], max(end - time.monotonic(), 0))
        assert ready, f"only {[len(each.data) for each in packets]} packets of data"
        for sock in ready:
            datagram = sock.recv(65536)
            packet = spead_packet.parse(datagram)
            if packet.is_end_of_stream():
                received[sock].ends.append(datagram)
            elif packet.has_descriptors():
                received[sock].descriptors.append(datagram)
            else:
                received[sock].data.append(datagram)
    return packets


def packets_of_heaps(sockets, heaps):
    """The packets of each socket, until so many heaps of one packet have come."""
    return packets_until(
        sockets, lambda packets: sum(len(each.data) for each in packets) >= heaps
    )


def nothing_more(sockets):
    """All packets of a program that has ended have been received."""
    assert select.select(sockets, [], [], 0) == ([], [], [])


def output(begin, samples):
    """The first samples of a block of GNU Radio."""
    graph = gr.top_block()
    size = begin.output_signature().sizeof_stream_item(0)
    end = blocks.vector_sink_f() if size == 4 else blocks.vector_sink_b()
    graph.connect(begin, blocks.head(size, samples), end)
    graph.run()
    return np.array(end.data(), np.float32 if size == 4 else np.uint8)


def digitised(seed, samples):
    """The noise of meerkat_digitiser.grc in 8 bits: rounded half to even, clipped."""
    source = analog.fastnoise_source_f(analog.GR_GAUSSIAN, 20, seed, 65536)
    return np.clip(np.rint(output(source, samples)), -128, 127).astype(np.int8)


def packed(seed, n):
    """The bytes of packed_10bit.grc."""
    return output(analog.random_uniform_source_b(0, 256, seed), n)


class DefaultReceiver:
    """A stream of spead2 with its defaults: an end-of-stream heap ends it for good."""

    def __init__(self, sockets, **config):
        self.stream = spead2.recv.Stream(
            spead2.ThreadPool(), spead2.recv.StreamConfig(**config)
        )
        for sock in sockets:
            self.stream.add_udp_reader(socket=sock)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.stream.stop()

    def heaps(self, count):
        """The next so many heaps with samples."""
        guard = threading.Timer(BOUND, self.stream.stop)
        guard.start()
        received = []
        try:
            while len(received) < count:
                heap = self.stream.get()
                if ADC_SAMPLES in {item.id for item in heap.get_items()}:
                    received.append(heap)
        except spead2.Stopped:
            pytest.fail(f"ended after {len(received)} of {count} heaps")
        finally:
            guard.cancel()
        return received
