#!/usr/bin/env python3
# Copyright 2026 The gr-spead authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Compare the CPU time and the highest rate of receivers.

A cell is a heap size and a packet size. In each round, all programs run in each cell in
random order and receive a stream at --rate. The table shows the median CPU time of each
program per GB. With --highest, a second table shows the highest rate without loss,
according to the drop counters of the kernel and, for gr-spead, the missing samples.

All programs receive from the same sender, over a veth pair between two network
namespaces (needs root) or, with --loopback, over loopback. On loopback, a slow receiver
slows down the sender.

The sender runs on the first CPU and the receiver on the last one: a receiver on the
sender's CPU would find the packets in its cache, unlike those of a network card.
"""

import argparse
import math
import os
import random
import re
import shlex
import socket
import statistics
import struct
import subprocess
import sys
import time
from pathlib import Path

from arguments import packet_size, positive, several, size
from measure import Failure
from private_network import Network, NetworkError, open_private
from programs import BUILD, HERE, Program

SEED = 1  # of the order of the programs
START_TIMEOUT = 10  # s, for a program to open its socket
END_TIMEOUT = 1  # s after the end-of-stream heap, before a program is killed
SENDER_TIMEOUT = 60  # s
# Parameters of the search for the highest rate.
FIRST_RATE = 100.0  # MB/s
TRIALS = 3  # per rate
MIN_RATE = 1  # MB/s
ACCURACY = 1.05
REACHED = 0.7  # fraction of a rate; a slower sender has reached its limit

EPILOG = """
programs:
  gr-spead            a GNU Radio flow graph of the SPEAD source and a null sink
  spead2 Python       spead2's Python module with a memory pool
  network.udp_source  the UDP source of GNU Radio, which does not parse the packets
  limit               one thread that receives and discards the packets

peers:
  --peer 'spead2_recv=spead2_recv --quiet --mem-pool --packet 9200 {host}:{port}'
  A peer is a command that receives until the end-of-stream heap or until it is killed.
  --sender replaces the sender, a flow graph of gr-spead, for example:
  --sender 'spead2_send --rate {rate_gbps} --heaps {heaps} --heap-size {heap} \
--packet {packet} {host}:{port}'
  Commands run without a shell. Their placeholders are {host}, {port}, {heap}, {packet};
  for the sender also {heaps}, {rate} in MB/s, and {rate_gbps} in Gb/s.
