# Copyright 2026 The gr-spead authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Counters of Linux for packets that a host drops outside of sockets."""

import json
import os
import re
import shutil
import subprocess
from pathlib import Path

NETWORK_DEVICES = Path("/sys/class/net")
# Counters of /sys/class/net/*/statistics whose packets are lost.
LOSSES = {
    "rx": "crc_errors dropped errors fifo_errors frame_errors missed_errors nohandler"
    " over_errors",
    "tx": "aborted_errors carrier_errors dropped errors fifo_errors",
}
# Names that drivers give their own counters of lost packets.
DRIVER_LOSSES = re.compile(
    r"\s*(\w*rx\w*(?:drop|discard|miss|no_?buf|no_?dma|out_of_buf|overrun|fifo|err)\w*)"
    r": (\d+)",
    re.I,
)
TIMEOUT = 5  # seconds


def output(program, *arguments):
    """The output of a program of the system, or "" if it is missing or fails."""
    path = f"{os.environ.get('PATH', '')}:/usr/sbin:/sbin"
    if not (found := shutil.which(program, path=path)):
        return ""
    try:
        return subprocess.run(
            [found, *arguments],
            check=True,
            capture_output=True,
            text=True,
            timeout=TIMEOUT,
        ).stdout
    except (OSError, subprocess.SubprocessError):
        return ""


def interface_of(address):
    """The name of the interface with an address of this host, or "" if unknown."""
    text = output("ip", "-json", "address", "show", "to", address.partition("%")[0])
    try:
        names = [entry["ifname"] for entry in json.loads(text) if "ifname" in entry]
    except ValueError:
        return ""
    return names[0] if len(names) == 1 else ""


def number(path):
    try:
        return int(path.read_text())
    except (OSError, ValueError):
        return None


def with_lower(name):
    """An interface, and those that it consists of, if it is a VLAN, bond or bridge."""
    lower = (NETWORK_DEVICES / name).glob("lower_*")
    names = [path.name.removeprefix("lower_") for path in lower]
    return [name, *(below for each in names for below in with_lower(each))]


def received_bytes(interface):
    """The bytes that an interface has received, or None if unknown."""
    return number(NETWORK_DEVICES / interface / "statistics/rx_bytes")


def receive_losses(interface):
    """The packets that this host has lost before they reached a socket, by counter."""
    losses: dict[str, int] = {}
    for name in with_lower(interface) if interface else []:
        losses |= device_losses(name, "rx")
        for counter, value in DRIVER_LOSSES.findall(output("ethtool", "-S", name)):
            losses[f"{counter} of {name} (ethtool -S)"] = int(value)
    try:
        lines = Path("/proc/net/softnet_stat").read_text().splitlines()
    except OSError:
        lines = []
    losses["backlog queue (/proc/net/softnet_stat)"] = sum(
        int(line.split()[1], 16) for line in lines
    )
    return losses


def send_losses(interface):
    """The packets that this host has lost after they left the socket, by counter."""
    losses: dict[str, int] = {}
    for name in with_lower(interface) if interface else []:
        losses |= device_losses(name, "tx")
        text = output("tc", "-json", "-statistics", "qdisc", "show", "dev", name)
        for queue in json.loads(text or "[]"):
            if queue.get("root"):
                losses[f"transmit queue of {name} (tc -s qdisc)"] = queue["drops"]
    return losses


def device_losses(name, direction):
    folder = NETWORK_DEVICES / name / "statistics"
    counters = {
        f"{direction}_{counter}": number(folder / f"{direction}_{counter}")
        for counter in LOSSES[direction].split()
    }
    return {f"{key} of {name}": n for key, n in counters.items() if n is not None}


def growth(before, after):
    """The counters that have grown, and by how much."""
    return {
        name: value - before.get(name, 0)
        for name, value in after.items()
        if value > before.get(name, 0)
    }
