# Copyright 2026 The gr-spead authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Runs example flow graphs as programs and receives their packets."""

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
from places import BOUND, BUILD, EXAMPLES
from receiving import bound_socket, destination
from reference_packets import ADC_SAMPLES


def compiled(name, folder):
    """Compile an example with grcc; returns the path of the generated program."""
    subprocess.run(
        [shutil.which("grcc"), "-o", folder, EXAMPLES / f"{name}.grc"],
        env=os.environ | {"GRC_BLOCKS_PATH": str(BUILD / "grc")},
        check=True,
        timeout=4 * BOUND,
        capture_output=True,
    )
    return folder / f"{name}.py"


@contextlib.contextmanager
def running(program, *arguments, status=0):
    """Run a program and check its exit status.

    On exit, the attribute `printed` holds the output that the test did not read from
    `stdout`.
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
    """The sockets as `destinations` of one input of the sink."""
    return ",".join(map(destination, sockets))


def packets_until(sockets, enough):
    """Receive until `enough(packets)`; returns the packets of each socket by type."""
    received = {
        sock: SimpleNamespace(data=[], descriptors=[], ends=[]) for sock in sockets
    }
    packets = list(received.values())
    deadline = time.monotonic() + BOUND
    while not enough(packets):
        remaining = max(deadline - time.monotonic(), 0)
        ready, _, _ = select.select(sockets, [], [], remaining)
        assert ready, f"only {[len(packet.data) for packet in packets]} data packets"
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
    """Receive this many single-packet heaps; returns the packets of each socket."""
    return packets_until(
        sockets, lambda packets: sum(len(packet.data) for packet in packets) >= heaps
    )


def nothing_more(sockets):
    """Check that no packet is left, after the program has ended."""
    assert select.select(sockets, [], [], 0) == ([], [], [])


def output(block, samples):
    """The first samples that a GNU Radio source block produces."""
    graph = gr.top_block()
    size = block.output_signature().sizeof_stream_item(0)
    vector = blocks.vector_sink_f() if size == 4 else blocks.vector_sink_b()
    graph.connect(block, blocks.head(size, samples), vector)
    graph.run()
    return np.array(vector.data(), np.float32 if size == 4 else np.uint8)


def digitised(seed, samples, bits=8):
    """The noise of meerkat_digitiser.grc, or of packed_10bit.grc with 10 bits."""
    source = analog.fastnoise_source_f(
        analog.GR_GAUSSIAN, 20 if bits == 8 else 80, seed, 65536
    )
    numbers = np.rint(output(source, samples))  # half to even
    return np.clip(numbers, -(2 ** (bits - 1)), 2 ** (bits - 1) - 1).astype(np.int16)


def packed(numbers, bits):
    """The bits of integers, the highest first, as katgpucbf's dsim packs them."""
    all_bits = np.unpackbits(numbers.astype(">i2").view(np.uint8)).reshape(-1, 16)
    return np.packbits(all_bits[:, 16 - bits :])


class DefaultReceiver:
    """spead2 with its defaults: the stream stops at the first end-of-stream heap."""

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
        """The next `count` heaps that contain samples."""
        timeout = threading.Timer(BOUND, self.stream.stop)
        timeout.start()
        received = []
        try:
            while len(received) < count:
                heap = self.stream.get()
                if ADC_SAMPLES in {item.id for item in heap.get_items()}:
                    received.append(heap)
        except spead2.Stopped:
            pytest.fail(f"ended after {len(received)} of {count} heaps")
        finally:
            timeout.cancel()
        return received
