# Copyright 2026 The gr-spead authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""System calls fail: the block continues, or reports the failure and its cause."""

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

# Linux constants that Python lacks, or that vary by Python version
FIONBIO, SIOCGIFINDEX = 0x5421, 0x8933
IP, SOCKET, UDP = 0, 1, 17  # socket option levels
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
RUNS = None  # no error
NO_MONITOR = "cannot detect a lost link: .*(not permitted|libmnl)"


def setsockopt(level, name):
    return "setsockopt", {1: level, 2: name}


def getsockopt(level, name):
    return "getsockopt", {1: level, 2: name}


# The block, its options, the errno, the system calls that fail with it, and the error
# of the constructor, or RUNS and the logged message.
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
        [setsockopt(IP, IP_MTU_DISCOVER)],
        RUNS,
        "path MTU could not be set",
    ),
    (
        "sink",
        {},
        EPERM,
        [setsockopt(IP, IP_RECVERR)],
        RUNS,
        "error reports could not be set",
    ),
    ("sink", {}, EPERM, [getsockopt(IP, IP_MTU)], RUNS),
    ("sink", {}, EPERM, [setsockopt(SOCKET, SO_ZEROCOPY)], RUNS),
    ("sink", {}, EPERM, [setsockopt(SOCKET, SO_SNDBUF)], RUNS),
    (
        *("sink", {"interface": "lo"}, EPERM, [setsockopt(SOCKET, SO_BINDTODEVICE)]),
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
        [setsockopt(IP, IP_MULTICAST_IF)],
        "interface = .*not permitted",
    ),
    (
        "sink",
        GROUP,
        EPERM,
        [setsockopt(IP, IP_MULTICAST_TTL)],
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
    ("source", {}, EPERM, [setsockopt(UDP, UDP_GRO)], RUNS),
    ("source", {}, EPERM, [getsockopt(SOCKET, SO_MEMINFO)], RUNS),
    (
        "source",
        {},
        EPERM,
        [getsockopt(SOCKET, SO_RCVBUF)],
        RUNS,
        "receive buffer to 0 bytes",
    ),
    (
        *("source", {"interface": "lo"}, EPERM, [setsockopt(SOCKET, SO_BINDTOIFINDEX)]),
        'interface = "lo" is invalid.*not permitted',
    ),
    (
        *("source", {"interface": "127.0.0.1"}, EPERM, [NETLINK]),
        "cannot list the interfaces .*not permitted",
    ),
    ("source", GROUP, EPERM, [setsockopt(SOCKET, SO_REUSEADDR)], RUNS),
    ("source", GROUP, EPERM, [setsockopt(IP, IP_MULTICAST_ALL)], RUNS),
    (
        *("source", GROUP, EPERM, [setsockopt(IP, MCAST_JOIN_GROUP)]),
        "cannot join the multicast group: Operation not permitted",
    ),
]

NO_THREAD = (
    r"cannot start, .*: no thread \(Resource temporarily unavailable\).*ulimit -u"
)
# The block, its options, the errno, the system calls, and the message of start().
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

SENDMMSG = ("sendmmsg", {})
# The errno, the system calls, the counter that increases, and the logged message.
WHILE_SENDING = [
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

RECVMSG = ("recvmsg", {})
CANNOT_RECEIVE = "cannot receive on port .*: "
# The errno, the system calls, whether reception stops, and the logged message.
WHILE_RECEIVING = [
    (ENOMEM, [RECVMSG], True, CANNOT_RECEIVE + "Cannot allocate memory"),
    (EPERM, [RECVMSG], True, CANNOT_RECEIVE + "Operation not permitted"),
    (ENOSYS, [RECVMSG, *THREADS], True, CANNOT_RECEIVE + "Function not implemented"),
    (ENOMEM, [*MEMORY, *THREADS, ("getsockopt", {})], False, ""),
]


@pytest.fixture(scope="module")
def stream():
    """The packets of a stream, for a source to receive."""
    return packets()


def call_names(value):
    """The test ID of a list of system calls; None leaves other values to pytest."""
    if isinstance(value, list):
        return "+".join(call for call, _ in value)
    return None


@pytest.mark.parametrize(
    ("block", "options", "errno", "calls", "expected_error", "logged"),
    [(*case, "")[:6] for case in CONSTRUCTION],
    ids=call_names,
)
def test_construction_reports_or_survives_a_failed_call(
    stream, block, options, errno, calls, expected_error, logged
):
    error, log = in_a_process(construct, block, stream, options, refuse, errno, *calls)
    if expected_error:
        assert re.fullmatch(f"spead.{block}: .*{expected_error}.*", error)
    else:
        assert error is None
        assert re.search(logged, log)


@pytest.mark.parametrize(
    ("block", "options", "errno", "calls", "logged"), STARTS, ids=call_names
)
def test_start_logs_or_survives_a_failed_call(block, options, errno, calls, logged):
    _, log = in_a_process(start, block, options, True, refuse, errno, *calls)
    if logged:
        assert re.search(f"spead_{block}.*{logged}", log)
    else:
        assert without_notice(log) == ""


@pytest.mark.parametrize(
    ("errno", "calls", "counter", "logged"), WHILE_SENDING, ids=call_names
)
def test_a_running_sink_counts_or_survives_failed_calls(errno, calls, counter, logged):
    _, log = in_a_process(sink_runs, counter, refuse, errno, *calls)
    assert re.search(logged, log)


@pytest.mark.parametrize(
    ("errno", "calls", "stops", "logged"), WHILE_RECEIVING, ids=call_names
)
def test_a_running_source_logs_or_survives_failed_calls(
    stream, errno, calls, stops, logged
):
    _, log = in_a_process(source_runs, stream, stops, refuse, errno, *calls)
    assert re.search(logged, log)
