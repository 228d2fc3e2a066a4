# Copyright 2026 The gr-spead authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Stream after stream through a network that misbehaves, and an exact account of each.

The streams go from gr-spead or spead2 to gr-spead or spead2, over IPv4 or IPv6, to an
address or a multicast group, with faults at random. At the end of each, in packets,

    sent + repeated on the way = received + lost at places that have counted it

and each sample that arrived was compared. Both ends are in this process, the memory,
descriptors and threads of which must not grow. Needs root, for a network of its own.
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

LEAST_STREAMS = 2
GROWTH = 16 << 20  # bytes, that memory may grow after the first half: what malloc keeps
PATH_FAULTS = ("cut", "loss", "late", "repeat")
NEAR_FAULTS = ("carrier", "interface", "address", "firewall", "mtu")


@dataclass
class Stream:
    """What is random about a stream, besides its faults."""

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
    """The packets of a stream so far."""

    def __init__(self, before, now, sent, received):
        counted = {name: n - before[name] for name, n in now.items()}
        entered, repeated, arrived = (
            counted.pop(name) for name in ("entered", "repeated", "arrived")
        )
        drops = counted.pop("sender drops")  # other packets, too
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


class Round:
    """One stream with its faults."""

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
        self.names = [*PATH_FAULTS]
        if by_sink:
            self.names += [*NEAR_FAULTS, "sender_restarts", "item_changes"]
        if by_source:
            self.names += ["receiver_restarts", "receiver_halts"]

    def run(self, seconds):
        end = time.monotonic() + seconds
        self.pass_time()
        while time.monotonic() < end:
            self.faults.append(self.choose.choice(self.names))
            self.happen(self.faults[-1])
            self.pass_time()
        self.sender.stop()

    def happen(self, name):
        if name in NEAR_FAULTS:
            fault = getattr(self.network, name)
            fault(False)
            self.pass_time()
            fault(True)
        elif name in PATH_FAULTS:
            much = True if name == "cut" else self.choose.randint(1, 50)
            self.network.set_path(**{name: much})
            self.pass_time()
            self.network.set_path()
        else:
            getattr(self, name)()

    def pass_time(self):
        time.sleep(self.choose.uniform(0.1, 1))

    def sender_restarts(self):
        self.sender.restart()

    def item_changes(self):
        self.sender.change_item()

    def receiver_restarts(self):
        """Packets in its socket when that is closed would be counted nowhere."""
        self.network.set_path(cut=True)
        assert settled(lambda: not self.account().at_receiver), self.report()
        self.receiver.stop()
        self.receiver.start()
        self.network.set_path()

    def receiver_halts(self):
        self.receiver.halt(True)
        self.pass_time()
        self.receiver.halt(False)

    def account(self):
        received = self.receiver.packets()
        now = self.network.counters()
        return Account(self.before, now, self.sender.packets(), received)

    def report(self):
        """The account, and what may explain it."""
        now = self.network.protocols()
        before = self.protocols_before
        changes = {name: n - before.get(name, 0) for name, n in now.items()}
        changed = {name: n for name, n in changes.items() if n}
        return f"after {self.faults}: {self.account()}; at the far host: {changed}"

    def finish(self):
        """The account, when all packets have been received."""
        is_exact = settled(lambda: self.account().is_exact)
        account = self.account()
        self.receiver.stop()
        assert is_exact, self.report()
        self.sender.check()
        self.receiver.check()
        return account


def resources():
    """Of this process: bytes of memory, descriptors, threads."""
    gc.collect()
    lines = Path("/proc/self/status").read_text().splitlines()
    memory = next(int(line.split()[1]) for line in lines if line.startswith("VmRSS"))
    folders = ("/proc/self/fd", "/proc/self/task")
    return memory << 10, *(len(os.listdir(folder)) for folder in folders)


def check_growth(used):
    """The first streams load libraries; from then on nothing grows."""
    half = [max(each) for each in zip(*used[: (len(used) + 1) // 2], strict=True)]
    print(
        "memory, descriptors, threads: at most",
        *half,
        "in the first half, at last",
        end=" ",
    )
    print(*used[-1])
    assert used[-1][0] <= half[0] + GROWTH
    assert used[-1][1] <= half[1]
    assert used[-1][2] <= half[2]


def soak(minutes, seed, first):
    network = Network()
    end = time.monotonic() + 60 * minutes
    used, sums = [], {}
    number = first
    while time.monotonic() < end or len(used) < LEAST_STREAMS:
        choose = random.Random(f"{seed} {number}")
        stream = Stream.random(choose)
        print(f"{number}: {stream}", flush=True)
        this = Round(network, stream, choose)
        this.run(choose.uniform(2, 15))
        account = this.finish()
        print("   ", *this.faults)
        print("   ", account, flush=True)
        del this
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
    parser.add_argument("--minutes", type=float, default=60, help="60 by default")
    parser.add_argument("--seed", type=int, default=random.randrange(1_000_000))
    parser.add_argument(
        "--first", type=int, default=1, help="number of the first stream"
    )
    options = parser.parse_args()
    print("seed", options.seed)
    # what a thread of the soak finds ends it
    threading.excepthook = lambda args: (sys.__excepthook__(*args[:3]), os._exit(1))
    try:
        soak(options.minutes, options.seed, options.first)
    except (AssertionError, subprocess.SubprocessError):
        traceback.print_exc()
        sys.stdout.flush()
        # before the blocks of the stream are deleted: that waits for those that run
        os._exit(1)
    print("soak: passed", flush=True)
    os._exit(0)


if __name__ == "__main__":
    main()
