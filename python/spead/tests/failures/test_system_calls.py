# Copyright 2026 The gr-spead authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Each system call that a block uses fails: it goes on, or says which call and why."""

import re
import socket
from errno import (
    EAGAIN,
    EINVAL,
    EMFILE,
    ENOBUFS,
    ENOMEM,
    ENOSPC,
    ENOSYS,
    EPERM,
)

import pytest
from places import without_notice
from refusals import (
    construct,
    in_a_process,
    packets,
    refuse,
    sink_runs,
    source_runs,
    start,
)

# of Linux
FIONBIO, SIOCGIFINDEX = 0x5421, 0x8933
IP, SOCKET, UDP = 0, 1, 17  # levels of options
IP_MTU_DISCOVER, IP_RECVERR, IP_MTU = 10, 11, 14
IP_MULTICAST_IF, IP_MULTICAST_TTL = 32, 33
MCAST_JOIN_GROUP, IP_MULTICAST_ALL = 42, 49
SO_REUSEADDR, SO_SNDBUF, SO_RCVBUF = 2, 7, 8
SO_BINDTODEVICE, SO_ATTACH_FILTER, SO_MEMINFO, SO_ZEROCOPY = 25, 26, 55, 60
SO_BINDTOIFINDEX, UDP_GRO = 62, 104

NETLINK = ("socket", {0: socket.AF_NETLINK})
MEMORY = [("mmap", {1: [1 << 20]})]
THREADS = [("clone", {}), ("clone3", {})]
EPOLL = [("epoll_create1", {}), ("epoll_create", {})]
GROUP = {"to": "239.77.0.1:7148", "interface": "lo"}
RUNS = None
NO_MONITOR = "cannot detect a lost link: .*(not permitted|libmnl)"


def option(level, name, call="setsockopt"):
    return call, {1: level, 2: name}


def get(level, name):
    return option(level, name, "getsockopt")


# block, its options, the error, the calls that it ends, and the error that the block
# gives, or RUNS, and what the log says then
CONSTRUCTION = [
    ("sink", {}, EMFILE, [("socket", {})], "cannot open a socket: Too many"),
    ("sink", {}, EPERM, [("connect", {})], "no route: Operation not permitted"),
    ("sink", {}, ENOMEM, [("eventfd2", {})], "eventfd: Cannot allocate memory"),
    ("sink", {}, ENOMEM, EPOLL, "epoll: Cannot allocate memory"),
    ("sink", {}, ENOSPC, [("epoll_ctl", {})], "No space left on device"),
    ("sink", {}, EMFILE, [("timerfd_create", {})], RUNS),
    ("sink", {}, ENOMEM, MEMORY, "cannot allocate a packet ring of .* reduce"),
    ("sink", {}, EINVAL, [("madvise", {})], RUNS),
    ("sink", {}, ENOMEM, [("ioctl", {1: FIONBIO})], "Cannot allocate memory"),
    ("sink", {}, EPERM, [NETLINK], RUNS, NO_MONITOR),
    ("sink", {}, EPERM, [("bind", {})], RUNS, NO_MONITOR),
    ("sink", {}, EPERM, [("getsockname", {})], RUNS, NO_MONITOR),
    (
        "sink",
        {},
        EPERM,
        [option(IP, IP_MTU_DISCOVER)],
        RUNS,
        "path MTU could not be set",
    ),
    (
        "sink",
        {},
        EPERM,
        [option(IP, IP_RECVERR)],
        RUNS,
        "error reports could not be set",
    ),
    ("sink", {}, EPERM, [get(IP, IP_MTU)], RUNS),
    ("sink", {}, EPERM, [option(SOCKET, SO_ZEROCOPY)], RUNS),
    ("sink", {}, EPERM, [option(SOCKET, SO_SNDBUF)], RUNS),
    (
        *("sink", {"interface": "lo"}, EPERM, [option(SOCKET, SO_BINDTODEVICE)]),
        'interface = "lo" is invalid.*not permitted',
    ),
    (
        *("sink", {"interface": "lo"}, EPERM, [("ioctl", {1: SIOCGIFINDEX})]),
        'interface = "lo" is invalid',
    ),
    (
        *("sink", {"interface": "127.0.0.1"}, EPERM, [NETLINK]),
        "cannot list the interfaces .*not permitted",
    ),
    (
        "sink",
        GROUP,
        EPERM,
        [option(IP, IP_MULTICAST_IF)],
        "interface = .*not permitted",
    ),
    (
        "sink",
        GROUP,
        EPERM,
        [option(IP, IP_MULTICAST_TTL)],
        RUNS,
        "ttl could not be set",
    ),
    (
        "source",
        {},
        EMFILE,
        [("socket", {})],
        "cannot open a socket: Too many",
    ),
    ("source", {}, ENOMEM, [("eventfd2", {})], RUNS),
    ("source", {}, ENOMEM, EPOLL, "epoll: Cannot allocate memory"),
    ("source", {}, ENOSPC, [("epoll_ctl", {})], "No space left on device"),
    ("source", {}, EMFILE, [("timerfd_create", {})], RUNS),
    ("source", {}, ENOMEM, [("ioctl", {1: FIONBIO})], "Cannot allocate memory"),
    ("source", {}, EPERM, [NETLINK], RUNS),
    ("source", {}, EPERM, [("bind", {})], 'endpoints = "127.0.0.1:0".*not permitted'),
    ("source", {}, EPERM, [("getsockname", {})], "Operation not permitted"),
    ("source", {}, EPERM, [option(UDP, UDP_GRO)], RUNS),
    ("source", {}, EPERM, [get(SOCKET, SO_MEMINFO)], RUNS),
    (
        "source",
        {},
        EPERM,
        [get(SOCKET, SO_RCVBUF)],
        RUNS,
        "receive buffer to 0 bytes",
    ),
    (
        *("source", {"interface": "lo"}, EPERM, [option(SOCKET, SO_BINDTOIFINDEX)]),
        'interface = "lo" is invalid.*not permitted',
    ),
    (
        *("source", {"interface": "127.0.0.1"}, EPERM, [NETLINK]),
        "cannot list the interfaces .*not permitted",
    ),
    ("source", GROUP, EPERM, [option(SOCKET, SO_REUSEADDR)], RUNS),
    ("source", GROUP, EPERM, [option(IP, IP_MULTICAST_ALL)], RUNS),
    (
        *("source", GROUP, EPERM, [option(IP, MCAST_JOIN_GROUP)]),
        "cannot join the multicast group: Operation not permitted",
    ),
]