"""


def programs(build):
    endpoint = ("{host}", "{port}")
    peers = HERE / "peers"
    spead2 = (
        sys.executable,
        str(peers / "spead2_receiver.py"),
        "-H",
        "{heap}",
        *endpoint,
    )
    udp = (
        sys.executable,
        str(peers / "gnuradio_source.py"),
        "-p",
        "{packet}",
        *endpoint,
    )
    return [
        Program("gr-spead", (str(build / "recv_perf"), *endpoint)),
        Program("spead2 Python", spead2, module="spead2"),
        Program("network.udp_source", udp, module="gnuradio"),
        Program("limit", (str(build / "receive_limit"), *endpoint)),
    ]


def sender(build):
    heaps = ("-n", "{heaps}", "-H", "{heap}", "-p", "{packet}", "-r", "{rate}")
    return (str(build / "send_perf"), *heaps, "{host}", "{port}")


def loopback():
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as sock:
        sock.bind(("127.0.0.1", 0))
        return Network("loopback", *sock.getsockname())


def end_of_stream():
    """A SPEAD-64-40 packet: heap counter, length, offset, payload length, control."""
    items = (1, 1), (2, 0), (3, 0), (4, 0), (6, 2)
    words = [1 << 63 | item << 40 | value for item, value in items]
    return struct.pack(">6Q", 0x5304030500000005, *words)


def has_socket(port):
    """Whether a process in the namespace of this thread has bound the port."""
    return f":{port:04X} " in Path("/proc/thread-self/net/udp").read_text()


def kernel_drops():
    """Packets dropped at full sockets of this namespace or full queues of the host."""
    lines = Path("/proc/thread-self/net/snmp").read_text().splitlines()
    names, values = (line.split() for line in lines if line.startswith("Udp:"))
    queues = Path("/proc/net/softnet_stat").read_text().splitlines()
    queue_drops = sum(int(line.split()[1], 16) for line in queues)
    return int(values[names.index("RcvbufErrors")]) + queue_drops


def wait_until(condition, seconds):
    end = time.monotonic() + seconds
    while not condition() and time.monotonic() < end:
        time.sleep(0.01)
    return condition()


def pinned_to(choose):
    """A function that pins a child process to one of the CPUs."""
    cpu = choose(os.sched_getaffinity(0))
    return lambda: os.sched_setaffinity(0, {cpu})


class Bench:
    """Runs receivers at the far end of a network, and the sender at the near one."""

    def __init__(self, network, sender):
        self.network = network
        self.sender = sender

    def run(self, program, cell, rate, seconds):
        """Return the receiver's CPU time in s/GB, the packets lost and MB/s sent."""
        heap, packet = cell
        values = {"heap": heap, "packet": packet}
        values |= {"host": self.network.host, "port": self.network.port}
        with self.network.far_end():
            before = kernel_drops()
            receiver = subprocess.Popen(
                program.fill(**values),
                stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE,
                stderr=subprocess.STDOUT,
                text=True,
                preexec_fn=pinned_to(max),
            )
            try:
                if not wait_until(lambda: has_socket(self.network.port), START_TIMEOUT):
                    raise Failure("opens no socket")
            except BaseException:
                receiver.kill()
                receiver.wait()
                raise
        try:
            heaps = max(round(rate * 1e6 * seconds / heap), 2)
            speed = self.send(heaps, rate, values)
        finally:
            usage, output = self.end(receiver)
        with self.network.far_end():
            lost = kernel_drops() - before
        missing = re.search(r"(\d+) samples missing", output)
        lost += int(missing[1]) if missing else 0
        return (usage.ru_utime + usage.ru_stime) / (heaps * heap / 1e9), lost, speed

    def send(self, heaps, rate, values):
        command = self.sender.fill(
            heaps=heaps, rate=f"{rate:g}", rate_gbps=f"{rate * 8e-3:g}", **values
        )
        try:
            done = subprocess.run(
                command,
                check=True,
                capture_output=True,
                text=True,
                timeout=SENDER_TIMEOUT,
                preexec_fn=pinned_to(min),
            )
        except (OSError, subprocess.SubprocessError) as error:
            raise Failure(f"the sender failed: {error}") from None
        speeds = re.findall(r"([\d.]+) (MB/s|Gb/s)", done.stdout)
        if not speeds:
            raise Failure("the sender printed no speed in MB/s or Gb/s")
        number, unit = speeds[-1]
        return float(number) * (1 if unit == "MB/s" else 125)

    def end(self, receiver):
        """End a receiver; return its CPU usage and its output."""
        with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as sock:
            sock.sendto(end_of_stream(), (self.network.host, self.network.port))
        end = time.monotonic() + END_TIMEOUT
        is_killed = False
        while True:
            pid, status, usage = os.wait4(receiver.pid, os.WNOHANG)
            if pid:
                break
            if time.monotonic() > end and not is_killed:
                receiver.kill()
                is_killed = True
            time.sleep(0.01)
        receiver.returncode = os.waitstatus_to_exitcode(status)
        output = receiver.stdout.read()
        if receiver.returncode and not is_killed:
            raise Failure(output.strip() or f"exit status {receiver.returncode}")
        return usage, output


def cpu_times(bench, args):
    """The median of each program in each cell, as text."""
    times: dict = {}
    lossy: dict = {}
    order = random.Random(SEED)
    for _ in range(args.rounds):
        for cell in args.cells:
            for program in order.sample(args.programs, len(args.programs)):
                key = program.name, cell
                cpu, lost, _ = bench.run(program, cell, args.rate, args.seconds)
                times.setdefault(key, []).append(cpu)
                lossy[key] = lossy.get(key, 0) + (lost > 0)
    return {
        key: f"{statistics.median(runs):.3f}"
        + (f" ({lossy[key]})" if lossy[key] else "")
        for key, runs in times.items()
    }


