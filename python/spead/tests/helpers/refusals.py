# Copyright 2026 The gr-spead authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Blocks to which the system refuses something, in processes of their own."""

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
# of Linux
PR_SET_NO_NEW_PRIVS = 38
CLONE_NEWNS = 0x20000
MS_RDONLY, MS_REMOUNT, MS_BIND, MS_REC, MS_PRIVATE = 1, 32, 4096, 16384, 1 << 18

# it has imported all this, and each process of a test is a copy of it
CONTEXT = multiprocessing.get_context("forkserver")
CONTEXT.set_forkserver_preload(["refusals"])


def in_a_process(function, *args):
    """What a function returns, and what is logged meanwhile."""
    result, results = CONTEXT.Pipe(duplex=False)
    logged, log = CONTEXT.Pipe(duplex=False)
    process = CONTEXT.Process(target=report, args=(results, log, function, args))
    process.start()
    results.close()
    log.close()
    process.join(BOUND)
    has_ended = process.exitcode is not None
    if not has_ended:
        process.kill()
        process.join()
    with open(os.dup(logged.fileno()), errors="replace") as lines:
        text = lines.read()
    assert has_ended, "it hangs: " + text
    assert process.exitcode == 0, text
    return result.recv(), text


def report(results, log, function, args):
    for output in (1, 2):
        os.dup2(log.fileno(), output)
    faulthandler.enable()
    results.send(function(*args))


def refuse(error, *calls):
    """From now on, system calls fail, of all threads.

    calls: the name, and for those with certain arguments a dict of their values, by
    number; or of the least value, as a list
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
    """A stream as a sink sends it, with its end."""
    with bound_socket() as sock:
        run(spead.sink(destination(sock), HEAP), source(SAMPLES))
        return [sock.recv(65536) for _ in range(HEAPS + 1)]


def files():
    """Open files; no list of /proc, which may be missing."""
    return sum(is_open(file) for file in range(200))


def is_open(file):
    try:
        os.fstat(file)
    except OSError:
        return False
    return True


class Sending:
    """A sink, and a socket that it sends to."""

    def __init__(self, to=None, **options):
        self.sock = bound_socket()
        self.to = to or destination(self.sock)
        self.options = {"heap_samples": HEAP, **options}

    def make(self):
        return spead.sink(self.to, **self.options)

    def stream(self, sink):
        run(sink, source(SAMPLES))
        assert sink.samples_sent() == len(SAMPLES)
        assert (
            b"".join(self.sock.recv(65536)[-HEAP:] for _ in range(HEAPS))
            == SAMPLES.tobytes()
        )


class Listening:
    """A source, and the packets that it gets."""

    def __init__(self, to="127.0.0.1:0", stream=(), **options):
        self.sock = bound_socket()
        self.to = to
        self.packets = stream
        self.options = options

    def make(self):
        self.there = Receiving(self.to, **self.options)
        return self.there.source

    def stream(self, _):
        with self.there as there:
            for packet in self.packets:
                self.sock.sendto(packet, ("127.0.0.1", there.port))
            there.wait()
        np.testing.assert_array_equal(there.samples(), SAMPLES)


USERS = {"sink": Sending, "source": Listening}


def construct(block, stream, options, hinder, *args):
    """Hinder the process, then make a block and stream; its error, or None."""
    if block == "source":
        options = {"stream": stream, **options}
    user = USERS[block](**options)
    before = files()
    hinder(*args)
    try:
        made = user.make()
    except (RuntimeError, ValueError) as error:
        text = str(error)
    else:
        if "239" not in user.to:
            user.stream(made)
        return None
    gc.collect()
    assert files() == before
    return text


def start(block, options, is_again, hinder, *args):
    """Start a hindered block, outside of a flow graph, for the first or second time."""
    made = USERS[block](**options).make()
    if is_again:
        assert made.start()
        assert made.stop()
    hinder(*args)
    assert made.start()
    assert made.stop()


@contextlib.contextmanager
def while_it_runs(graph):
    """No thread waits, since there may be none. The parent process has a bound."""
    graph.start()
    try:
        yield
    finally:
        graph.stop()
        gr.top_block_wait_unlocked(graph._impl)


def sink_runs(counter, hinder, *args):
    """Until it has counted something new."""
    with bound_socket() as sock:
        options = {"rate": 1e7}
        running = Running(destination(sock), heap_samples=HEAP, **options)
        sink = running.sink
        with while_it_runs(running.graph):
            eventually(lambda: sink.heaps_sent() > 0)
            hinder(*args)

            def count():
                stats = sink.stats()
                return stats.get(counter, stats["send_errors"].get(counter, 0))

            before = count()
            eventually(lambda: count() > before)
    stats = sink.stats()
    assert balanced(stats)
    assert stats["samples_pending"] == 0


def source_runs(stream, is_deaf, hinder, *args):
    """Until the stream has ended, or nothing has come for a while."""
    there = Receiving("127.0.0.1:0", max_delay=0.01, timeout=2)
    with bound_socket() as sock, while_it_runs(there.graph):

        def send(part):
            for packet in part:
                sock.sendto(packet, ("127.0.0.1", there.port))

        half = HEAPS // 2
        send(stream[:half])
        eventually(lambda: there.stats["samples_received"] == half * HEAP)
        hinder(*args)
        send(stream[half:])
        gr.top_block_wait_unlocked(there.graph._impl)
    heaps = half if is_deaf else HEAPS
    assert there.stats["samples_received"] == heaps * HEAP


def limit(kind, left):
    """Of memory and files, so much is left; of the rest, there is so much."""
    if kind in ("RLIMIT_AS", "RLIMIT_DATA"):
        field = {"RLIMIT_AS": "VmSize:", "RLIMIT_DATA": "VmData:"}[kind]
        with open("/proc/self/status") as status:
            left += next(
                int(line.split()[1]) << 10 for line in status if line.startswith(field)
            )
    if kind == "RLIMIT_NOFILE":
        left += max(file for file in range(200) if is_open(file)) + 1
    resource.setrlimit(getattr(resource, kind), (left, left))
    if kind == "RLIMIT_NPROC":
        become_nobody()  # root has no limit


def become_nobody(home="/"):
    """A user without any rights, who can get none; GNU Radio writes to its home."""
    os.environ["HOME"] = home
    system_call(libc.prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0))
    if os.geteuid() == 0:
        os.setgroups([])
        os.setresgid(NOBODY, NOBODY, NOBODY)
        os.setresuid(NOBODY, NOBODY, NOBODY)


def hide_proc():
    private_mounts()
    system_call(libc.mount(b"none", b"/proc", b"tmpfs", MS_RDONLY, None))


def make_read_only():
    """All that exists, and home and temporary directories with it."""
    private_mounts()
    for directory in (b"/", b"/tmp", b"/dev/shm", b"/root"):
        system_call(libc.mount(directory, directory, None, MS_BIND | MS_REC, None))
        system_call(
            libc.mount(None, directory, None, MS_REMOUNT | MS_BIND | MS_RDONLY, None)
        )


def private_mounts():
    system_call(libc.unshare(CLONE_NEWNS))
    system_call(libc.mount(None, b"/", None, MS_REC | MS_PRIVATE, None))
