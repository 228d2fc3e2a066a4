# Copyright 2026 The gr-spead authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Send streams through a network with random faults, and account for every packet.

Sender and receiver are gr-spead or spead2, at random; so are IPv4 or IPv6, and the
faults. At the end of each stream, the packets must add up:

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
from collections import Counter
from pathlib import Path
from types import SimpleNamespace

from places import eventually
from soak_ends import Sink, Source, Spead2Receiver, Spead2Sender
from soak_network import Network

MIN_STREAMS = 2
# bytes by which memory may grow in the second half, because malloc keeps free memory
GROWTH = 16 << 20
PATH_FAULTS = ("cut", "loss", "late", "repeat")


def random_stream(choose):
    """The parameters of a stream, except its faults."""
    return SimpleNamespace(
        sender=choose.choice([Sink, Sink, Spead2Sender]),
        receiver=choose.choice([Source, Source, Spead2Receiver]),
        family=choose.choice(["ipv4", "ipv6"]),
        heap=choose.choice([1000, 4096, 8192, 65536, 500_000]),  # samples
        packet=choose.choice([600, 1452]),  # bytes
        rate=choose.choice([1e6, 4e6, 8e6]),  # bytes/s
        when_full=choose.choice(["block", "drop"]),
        on_missing=choose.choice(["zero_fill", "skip"]),
    )


class Account:
    """Where the packets of a stream went so far.

    before, now: counters of the network
    sent: None if the sender does not count its packets
    """

    def __init__(self, before, now, sent, received):
        counted = {name: n - before[name] for name, n in now.items()}
        entered, arrived = counted["entered"], counted["arrived"]
        self.sent = entered if sent is None else sent
        self.repeated, self.received = counted["repeated"], received
        at_sender = self.sent - entered
        # The drops of the interface include packets of other protocols.
        is_dropped = 0 <= at_sender <= counted["sender drops"]
        on_the_way = ("port not ready", "cut", "lost", "queues")
        self.lost = {name: counted[name] for name in (*on_the_way, "full socket")}
        self.lost["sender's interface"] = at_sender if is_dropped else 0
        self.at_receiver = arrived - counted["full socket"] - received
        self.unexplained = (
            at_sender - self.lost["sender's interface"],
            entered + self.repeated - sum(counted[n] for n in on_the_way) - arrived,
            self.at_receiver,
        )
        self.is_exact = not any(self.unexplained)

    def __str__(self):
        losses = "".join(f", {n} {place}" for place, n in self.lost.items() if n)
        return (
            f"{self.sent} sent, {self.repeated} repeated, {self.received} received, "
            f"unexplained at the sender, on the way, at the end: {self.unexplained}"
            f"{losses}"
        )


class StreamRun:
    """Runs one stream and injects faults."""

    def __init__(self, network, stream, choose):
        self.network = network
        self.choose = choose
        self.faults = []
        self.before = network.counters()
        self.receiver = stream.receiver(network, stream)
        self.sender = stream.sender(stream)
        self.injections = dict.fromkeys(PATH_FAULTS, self.disturb_path)
        if stream.sender is Sink:
            self.injections |= {
                "set_carrier": self.disturb_sender,
                "set_interface": self.disturb_sender,
                "restart": lambda _: self.sender.restart(),
            }
        if stream.receiver is Source:
            self.injections |= {
                "restart_receiver": self.restart_receiver,
                "pause_receiver": self.pause_receiver,
            }

    def run(self, seconds):
        end = time.monotonic() + seconds
        self.pass_time()
        while time.monotonic() < end:
            name = self.choose.choice(list(self.injections))
            self.faults.append(name)
            self.injections[name](name)
            self.pass_time()
        self.sender.stop()

    def pass_time(self):
        time.sleep(self.choose.uniform(0.1, 1))

    def disturb_path(self, name):
        amount = True if name == "cut" else self.choose.randint(1, 50)
        self.network.set_path(**{name: amount})
        self.pass_time()
        self.network.set_path()

    def disturb_sender(self, name):
        set_working = getattr(self.network, name)
        set_working(False)
        self.pass_time()
        set_working(True)

    def restart_receiver(self, _):
        # Packets in a socket that closes are counted nowhere: drain it first.
        self.network.set_path(cut=True)
        self.wait_for_account(lambda account: not account.at_receiver)
        self.receiver.stop()
        self.receiver.start()
        self.network.set_path()

    def pause_receiver(self, _):
        self.receiver.checker.running.clear()
        self.pass_time()
        self.receiver.checker.running.set()

    def account(self):
        received = self.receiver.packets()
        now = self.network.counters()
        return Account(self.before, now, self.sender.packets(), received)

    def wait_for_account(self, condition):
        try:
            eventually(lambda: condition(self.account()))
        except AssertionError:
            raise AssertionError(f"after {self.faults}: {self.account()}") from None

    def finish(self):
        """The account after the last packet in flight has arrived."""
        self.wait_for_account(lambda account: account.is_exact)
        account = self.account()
        self.receiver.stop()
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
    half = [max(column) for column in zip(*used[: (len(used) + 1) // 2], strict=True)]
    print("memory, descriptors, threads: maximum of the first half", *half, end="; ")
    print("at the end", *used[-1])
    assert used[-1][0] <= half[0] + GROWTH
    assert used[-1][1] <= half[1]
    assert used[-1][2] <= half[2]


def soak(minutes, seed, first):
    network = Network()
    end = time.monotonic() + 60 * minutes
    used, sums = [], Counter()
    number = first
    while time.monotonic() < end or len(used) < MIN_STREAMS:
        choose = random.Random(f"{seed} {number}")
        stream = random_stream(choose)
        ends = f"{stream.sender.__name__} to {stream.receiver.__name__}"
        print(f"{number}: {ends}", *list(vars(stream).values())[2:], flush=True)
        stream_run = StreamRun(network, stream, choose)
        stream_run.run(choose.uniform(2, 15))
        account = stream_run.finish()
        print("   ", *stream_run.faults)
        print("   ", account, flush=True)
        del stream_run
        used.append(resources())
        sums.update(sent=account.sent, received=account.received, **account.lost)
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
