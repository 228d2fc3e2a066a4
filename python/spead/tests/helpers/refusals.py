# Copyright 2026 The gr-spead authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Runs blocks in processes of their own, with system calls or resources denied."""

import contextlib
import faulthandler
import gc
import multiprocessing
import os
import resource

import numpy as np
import seccomp
from gnuradio import gr, spead
from places import BOUND, eventually
from received_streams import Receiving
from receiving import bound_socket, destination
from streams import Running, balanced, noise, run, source
from two_hosts import libc, system_call

HEAP, HEAPS = 1000, 100
SAMPLES = noise(HEAP * HEAPS)
NOBODY = 65534
# from the Linux headers
PR_SET_NO_NEW_PRIVS = 38
CLONE_NEWNS = 0x20000
MS_RDONLY, MS_REMOUNT, MS_BIND, MS_REC, MS_PRIVATE = 1, 32, 4096, 16384, 1 << 18

# The server imports this module once; each process of a test is a fork of the server.
CONTEXT = multiprocessing.get_context("forkserver")
CONTEXT.set_forkserver_preload(["refusals"])


def in_a_process(function, *args):
    """Run a function in a new process; returns its result and the log."""
    result_reader, result_writer = CONTEXT.Pipe(duplex=False)
    log_reader, log_writer = CONTEXT.Pipe(duplex=False)
    process = CONTEXT.Process(
        target=run_and_report, args=(result_writer, log_writer, function, args)
    )
    process.start()
    result_writer.close()
    log_writer.close()
    process.join(BOUND)
    has_ended = process.exitcode is not None
    if not has_ended:
        process.kill()
        process.join()
    with open(os.dup(log_reader.fileno()), errors="replace") as lines:
        log = lines.read()
    assert has_ended, "the process hangs: " + log
    assert process.exitcode == 0, log
    return result_reader.recv(), log


def run_and_report(result_writer, log_writer, function, args):
    for output in (1, 2):
        os.dup2(log_writer.fileno(), output)
    faulthandler.enable()
    result_writer.send(function(*args))


def refuse(error, *calls):
    """Make system calls of all threads fail with this error from now on.

    calls: (name, conditions); the conditions are a dict that maps argument numbers to
    an exact value or to [minimum]
    """
    rules = seccomp.SyscallFilter(seccomp.ALLOW)
    rules.set_attr(seccomp.Attr.CTL_TSYNC, 1)
    for name, arguments in calls:
        conditions = [
            seccomp.Arg(number, seccomp.GE, value[0])
            if isinstance(value, list)
            else seccomp.Arg(number, seccomp.EQ, value)
            for number, value in arguments.items()
        ]
        rules.add_rule(seccomp.ERRNO(error), name, *conditions)
    rules.load()


def packets():
    """The packets of a stream as a sink sends it, including the end of the stream."""
    with bound_socket() as sock:
        run(spead.sink(destination(sock), HEAP), source(SAMPLES))
        return [sock.recv(65536) for _ in range(HEAPS + 1)]


def count_open_files():
    """The number of open file descriptors, counted without /proc: a test hides it."""
    return sum(is_open(fd) for fd in range(200))


def is_open(fd):
    try:
        os.fstat(fd)
    except OSError:
        return False
    return True


class SinkTester:
    """A sink, and the socket that receives its stream."""

    def __init__(self, endpoint=None, **options):
        self.sock = bound_socket()
        self.endpoint = endpoint or destination(self.sock)
        self.options = {"heap_samples": HEAP, **options}

    def make(self):
        return spead.sink(self.endpoint, **self.options)

    def stream(self, sink):
        run(sink, source(SAMPLES))
        assert sink.samples_sent() == len(SAMPLES)
        assert (
            b"".join(self.sock.recv(65536)[-HEAP:] for _ in range(HEAPS))
            == SAMPLES.tobytes()
        )


class SourceTester:
    """A source, and the packets that a socket sends to it."""

    def __init__(self, endpoint="127.0.0.1:0", stream=(), **options):
        self.sock = bound_socket()
        self.endpoint = endpoint
        self.packets = stream
        self.options = options

    def make(self):
        self.receiver = Receiving(self.endpoint, **self.options)
        return self.receiver.source

    def stream(self, _):
        with self.receiver as receiving:
            for packet in self.packets:
                self.sock.sendto(packet, ("127.0.0.1", receiving.port))
            receiving.wait()
        np.testing.assert_array_equal(receiving.samples(), SAMPLES)


