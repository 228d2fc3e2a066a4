# Copyright 2026 The gr-spead authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Whenever a test looks at the counters of a block, they balance.

To import this module is enough: each stats() of a sink or a source is then checked.
"""

import functools
import threading
import weakref

from gnuradio import spead

blocks = weakref.WeakSet()
lasts = weakref.WeakKeyDictionary()  # by block: by arguments: what stats() gave
guard = threading.Lock()  # of these two
# what may become less
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
    gone = stats["samples_sent"] + stats["samples_dropped"]
    assert gone <= stats["samples_in"], stats
    assert gone + stats["samples_pending"] == stats["samples_in"], stats


def check_source(_, stats):
    zeros = stats["samples_missing"] - stats["samples_skipped"]
    assert stats["samples_out"] == stats["samples_received"] + zeros, stats
    assert stats["packets_ignored"] <= stats["packets_received"], stats


def check_growth(before, now):
    """No counter ever becomes less."""
    for name, value in before.items():
        if isinstance(value, dict):
            check_growth(value, now[name])
        else:
            assert name in LEVELS or value <= now[name], (name, before, now)


def checked(stats, check):
    @functools.wraps(stats)
    def of(block, *arguments, **named):
        which = (*arguments, *named.values())
        with guard:
            now = stats(block, *arguments, **named)
            seen = lasts.setdefault(block, {})
            before, seen[which] = seen.get(which, {}), now
        check(block, now)
        check_growth(before, now)
        return now

    return of


def known(initialise):
    @functools.wraps(initialise)
    def of(block, *arguments, **named):
        initialise(block, *arguments, **named)
        with guard:
            blocks.add(block)

    return of


def look_at_all():
    """At the blocks of this process."""
    with guard:
        alive = list(blocks)
    for block in alive:
        block.stats()


def check_nothing_pending():
    """Each sample was sent or dropped, when all flow graphs have ended."""
    with guard:
        alive = [block for block in blocks if isinstance(block, spead.sink)]
    for sink in alive:
        stats = sink.stats()
        assert stats["samples_pending"] == 0, stats


for kind, check in ((spead.sink, check_sink), (spead.source, check_source)):
    kind.__init__ = known(kind.__init__)
    kind.stats = checked(kind.stats, check)
