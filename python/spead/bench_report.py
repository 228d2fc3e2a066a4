# Copyright 2026 The gr-spead authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""What spead-bench prints: what counters show, and nothing beyond that."""

import os
import re
from collections import Counter

from .bench_trial import SOCKET_BUFFER

# Bytes that Ethernet, IP and UDP add to a packet, with preamble and gap.
WIRE_OVERHEAD = {4: 66, 6: 86}
FULL = 0.95  # of a buffer
CHECKLIST = "see the receive checklist in docs/performance.md"


def megabytes(rate):
    return f"{rate:,.0f}" if rate >= 100 else f"{rate:.3g}"


def gigabits(rate, ip_version):
    """A rate on Ethernet in Gbit/s, as text."""
    stats = rate.trials[0].sending.stats
    wire = stats["bytes_sent"] + stats["packets_sent"] * WIRE_OVERHEAD[ip_version]
    return f"{rate.achieved * wire / stats['samples_sent'] * 8e-3:.3g}"


def rate_line(rate):
    """A rate, and in how many of its trials samples were lost."""
    count = len(rate.trials)
    text = f"{'' if rate.losses else 'no '}loss in {rate.losses or count} of {count}"
    lost = sum(trial.lost for trial in rate.trials)
    if lost:
        total = sum(trial.sending.stats["samples_in"] for trial in rate.trials)
        text += f", {100 * lost / total:.2g} % of the samples"
    elif rate.losses:
        text += ", because the delay grows"
    if rate.is_sender_limit:
        text += f"; {megabytes(rate.target)} MB/s were not reached"
    return f"{megabytes(rate.achieved):>7} MB/s: {text}"


def result(search, ip_version):
    """The lines of the result."""
    clean, lossy = search.clean, search.lossy
    if not clean:
        lines = [f"less than {megabytes(lossy.achieved)} MB/s of samples without loss"]
    else:
        ends = [clean] + ([lossy] if lossy else [])
        rates = " to ".join(megabytes(rate.achieved) for rate in ends)
        wire = " to ".join(gigabits(rate, ip_version) for rate in ends)
        lines = [
            f"{'' if lossy else 'at least '}{rates} MB/s of samples without loss"
            f" ({wire} Gbit/s of Ethernet)"
        ]
    lines += map(rate_line, search.decisive())
    if lossy:
        lines += loss_lines(lossy)
    for rate in (clean, lossy):
        if rate and rate.is_sender_limit:
            lines += sender_limit_lines(rate)
    return lines


def added(counters):
    """The sums of several dicts of counters."""
    total: Counter = Counter()
    for each in counters:
        total.update(each)
    return total


def with_remedy(fact, remedy=""):
    return [f"- {fact}"] + ([f"  {remedy}"] if remedy else [])


def loss_lines(rate):
    """Which counters of either host have grown, and what may help."""
    at = f"At {megabytes(rate.achieved)} MB/s,"
    trials = [trial for trial in rate.trials if trial.lossy]
    if not any(trial.lost for trial in trials):
        growth = max(trial.delay_growth for trial in trials)
        return [
            f"{at} the delay grew by {1e3 * growth:.0f} ms in a trial: a queue on the"
            " path or the socket buffer of the receiver fills, which a longer stream"
            " overflows."
        ]
    sent = {
        name: sum(trial.sending.stats[name] for trial in trials)
        for name in ("packets_sent", "bytes_sent")
    }
    lost = sent["packets_sent"] - sum(trial.received["packets"] for trial in trials)
    head = f"{at} {max(lost, 0):,} of {sent['packets_sent']:,} packets were lost."
    facts = [
        *sender_losses(trials),
        *receiver_losses(trials),
        *path_losses(trials, sent["bytes_sent"]),
    ]
    if facts:
        return [f"{head} Counters that have grown meanwhile:", *facts]
    return [
        f"{head} No counter of either host shows where:",
        *with_remedy(
            "on the path, or in a firewall",
            "look at the counters of the switches; nft list ruleset",
        ),
    ]


