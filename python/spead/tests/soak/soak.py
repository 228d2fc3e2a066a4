# Copyright 2026 The gr-spead authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Send streams through a network with random faults, and account for every packet.

Sender and receiver are gr-spead or spead2, at random; so are IPv4 or IPv6, unicast or
multicast, and the faults. At the end of each stream, the packets must add up:

    sent + duplicated by the bridge = received + lost, as counted where it happened

Every received sample is compared. Both ends run in this process; its memory, file
descriptors and threads must not grow. Needs root, to create network namespaces.
"""

import argparse
import gc
import os
import random
import subprocess
import sys
import threading
import time
import traceback
from dataclasses import astuple, dataclass
from pathlib import Path

from soak_ends import Sink, Source, Spead2Receiver, Spead2Sender, settled
from soak_network import Network

MIN_STREAMS = 2
# bytes by which memory may grow in the second half, because malloc keeps free memory
GROWTH = 16 << 20
PATH_FAULTS = ("cut", "loss", "late", "repeat")
NEAR_FAULTS = ("carrier", "interface", "address", "firewall", "mtu")


@dataclass
class Stream:
    """The random parameters of a stream, except its faults."""

    sender: str
    receiver: str
    family: str
    multicast: bool
    inputs: int
    heap: int  # samples
    packet: int  # bytes
    rate: float  # bytes/s
    when_full: str
    on_missing: str

    def __str__(self):
        return " ".join(str(value) for value in astuple(self))

    @classmethod
    def random(cls, choose):
        sender, receiver = (
            choose.choice(["gr-spead", "gr-spead", "spead2"]) for _ in range(2)
        )
        both = sender == receiver == "gr-spead"
        inputs = choose.choice([1, 2]) if both else 1
        return cls(
            sender,
            receiver,
            family=choose.choice(["ipv4", "ipv6"]),
            multicast=choose.random() < 0.3,
            inputs=inputs,
            heap=choose.choice([1000, 4096, 8192, 65536, 500_000]),
            packet=choose.choice([600, 1452]),
            rate=choose.choice([1e6, 4e6, 8e6]),
            when_full=choose.choice(["block", "drop"]),
            on_missing=choose.choice(["zero_fill", "skip"][: 3 - inputs]),
        )


class Account:
    """Where the packets of a stream went so far."""

    def __init__(self, before, now, sent, received):
        counted = {name: n - before[name] for name, n in now.items()}
        entered, repeated, arrived = (
            counted.pop(name) for name in ("entered", "repeated", "arrived")
        )
        drops = counted.pop("sender drops")  # includes packets of other protocols
        at_end = {name: counted.pop(name) for name in ("full socket", "unaddressed")}
        self.sent = entered if sent is None else sent
        self.received = received
        self.repeated = repeated
        self.lost = counted | at_end
        at_sender = self.sent - entered
        if 0 <= at_sender <= drops:
            self.lost["sender's interface"] = at_sender
            at_sender = 0
        on_the_way = entered + repeated - sum(counted.values()) - arrived
        self.at_receiver = arrived - sum(at_end.values()) - received
        self.unexplained = at_sender, on_the_way, self.at_receiver
        self.is_exact = not any(self.unexplained)

    def __str__(self):
        losses = "".join(f", {n} {where}" for where, n in self.lost.items() if n)
        return (
            f"{self.sent} sent, {self.repeated} repeated, {self.received} received, "
            f"unexplained at the sender, on the way, at the end: {self.unexplained}"
            f"{losses}"
        )


class StreamRun:
    """Runs one stream and injects faults."""

    def __init__(self, network, stream, choose):
        self.network = network
        self.stream = stream
        self.choose = choose
        self.faults = []
        self.before = network.counters()
        self.protocols_before = network.protocols()
        by_source, by_sink = (
            name == "gr-spead" for name in (stream.receiver, stream.sender)
        )
        self.receiver = (Source if by_source else Spead2Receiver)(network, stream)
        self.sender = (Sink if by_sink else Spead2Sender)(stream)
        self.fault_names = [*PATH_FAULTS]
        if by_sink:
            self.fault_names += [*NEAR_FAULTS, "restart_sender", "change_item"]
        if by_source:
            self.fault_names += ["restart_receiver", "pause_receiver"]

    def run(self, seconds):
        end = time.monotonic() + seconds
        self.pass_time()
        while time.monotonic() < end:
            self.faults.append(self.choose.choice(self.fault_names))
            self.inject(self.faults[-1])
            self.pass_time()
        self.sender.stop()

    def inject(self, name):
        if name in NEAR_FAULTS:
            set_working = getattr(self.network, name)
            set_working(False)
            self.pass_time()
            set_working(True)
        elif name in PATH_FAULTS:
            amount = True if name == "cut" else self.choose.randint(1, 50)
            self.network.set_path(**{name: amount})
            self.pass_time()
            self.network.set_path()
        else:
            getattr(self, name)()

    def pass_time(self):
        time.sleep(self.choose.uniform(0.1, 1))

    def restart_sender(self):
        self.sender.restart()

    def change_item(self):
        self.sender.change_item()

    def restart_receiver(self):
        # Packets in a socket that closes are counted nowhere: drain it first.
        self.network.set_path(cut=True)
        assert settled(lambda: not self.account().at_receiver), self.report()
        self.receiver.stop()
        self.receiver.start()
        self.network.set_path()

    def pause_receiver(self):
        self.receiver.pause()
        self.pass_time()
        self.receiver.resume()

    def account(self):
        received = self.receiver.packets()
        now = self.network.counters()
        return Account(self.before, now, self.sender.packets(), received)

    def report(self):
        """The account, and the protocol counters that may explain it."""
        now = self.network.protocols()
        before = self.protocols_before
        changes = {name: n - before.get(name, 0) for name, n in now.items()}
        changed = {name: n for name, n in changes.items() if n}
        return f"after {self.faults}: {self.account()}; at the far host: {changed}"

    def finish(self):
        """The account after the last packet in flight has arrived."""
        is_exact = settled(lambda: self.account().is_exact)
        account = self.account()
        self.receiver.stop()
        assert is_exact, self.report()
        self.sender.check()
        self.receiver.check()
        return account


def resources():
    """Bytes of memory, file descriptors and threads of this process."""
    gc.collect()
    lines = Path("/proc/self/status").read_text().splitlines()
    memory = next(int(line.split()[1]) for line in lines if line.startswith("VmRSS"))
    folders = ("/proc/self/fd", "/proc/self/task")
    return memory << 10, *(len(os.listdir(folder)) for folder in folders)


def check_growth(used):
    """Compare the last stream with the first half, which also loads libraries."""
    half = [max(each) for each in zip(*used[: (len(used) + 1) // 2], strict=True)]
    print("memory, descriptors, threads: maximum of the first half", *half, end="; ")
    print("at the end", *used[-1])
    assert used[-1][0] <= half[0] + GROWTH
    assert used[-1][1] <= half[1]
    assert used[-1][2] <= half[2]


def soak(minutes, seed, first):
    network = Network()
    end = time.monotonic() + 60 * minutes
    used, sums = [], {}
    number = first
    while time.monotonic() < end or len(used) < MIN_STREAMS:
        choose = random.Random(f"{seed} {number}")
        stream = Stream.random(choose)
        print(f"{number}: {stream}", flush=True)
        stream_run = StreamRun(network, stream, choose)
        stream_run.run(choose.uniform(2, 15))
        account = stream_run.finish()
        print("   ", *stream_run.faults)
        print("   ", account, flush=True)
        del stream_run
        used.append(resources())
        figures = {"sent": account.sent, "received": account.received, **account.lost}
        for name, n in figures.items():
            sums[name] = sums.get(name, 0) + n
        number += 1
    print(len(used), "streams:", *(f"{n} {name};" for name, n in sums.items()))
    check_growth(used)


def main():
    parser = argparse.ArgumentParser(
        prog="scripts/soak", description=__doc__.split("\n")[0]
    )
    parser.add_argument("--minutes", type=float, default=60, help="(default: 60)")
    parser.add_argument("--seed", type=int, default=random.randrange(1_000_000))
    parser.add_argument(
        "--first", type=int, default=1, help="number of the first stream"
    )
    options = parser.parse_args()
    print("seed", options.seed)
    # An exception in any thread ends the process.
    threading.excepthook = lambda args: (sys.__excepthook__(*args[:3]), os._exit(1))
    try:
        soak(options.minutes, options.seed, options.first)
    except (AssertionError, subprocess.SubprocessError):
        traceback.print_exc()
        sys.stdout.flush()
        # Skip the destructors: they would wait for running blocks.
        os._exit(1)
    print("soak: passed", flush=True)
    os._exit(0)


if __name__ == "__main__":
    main()
