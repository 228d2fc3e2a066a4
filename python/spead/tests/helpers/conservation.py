# Copyright 2026 The gr-spead authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Checks the invariants of the counters whenever a test reads them.

Importing this module wraps stats() of the sink and the source with these checks.
"""

import functools
import threading
import weakref

from gnuradio import spead

live_blocks = weakref.WeakSet()
last_stats = weakref.WeakKeyDictionary()  # block -> arguments -> result of stats()
lock = threading.Lock()  # protects live_blocks and last_stats
# Not counters: these may decrease.
LEVELS = {
    "samples_pending",
    "ring_fill",
    "buffer_fill",
    "gso",
    "gro",
    "zero_copy",
    "status",
}


def check_sink(_, stats):
    done = stats["samples_sent"] + stats["samples_dropped"]
    assert done <= stats["samples_in"], stats
    assert done + stats["samples_pending"] == stats["samples_in"], stats


def check_source(_, stats):
    zeros = stats["samples_missing"] - stats["samples_skipped"]
    assert stats["samples_out"] == stats["samples_received"] + zeros, stats
    assert stats["packets_ignored"] <= stats["packets_received"], stats


def check_monotonic(before, now):
    """No counter ever decreases."""
    for name, value in before.items():
        if isinstance(value, dict):
            check_monotonic(value, now[name])
        else:
            assert name in LEVELS or value <= now[name], (name, before, now)


def with_checks(stats, check):
    @functools.wraps(stats)
    def wrapper(block, *args, **kwargs):
        key = (*args, *kwargs.values())
        with lock:
            now = stats(block, *args, **kwargs)
            previous = last_stats.setdefault(block, {})
            before, previous[key] = previous.get(key, {}), now
        check(block, now)
        check_monotonic(before, now)
        return now

    return wrapper


def with_registration(initialise):
    @functools.wraps(initialise)
    def wrapper(block, *args, **kwargs):
        initialise(block, *args, **kwargs)
        with lock:
            live_blocks.add(block)

    return wrapper


def check_all_blocks():
    """Check the counters of every sink and source in this process."""
    with lock:
        blocks = list(live_blocks)
    for block in blocks:
        block.stats()


def check_nothing_pending():
    """Check that every sample was sent or dropped. All flow graphs must have ended."""
    with lock:
        sinks = [block for block in live_blocks if isinstance(block, spead.sink)]
    for sink in sinks:
        stats = sink.stats()
        assert stats["samples_pending"] == 0, stats


for block_class, check in ((spead.sink, check_sink), (spead.source, check_source)):
    block_class.__init__ = with_registration(block_class.__init__)
    block_class.stats = with_checks(block_class.stats, check)