def sender_losses(trials):
    facts = []
    sending = [trial.sending for trial in trials]
    if any(trial.is_uneven for trial in trials):
        stall = max(each.stall for each in sending)
        facts += with_remedy(
            f"sender: it fell behind by {1e3 * stall:.0f} ms, and then sent at up to"
            " 1.05 times the rate"
        )
    if dropped := sum(each.stats["packets_dropped"] for each in sending):
        errors = added(each.stats["send_errors"] for each in sending)
        names = ", ".join(f"{name}: {n:,}" for name, n in errors.items())
        fact = f"sender: the sink could not send {dropped:,} packets ({names})"
        facts += with_remedy(fact, "nft list ruleset" if "EPERM" in errors else "")
    for name, count in added(each.losses for each in sending).items():
        facts += with_remedy(f"sender: {name}: {count:,} packets")
    return facts


def receiver_losses(trials):
    facts = []
    received = [trial.received for trial in trials]
    if dropped := sum(each["dropped_by_socket"] for each in received):
        cpus = max(each["cpus"] for each in received)
        size = received[0]["socket_buffer"]
        remedy = CHECKLIST
        if size < SOCKET_BUFFER:
            remedy = "sysctl -w net.core.rmem_max=67108864"
        facts += with_remedy(
            f"receiver: the socket buffer of {size / 2**20:.3g} MiB was full:"
            f" {dropped:,} packets; the program used {cpus:.2g} CPUs",
            remedy,
        )
    if max(each["buffer_fill"] for each in received) > FULL:
        facts += with_remedy(
            "receiver: the buffer of the flow graph was full", CHECKLIST
        )
    if late := sum(each["late"] for each in received):
        facts += with_remedy(
            f"receiver: {late:,} samples arrived after max_delay, out of order"
        )
    for name, count in added(each["losses"] for each in received).items():
        fact = f"receiver: {name}: {count:,} packets"
        facts += with_remedy(fact, remedy_for(name))
    return facts


def remedy_for(counter):
    """What helps against losses by a counter of the system."""
    if counter.startswith("backlog queue"):
        return "sysctl -w net.core.netdev_max_backlog=10000"
    if re.search("missed|fifo|over|no_?buf|no_?dma|out_of_buf", counter):
        device = re.search(r" of (\S+)", counter)[1]
        return f"ethtool -g {device}; ethtool -G {device} rx with the maximum it shows"
    return ""


def path_losses(trials, sent_bytes):
    """Losses before the receiver: its interface has seen fewer bytes than were sent."""
    arrived = [trial.received["interface_bytes"] for trial in trials]
    if None in arrived or sum(arrived) >= sent_bytes:
        return []
    return with_remedy(
        f"path: {trials[0].received['interface']} of the receiver got"
        f" {sum(arrived):,} bytes, but {sent_bytes:,} were sent"
    )


def sender_limit_lines(rate):
    errors = added(trial.sending.stats["send_errors"] for trial in rate.trials)
    cpus = max(trial.sending.cpus for trial in rate.trials)
    lines = with_remedy(
        f"sender: reached {megabytes(rate.achieved)} of {megabytes(rate.target)} MB/s"
        f" and used {cpus:.2g} of {len(os.sched_getaffinity(0))} CPUs"
    )
    if blocked := errors.get("EAGAIN", 0) + errors.get("ENOBUFS", 0):
        lines += with_remedy(
            f"sender: its interface took no more packets {blocked:,} times"
            " (EAGAIN, ENOBUFS)"
        )
    return lines


def nothing_arrived(trial, address, port):
    """Why no packet of a trial has been received, as far as the counters tell."""
    stats, received = trial.sending.stats, trial.received
    lines = [
        f"none of {stats['packets_sent']:,} packets to UDP port {port} of {address} was"
        " received"
    ]
    if stats["icmp_errors"]:
        lines += with_remedy(
            f"{stats['icmp_errors']:,} of them were answered by ICMP errors: rejected",
            "nft list ruleset, at the receiver and between",
        )
    arrived, interface = received["interface_bytes"], received["interface"]
    if arrived is None:
        lines += with_remedy("the counters of the receiver's interface are unknown")
    elif arrived < stats["bytes_sent"]:
        lines += with_remedy(
            f"{interface} of the receiver got {arrived:,} bytes, but"
            f" {stats['bytes_sent']:,} were sent: lost before it",
            f"firewalls, routes and the MTU between: tracepath -n {address}",
        )
    else:
        lines += with_remedy(
            f"{interface} of the receiver got {arrived:,} bytes: dropped behind it",
            f"nft list ruleset, at the receiver; admit UDP port {port}",
        )
    return lines