# the same at a start, of which the log tells
NO_THREAD = (
    r"cannot start, .*: no thread \(Resource temporarily unavailable\).*ulimit -u"
)
STARTS = [
    ("sink", {}, EAGAIN, THREADS, NO_THREAD),
    (
        "sink",
        {"affinity": 0},
        EPERM,
        [("sched_setaffinity", {})],
        "not pinned to CPU 0",
    ),
    ("sink", {}, EPERM, [("prctl", {}), ("sched_setattr", {})], ""),
    ("sink", {}, ENOBUFS, [("sendto", {})], ""),
    (
        "source",
        {},
        EMFILE,
        [("socket", {})],
        "cannot start, .*cannot open a socket",
    ),
    ("source", {}, EPERM, [("bind", {})], "cannot start, .*: endpoints = "),
    ("source", {}, EPERM, [("prctl", {})], ""),
]

# the error and the calls, what grows then, and what the log says
SENDMMSG = ("sendmmsg", {})
WHILE_IT_SENDS = [
    (EPERM, [SENDMMSG], "heaps_dropped", "sending failed: Operation not permitted"),
    (ENOSYS, [SENDMMSG], "heaps_dropped", "sending failed: Function not implemented"),
    (EINVAL, [SENDMMSG], "heaps_dropped", "sending failed: Invalid argument"),
    (ENOMEM, [SENDMMSG], "heaps_dropped", "sending failed: Cannot allocate memory"),
    (ENOBUFS, [SENDMMSG], "heaps_dropped", "sending failed: No buffer space"),
    (EAGAIN, [SENDMMSG], "EAGAIN", ""),
    (EPERM, [SENDMMSG, *THREADS], "heaps_dropped", "sending failed: Operation not"),
    (EPERM, [SENDMMSG, *MEMORY], "heaps_dropped", "sending failed: Operation not"),
    (
        ENOMEM,
        [("recvmsg", {}), ("setsockopt", {}), ("getsockopt", {})],
        "heaps_sent",
        "",
    ),
    (ENOBUFS, [("recvfrom", {}), ("sendto", {}), ("socket", {})], "heaps_sent", ""),
    (ENOMEM, [*MEMORY, *THREADS, ("madvise", {})], "heaps_sent", ""),
]

# the error and the calls, whether nothing is received then, and what the log says
RECVMSG = ("recvmsg", {})
CANNOT_RECEIVE = "cannot receive on port .*: "
WHILE_IT_RECEIVES = [
    (ENOMEM, [RECVMSG], True, CANNOT_RECEIVE + "Cannot allocate memory"),
    (EPERM, [RECVMSG], True, CANNOT_RECEIVE + "Operation not permitted"),
    (ENOSYS, [RECVMSG, *THREADS], True, CANNOT_RECEIVE + "Function not implemented"),
    (ENOMEM, [*MEMORY, *THREADS, ("getsockopt", {})], False, ""),
]


@pytest.fixture(scope="module")
def stream():
    return packets()


def name(value):
    if isinstance(value, list):
        return "+".join(call for call, _ in value)
    return None


@pytest.mark.parametrize(
    ("block", "options", "error", "calls", "said", "logged"),
    [(*case, "")[:6] for case in CONSTRUCTION],
    ids=name,
)
def test_construction(stream, block, options, error, calls, said, logged):
    refusal, log = in_a_process(
        construct, block, stream, options, refuse, error, *calls
    )
    if said:
        assert re.fullmatch(f"spead.{block}: .*{said}.*", refusal)
    else:
        assert refusal is None
        assert re.search(logged, log)


@pytest.mark.parametrize(
    ("block", "options", "error", "calls", "logged"), STARTS, ids=name
)
def test_start(block, options, error, calls, logged):
    _, log = in_a_process(start, block, options, True, refuse, error, *calls)
    if logged:
        assert re.search(f"spead_{block}.*{logged}", log)
    else:
        assert without_notice(log) == ""


@pytest.mark.parametrize(
    ("error", "calls", "grows", "logged"), WHILE_IT_SENDS, ids=name
)
def test_a_sink_that_runs(error, calls, grows, logged):
    _, log = in_a_process(sink_runs, grows, refuse, error, *calls)
    assert re.search(logged, log)


@pytest.mark.parametrize(
    ("error", "calls", "is_deaf", "logged"), WHILE_IT_RECEIVES, ids=name
)
def test_a_source_that_runs(stream, error, calls, is_deaf, logged):
    _, log = in_a_process(source_runs, stream, is_deaf, refuse, error, *calls)
    assert re.search(logged, log)