def highest_rate(bench, program, cell, seconds):
    """The highest rate without loss in MB/s, as text; ">" if the sender is the limit.

    A rate is without loss if most runs lose no packet.
    """
    best, low, high, rate = 0.0, 0.0, math.inf, FIRST_RATE
    while low < high / ACCURACY and rate > MIN_RATE:
        runs = [bench.run(program, cell, rate, seconds) for _ in range(TRIALS)]
        if statistics.median(lost for _, lost, _ in runs):
            high = rate
        else:
            low = rate
            speed = max(speed for _, _, speed in runs)
            best = max(best, speed)
            if speed < REACHED * rate:
                return f">{best:.0f}"
        rate = high / 2 if not low else min(2 * low, math.sqrt(low * high))
    return f"{best:.0f}" if best else f"<{MIN_RATE}"


def print_table(title, cells, names, results):
    print(f"\n{title}\n")
    rows = [["", *(f"{heap}/{packet}" for heap, packet in cells)]]
    rows += [
        [name, *(results.get((name, cell), "-") for cell in cells)] for name in names
    ]
    for row in rows:
        print(f"{row[0]:20}" + "".join(f"{text:>16}" for text in row[1:]), flush=True)


def cells(text):
    """Parse a comma-separated list of HEAP/PACKET."""
    pairs = (part.split("/") for part in text.split(","))
    return [(size(heap), packet_size(packet)) for heap, packet in pairs]


def command(text):
    """Parse NAME=COMMAND into a Program."""
    name, _, words = text.partition("=")
    if not words:
        raise ValueError
    return Program(name, tuple(shlex.split(words)))


def parse(argv):
    parser = argparse.ArgumentParser(
        description=__doc__,
        epilog=EPILOG,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    add = parser.add_argument
    add(
        "--cells",
        metavar="HEAP/PACKET,...",
        type=cells,
        default="64k/1472,8k/1472,8k/8972,1M/8972",
        help="bytes; default: %(default)s",
    )
    add("--rate", metavar="MB/S", type=positive(float), default=1000)
    add(
        "--highest", action="store_true", help="also find the highest rate without loss"
    )
    add("--rounds", type=positive(int), default=3)
    add("--seconds", type=positive(float), default=2, help="duration of a run")
    add("--programs", metavar="NAMES", type=several(str.strip), help="see below")
    add("--peer", metavar="NAME=COMMAND", type=command, action="append", default=[])
    add("--sender", metavar="COMMAND", help="see below")
    add("--loopback", action="store_true", help="use loopback; needs no root")
    add(
        "--build",
        metavar="DIR",
        type=Path,
        default=BUILD,
        help="directory of recv_perf and send_perf",
    )
    args = parser.parse_args(argv)
    known = programs(args.build)
    names = args.programs or [program.name for program in known]
    if unknown := set(names) - {program.name for program in known}:
        parser.error(f"unknown program {', '.join(sorted(unknown))}")
    args.programs = [program for program in known if program.name in names] + args.peer
    for program in args.programs:
        if missing := program.missing():
            parser.error(f"{program.name}: {missing} is missing")
    if not args.peer:
        print("without spead2_recv: add it with --peer", file=sys.stderr)
    words = shlex.split(args.sender) if args.sender else None
    args.sender = Program("sender", tuple(words or sender(args.build)))
    return args


def main(argv=None):
    args = parse(argv)
    try:
        network = loopback() if args.loopback else open_private("veth")
    except NetworkError as error:
        sys.exit(f"receivers.py: {error}; try --loopback")
    if network.unread:
        network.unread.close()
    bench = Bench(network, args.sender)
    names = [program.name for program in args.programs]
    try:
        results = cpu_times(bench, args)
        title = f"CPU time in s/GB at {args.rate:g} MB/s (runs with losses)"
        print_table(title, args.cells, names, results)
        if args.highest:
            results = {
                (program.name, cell): highest_rate(bench, program, cell, args.seconds)
                for cell in args.cells
                for program in args.programs
            }
            title = "highest rate without loss in MB/s (>: limited by the sender)"
            print_table(title, args.cells, names, results)
    except Failure as failure:
        sys.exit(f"receivers.py: {failure}")


if __name__ == "__main__":
    main()
