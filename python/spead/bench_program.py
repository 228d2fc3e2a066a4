# Copyright 2026 The gr-spead authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Measure the highest rate without loss from one host to another.

Start "spead-bench receive :7148" on one host, then "spead-bench send HOST:7148" on the
other. The sender sends noise at several rates, up to the highest that the hosts and the
path can do: do not use it on a network that others need meanwhile. Firewalls must admit
UDP and TCP at the port.
"""

import argparse
import contextlib
import io
import ipaddress
import math
import re
import signal
import socket
import sys
from pathlib import Path

from gnuradio import gr

from .bench_report import nothing_arrived, rate_line, result
from .bench_trial import MAX_TRIALS, Receiving, Sender, Trial
from .control_link import (
    PROTOCOL,
    TIMEOUT,
    Link,
    PeerError,
    address_text,
    endpoint_text,
    printable,
)
from .rate_search import REACHED, Search

PROGRAM = "spead-bench"
FIRST_RATE = 100.0  # MB/s
ATTEMPTS = 3  # of a trial in which the sender waits for a CPU, and then catches up
MIN_HEAPS = 10  # per trial
HEAP_SIZES = 1024, 16 << 20  # bytes
MAX_SECONDS = 10  # of a trial that is not lengthened to MIN_HEAPS
LONGEST_TRIAL = 200  # seconds: MIN_HEAPS of the largest size at 1 MB/s
REQUEST_LIMIT, REPORT_LIMIT = 1 << 12, 1 << 20  # bytes of a message
SMALL_PACKET = {4: 1472, 6: 1452}  # bytes of UDP payload that Ethernet always carries


def main():
    try:
        return run()
    except KeyboardInterrupt:
        return 128 + signal.SIGINT
    except (OSError, PeerError) as error:
        return f"{PROGRAM}: {error}"


def run():
    args = parse()
    if not sys.stdout:
        return f"{PROGRAM}: the output is closed"
    if isinstance(sys.stdout, io.TextIOWrapper):
        sys.stdout.reconfigure(line_buffering=True, errors="backslashreplace")
    # The counters tell what the blocks would log.
    gr.logging().set_default_level(gr.log_levels.off)
    return args.run(args)


def parse():
    parser = argparse.ArgumentParser(
        PROGRAM,
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    commands = parser.add_subparsers(required=True)
    receiver = commands.add_parser(
        "receive", help="serve one sender after another, until Ctrl-C"
    )
    receiver.add_argument(
        "endpoint", type=endpoint, metavar="[ADDRESS]:PORT", help="such as :7148"
    )
    receiver.set_defaults(run=receive)
    sender = commands.add_parser("send", help="measure, and print the result")
    add = sender.add_argument
    add("endpoint", type=endpoint, metavar="HOST:PORT", help="of the receiver")
    add(
        "--heap-size",
        type=within(int, *HEAP_SIZES),
        default=65536,
        help="bytes of samples (default: %(default)s)",
    )
    add(
        "--packet-size",
        type=int,
        default=0,
        help="bytes of UDP payload (default: the largest that the MTU allows)",
    )
    add(
        "--seconds",
        type=within(float, 0.1, MAX_SECONDS),
        default=1,
        help="duration of a trial (default: %(default)s)",
    )
    add(
        "--max",
        type=within(float, 1, 1e6),
        default=math.inf,
        metavar="RATE",
        help="highest rate to try, in MB/s of samples (default: unlimited)",
    )
    sender.set_defaults(run=send)
    return parser.parse_args()


def endpoint(text):
    match = re.fullmatch(r"(?:\[([^]]+)\]|([^:[\]]*)):(\d{1,5})", text)
    if not match or not 0 < int(match[3]) < 65536:
        raise argparse.ArgumentTypeError(
            f"{text!r} is not HOST:PORT, [IPv6 address]:PORT or :PORT"
        )
    host = match[1] or match[2]
    try:
        host.encode("idna")  # as socket does
    except UnicodeError:
        raise argparse.ArgumentTypeError(f"{host!r} is not a host name") from None
    return host, int(match[3])


def within(kind, low, high):
    def number(text):
        value = kind(text)
        if not low <= value <= high:
            raise argparse.ArgumentTypeError(
                f"{text} is out of range [{low}, {high:g}]"
            )
        return value

    number.__name__ = "number"  # for the error of argparse
    return number


def receive(args):
    host, port = args.endpoint
    with listening(host, port) as listener:
        print(f"{PROGRAM}: waiting for senders at port {port}, UDP and TCP")
        while True:
            listener.settimeout(None)
            sock, _ = listener.accept()
            listener.setblocking(False)
            try:
                with sock:
                    serve(Link(sock, REQUEST_LIMIT), sock, listener)
            except (OSError, PeerError) as error:
                print(error)


def listening(host, port):
    """A socket for control connections; also checks that the UDP port is free."""
    every_family = not host and bool(read("/proc/net/if_inet6"))
    family = socket.AF_INET6 if every_family or ":" in host else socket.AF_INET
    try:
        listener = socket.create_server(
            (host, port), family=family, dualstack_ipv6=every_family
        )
        with socket.socket(family, socket.SOCK_DGRAM) as udp:
            udp.bind(listener.getsockname())
    except OSError as error:
        # create_server() appends the address
        reason = str(error.strerror).partition(" (while")[0]
        raise OSError(f"{endpoint_text(host, port)}: {reason}") from None
    return listener


def read(path):
    try:
        return Path(path).read_text()
    except OSError:
        return ""


def serve(link, sock, listener):
    """Receive the trials of one sender. Others are refused meanwhile."""

    def refuse_others():
        with contextlib.suppress(OSError, PeerError):  # there is none, or it has left
            other, _ = listener.accept()
            with other:
                Link(other, REQUEST_LIMIT).send(error=f"busy with {link.peer}")

    link.send(protocol=PROTOCOL)
    message = link.receive(meanwhile=refuse_others)
    heap_size = link.integer(message, "heap_size", *HEAP_SIZES)
    print(f"{link.peer}: trials with heaps of {heap_size:,} bytes")
    address, port, *_ = sock.getsockname()
    address = address_text(sock.getsockname())
    while "end" not in (message := link.receive(meanwhile=refuse_others)):
        trial = link.integer(message, "trial", 1, MAX_TRIALS)
        seconds = link.integer(message, "seconds", 1, LONGEST_TRIAL)
        try:
            receiving = Receiving(address, port, trial, heap_size, seconds)
        except (ValueError, RuntimeError) as error:
            link.send(error=str(error))
            raise PeerError(f"{PROGRAM}: {error}") from None

        def poll(receiving=receiving):
            refuse_others()
            receiving.poll()

        try:
            link.send(ready=trial)
            message = link.receive(2 * seconds + 2 * TIMEOUT, poll, receiving.interval)
            receiving.settle(link.integer(message, "sent", 0, 1 << 48))
            link.send(**receiving.report())
        finally:
            receiving.stop()
    print(f"{link.peer}: end")


class Bench:
    """Runs trials with a receiver."""

    def __init__(self, sock, link, args):
        self._link = link
        self._args = args
        self._count = 0
        self._local = address_text(sock.getsockname())
        self.address, self.port = (
            address_text(sock.getpeername()),
            sock.getpeername()[1],
        )
        self.packet_size = self.set_packet_size(args.packet_size)

    def set_packet_size(self, size):
        """Returns the size in bytes; 0 chooses the largest that the MTU allows."""
        address, port, local = self.address, self.port, self._local
        self._sender = Sender(address, port, local, self._args.heap_size, size)
        return self._sender.make_sink(1).packet_size()

    def trial(self, rate):
        """A trial at a rate in MB/s; again if it was a trial of another rate."""
        for _ in range(ATTEMPTS):
            trial = self._trial(rate)
            is_slow = trial.rate < REACHED * rate
            if not (trial.is_uneven and (trial.lossy or is_slow)):
                break
        return trial

    def _trial(self, rate):
        link, heap_size = self._link, self._args.heap_size
        heaps = max(round(rate * 1e6 * self._args.seconds / heap_size), MIN_HEAPS)
        self._count += 1
        link.send(trial=self._count, seconds=math.ceil(heaps * heap_size / rate / 1e6))
        link.receive()
        sending = self._sender.send(self._count, rate * 1e6, heaps)
        stats = sending.stats
        if not stats["samples_sent"]:
            errors = ", ".join(stats["send_errors"]) or "no error"
            raise PeerError(f"the sink could not send a heap ({errors})")
        link.send(sent=stats["samples_sent"])
        return Trial(
            heap_size, sending, checked_report(link, link.receive(2 * TIMEOUT))
        )


def checked_report(link, message):
    """The report of the receiver, if it is one."""
    try:
        arrived = message["interface_bytes"]
        report = {
            "samples": int(message["samples"]),
            "late": int(message["late"]),
            "packets": int(message["packets"]),
            "dropped_by_socket": int(message["dropped_by_socket"]),
            "buffer_fill": float(message["buffer_fill"]),
            "socket_buffer": int(message["socket_buffer"]),
            "cpus": float(message["cpus"]),
            "interface": printable(message["interface"]),
            "interface_bytes": None if arrived is None else int(arrived),
            "losses": {printable(key): int(n) for key, n in message["losses"].items()},
            "curve": [(float(seconds), int(n)) for seconds, n in message["curve"]],
        }
        if report["samples"] and report["curve"][-1][1] != report["samples"]:
            raise ValueError
    except (AttributeError, IndexError, KeyError, OverflowError, TypeError, ValueError):
        raise link.not_understood() from None
    return report


def send(args):
    host, port = args.endpoint
    try:
        sock = socket.create_connection((host or "localhost", port), TIMEOUT)
    except OSError as error:
        raise OSError(
            f"{endpoint_text(host, port)}: {error.strerror or error}; is"
            f' "{PROGRAM} receive :{port}" running there, and TCP admitted?'
        ) from None
    with sock:
        link = Link(sock, REPORT_LIMIT)
        if (other := link.receive().get("protocol")) != PROTOCOL:
            raise PeerError(
                f"{link.peer} has protocol {printable(str(other))}, not {PROTOCOL}:"
                " install the same version of gr-spead on both hosts"
            )
        try:
            bench = Bench(sock, link, args)
        except (ValueError, RuntimeError) as error:
            raise PeerError(str(error)) from None
        link.send(heap_size=args.heap_size)
        lines, status = measure(bench, args)
        print("\n".join(lines))
        link.send(end=True)
    return status


def measure(bench, args):
    """The lines of the result, and the exit status."""
    ip_version = ipaddress.ip_address(bench.address.partition("%")[0]).version
    first = bench.trial(min(FIRST_RATE, args.max))
    if not first.received["packets"]:
        lines = nothing_arrived(first, bench.address, bench.port)
        large, small = bench.packet_size, SMALL_PACKET[ip_version]
        if large > small:
            arriving = bench.set_packet_size(small)
            if bench.trial(1).received["packets"]:
                lines += [
                    f"- packets of {arriving:,} bytes arrive, not {large:,}",
                    f"  raise the MTU of the path, or set --packet-size {small}",
                ]
        return lines, 1

    def judged(rate):
        if sys.stdout.isatty():
            print(rate_line(rate))

    search = Search(bench.trial, FIRST_RATE, args.max, judged)
    search.run()
    lines = result(search, ip_version)
    lines[0] += (
        f", heaps of {args.heap_size:,} and packets of {bench.packet_size:,} bytes"
    )
    return lines, 0 if search.clean else 1
