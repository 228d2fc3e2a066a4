# Copyright 2026 The gr-spead authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""What the runs of a sweep say: medians, ratios, CPU time per gigabyte, memory."""

from statistics import median


def in_order(values):
    """Each once, in the order of their first appearance."""
    return list(dict.fromkeys(values))


class Summary:
    """Answers questions about runs; None where there is no answer.

    Ratios are taken within a round, where both programs met the machine in the same
    state, and the median is that of the ratios.
    """

    def __init__(self, runs, programs):
        self.runs = runs
        by_role = {program.name: program.role for program in programs}
        seen = {run.program for run in runs}
        self.programs = [name for name in by_role if name in seen]
        self.own = [name for name in self.programs if by_role[name] == "own"]
        self.peers = [name for name in self.programs if by_role[name] == "peer"]
        limits = [name for name in self.programs if by_role[name] == "limit"]
        self.limit = limits[0] if limits else None
        self.bounds = {p.name: p.bound for p in programs if p.bound in seen}
        self.packets = in_order(run.packet for run in runs if not run.rate)
        self.heaps = sorted({run.heap for run in runs if not run.rate})
        self.rated_packets = in_order(run.packet for run in runs if run.rate)
        self.rates = sorted({run.rate for run in runs if run.rate})
        self.rounds = len({run.round for run in runs})

    def select(self, **wanted):
        """The runs that did not fail and have these properties."""
        return [
            run
            for run in self.runs
            if run.mb_per_s is not None
            and all(getattr(run, key) == value for key, value in wanted.items())
        ]

    def speeds(self, program, packet, heap):
        """MB/s by round, as fast as it goes."""
        runs = self.select(program=program, packet=packet, heap=heap, rate=0)
        return {run.round: run.mb_per_s for run in runs}

    def speed(self, program, packet, heap):
        return middle(self.speeds(program, packet, heap).values())

    def ratio(self, program, other, packet, heap):
        ours = self.speeds(program, packet, heap)
        theirs = self.speeds(other, packet, heap)
        return middle(ours[each] / theirs[each] for each in ours if each in theirs)

    def reference(self, program):
        """The name of what bounds a program, or None."""
        return self.bounds.get(program, self.limit)

    def best_peer(self, packet, heap):
        """The name of the peer with the highest median."""
        speeds = {name: self.speed(name, packet, heap) for name in self.peers}
        known = {name: speed for name, speed in speeds.items() if speed}
        return max(known, key=known.get) if known else None

    def flatness(self, program, packet):
        """The slowest heap size as a part of the fastest."""
        speeds = [self.speed(program, packet, heap) for heap in self.heaps]
        known = [speed for speed in speeds if speed]
        return min(known) / max(known) if len(known) > 1 else None

    def spread(self):
        """How much rounds differ: median over the cells of (max - min) / median."""
        spreads = []
        for program in self.programs:
            for packet in self.packets:
                for heap in self.heaps:
                    speeds = self.speeds(program, packet, heap).values()
                    if len(speeds) > 1:
                        spreads.append((max(speeds) - min(speeds)) / median(speeds))
        return middle(spreads)

    def cost(self, program, packet, rate):
        """Seconds of CPU time per gigabyte, and the speed in MB/s that was reached.

        The difference of a long and a short run, without what starting and ending cost.
        """
        runs = self.select(program=program, packet=packet, rate=rate)
        if len({run.heaps for run in runs}) != 2:
            return None
        short, long = min(run.heaps for run in runs), max(run.heaps for run in runs)
        cpu = {
            heaps: median(run.cpu_s for run in runs if run.heaps == heaps)
            for heaps in (short, long)
        }
        gigabytes = (long - short) * runs[0].heap / 1e9
        reached = median(run.mb_per_s for run in runs if run.heaps == long)
        return (cpu[long] - cpu[short]) / gigabytes, reached

    def memory(self, program, heap):
        """Peak resident memory in MiB, the highest of all packet sizes and rounds."""
        runs = self.select(program=program, heap=heap, rate=0)
        return max((run.max_rss_mib for run in runs), default=None)


def middle(values):
    values = list(values)
    return median(values) if values else None


def size_text(size):
    """As 8 KiB."""
    for unit, name in ((1 << 20, "MiB"), (1 << 10, "KiB")):
        if size % unit == 0:
            return f"{size // unit} {name}"
    return f"{size} B"