BLOCK_TESTERS = {"sink": SinkTester, "source": SourceTester}


def construct(block, stream, options, restrict, *args):
    """Restrict the process, then construct a block and stream.

    Returns the message of the constructor's exception, or None.
    """
    if block == "source":
        options = {"stream": stream, **options}
    tester = BLOCK_TESTERS[block](**options)
    before = count_open_files()
    restrict(*args)
    try:
        made = tester.make()
    except (RuntimeError, ValueError) as error:
        message = str(error)
    else:
        if "239" not in tester.endpoint:  # no multicast
            tester.stream(made)
        return None
    gc.collect()
    assert count_open_files() == before
    return message


def start(block, options, restrict, *args):
    """Run a block outside a flow graph, then restrict the process and run it again."""
    tester = BLOCK_TESTERS[block](**options)  # keeps the socket open
    made = tester.make()
    assert made.start()
    assert made.stop()
    restrict(*args)
    assert made.start()
    assert made.stop()


@contextlib.contextmanager
def running(graph):
    """Runs a flow graph. It waits without a thread, because none may be available.

    The parent process has the timeout.
    """
    graph.start()
    try:
        yield
    finally:
        graph.stop()
        gr.top_block_wait_unlocked(graph._impl)


def sink_runs(counter, restrict, *args):
    """Restrict a process while its sink runs, and wait until a counter increases."""
    with bound_socket() as sock:
        options = {"rate": 1e7}
        sending = Running(destination(sock), heap_samples=HEAP, **options)
        sink = sending.sink
        with running(sending.graph):
            eventually(lambda: sink.heaps_sent() > 0)
            restrict(*args)

            before = sink.stats()[counter]
            eventually(lambda: sink.stats()[counter] > before)
    stats = sink.stats()
    assert balanced(stats)
    assert stats["samples_pending"] == 0


def source_runs(stream, receives_nothing, restrict, *args):
    """Restrict a process while its source runs, and wait for the end or the timeout."""
    receiving = Receiving("127.0.0.1:0", max_delay=0.01, timeout=2)
    with bound_socket() as sock, running(receiving.graph):

        def send(part):
            for packet in part:
                sock.sendto(packet, ("127.0.0.1", receiving.port))

        half = HEAPS // 2
        send(stream[:half])
        eventually(lambda: receiving.stats["samples_received"] == half * HEAP)
        restrict(*args)
        send(stream[half:])
        gr.top_block_wait_unlocked(receiving.graph._impl)
    heaps = half if receives_nothing else HEAPS
    assert receiving.stats["samples_received"] == heaps * HEAP


def limit(kind, left):
    """Set a resource limit.

    left: for memory and files, the amount beyond current use; otherwise the limit
    """
    if kind == "RLIMIT_AS":
        with open("/proc/self/statm") as pages:
            left += int(pages.read().split()[0]) * resource.getpagesize()
    if kind == "RLIMIT_NOFILE":
        left += max(fd for fd in range(200) if is_open(fd)) + 1
    resource.setrlimit(getattr(resource, kind), (left, left))
    if kind == "RLIMIT_NPROC":
        become_nobody()  # the limit does not apply to root


def limit_what_blocks_can_do_without():
    """Set limits to 0."""
    for name in ("MEMLOCK", "FSIZE", "CORE", "RTPRIO", "NICE", "SIGPENDING"):
        limit(f"RLIMIT_{name}", 0)


def become_nobody(home="/"):
    """Drop all privileges for good. GNU Radio writes to the home directory."""
    os.environ["HOME"] = home
    system_call(libc.prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0))
    if os.geteuid() == 0:
        os.setgroups([])
        os.setresgid(NOBODY, NOBODY, NOBODY)
        os.setresuid(NOBODY, NOBODY, NOBODY)


def hide_proc_and_make_read_only():
    """Make the file system read-only, including home and temporary directories."""
    system_call(libc.unshare(CLONE_NEWNS))
    system_call(libc.mount(None, b"/", None, MS_REC | MS_PRIVATE, None))
    system_call(libc.mount(b"none", b"/proc", b"tmpfs", MS_RDONLY, None))
    for directory in (b"/", b"/tmp", b"/dev/shm", b"/root"):
        system_call(libc.mount(directory, directory, None, MS_BIND | MS_REC, None))
        system_call(
            libc.mount(None, directory, None, MS_REMOUNT | MS_BIND | MS_RDONLY, None)
        )
