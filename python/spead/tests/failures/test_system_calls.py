# Copyright 2026 The gr-spead authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""System calls fail: the block continues, or reports the failure and its cause.

send/retry_policy_test.cc tests what follows from each error of sendmmsg().
"""

import re
import socket
from errno import EAGAIN, EMFILE, ENOBUFS, ENOMEM, ENOSPC, EPERM

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
SO_BINDTODEVICE, SO_MEMINFO, SO_ZEROCOPY = 25, 55, 60
SO_BINDTOIFINDEX, UDP_GRO = 62, 104


def setsockopt(level, name):
    return "setsockopt", {1: level, 2: name}


def getsockopt(level, name):
    return "getsockopt", {1: level, 2: name}


SOCKETS, BIND = [("socket", {})], [("bind", {})]
NETLINK = ("socket", {0: socket.AF_NETLINK})
MEMORY = [("mmap", {1: [1 << 20]})]
THREADS = [("clone", {}), ("clone3", {})]
EPOLL = [("epoll_create1", {}), ("epoll_create", {})]
NONBLOCKING = [("ioctl", {1: FIONBIO})]
TIMER, HUGE_PAGES = ("timerfd_create", {}), ("madvise", {})
NAME, ADDRESS = {"interface": "lo"}, {"interface": "127.0.0.1"}
GROUP = {"endpoint": "239.77.0.1:7148", "interface": "lo"}
RUNS = None  # no error
NO_MONITOR = "cannot detect a lost link: .*(not permitted|libmnl)"
NO_INTERFACE = 'interface = "lo" is invalid.*not permitted'
NO_LIST = "cannot list the interfaces .*not permitted"
NO_TTL = "ttl could not be set"
NO_GROUP = "cannot join the multicast group: Operation not permitted"
NO_SOCKET = "cannot open a socket: Too many"

# The options, the errno, the system calls that fail with it, and the error of the
# constructor, or RUNS and the logged message.
SINKS = [
    ({}, EMFILE, SOCKETS, NO_SOCKET),
    ({}, EPERM, [("connect", {})], "no route: Operation not permitted"),
    ({}, ENOMEM, EPOLL, "epoll: Cannot allocate memory"),
    ({}, ENOSPC, [("epoll_ctl", {})], "No space left on device"),
    ({}, ENOMEM, MEMORY, "cannot allocate a packet ring of .* reduce"),
    ({}, ENOMEM, NONBLOCKING, "Cannot allocate memory"),
    ({}, EPERM, [NETLINK], RUNS, NO_MONITOR),
    ({}, EPERM, BIND, RUNS, NO_MONITOR),
    ({}, EPERM, [setsockopt(IP, IP_MTU_DISCOVER)], RUNS, "path MTU could not be set"),
    ({}, EPERM, [setsockopt(IP, IP_RECVERR)], RUNS, "error reports could not be set"),
    ({}, EPERM, [TIMER, HUGE_PAGES, getsockopt(IP, IP_MTU)], RUNS),
    ({}, EPERM, [setsockopt(SOCKET, SO_ZEROCOPY)], RUNS),
    ({}, EPERM, [setsockopt(SOCKET, SO_SNDBUF)], RUNS),
    (NAME, EPERM, [setsockopt(SOCKET, SO_BINDTODEVICE)], NO_INTERFACE),
    (NAME, EPERM, [("ioctl", {1: SIOCGIFINDEX})], 'interface = "lo" is invalid'),
    (ADDRESS, EPERM, [NETLINK], NO_LIST),
    (GROUP, EPERM, [setsockopt(IP, IP_MULTICAST_IF)], "interface = .*not permitted"),
    (GROUP, EPERM, [setsockopt(IP, IP_MULTICAST_TTL)], RUNS, NO_TTL),
]
SOURCES = [
    ({}, EMFILE, SOCKETS, NO_SOCKET),
    ({}, ENOMEM, EPOLL, "epoll: Cannot allocate memory"),
    ({}, ENOSPC, [("epoll_ctl", {})], "No space left on device"),
    ({}, ENOMEM, NONBLOCKING, "Cannot allocate memory"),
    ({}, EPERM, BIND, 'endpoints = "127.0.0.1:0".*not permitted'),
    ({}, EPERM, [("getsockname", {})], "Operation not permitted"),
    ({}, EPERM, [("eventfd2", {}), TIMER, NETLINK], RUNS),
    ({}, EPERM, [setsockopt(UDP, UDP_GRO), getsockopt(SOCKET, SO_MEMINFO)], RUNS),
    ({}, EPERM, [getsockopt(SOCKET, SO_RCVBUF)], RUNS, "receive buffer to 0 bytes"),
    (NAME, EPERM, [setsockopt(SOCKET, SO_BINDTOIFINDEX)], NO_INTERFACE),
    (ADDRESS, EPERM, [NETLINK], NO_LIST),
    (GROUP, EPERM, [setsockopt(SOCKET, SO_REUSEADDR)], RUNS),
    (GROUP, EPERM, [setsockopt(IP, IP_MULTICAST_ALL)], RUNS),
    (GROUP, EPERM, [setsockopt(IP, MCAST_JOIN_GROUP)], NO_GROUP),
]

NO_THREAD = (
    r"cannot start, .*: no thread \(Resource temporarily unavailable\).*ulimit -u"
)
NOT_PINNED = "not pinned to CPU 0"
# The block, its options, the errno, the system calls, and the message of start().
STARTS = [
    ("sink", {}, EAGAIN, THREADS, NO_THREAD),
    ("sink", {"affinity": 0}, EPERM, [("sched_setaffinity", {})], NOT_PINNED),
    ("sink", {}, EPERM, [("prctl", {}), ("sched_setattr", {}), ("sendto", {})], ""),
    ("source", {}, EMFILE, SOCKETS, "cannot start, .*cannot open a socket"),
    ("source", {}, EPERM, BIND, "cannot start, .*: endpoints = "),
    ("source", {}, EPERM, [("prctl", {})], ""),
]

SOCKET_OPTIONS = [("setsockopt", {}), ("getsockopt", {})]
NETLINK_CALLS = [("recvfrom", {}), ("sendto", {}), *SOCKETS]
NOT_SENT = "sending failed: Operation not permitted"
# The errno, the system calls, the counter that increases, and the logged message.
WHILE_SENDING = [
    (EPERM, [("sendmmsg", {}), *MEMORY, *THREADS], "heaps_dropped", NOT_SENT),
    (ENOMEM, [("recvmsg", {}), *SOCKET_OPTIONS], "heaps_sent", ""),
    (ENOBUFS, NETLINK_CALLS, "heaps_sent", ""),
    (ENOMEM, [*MEMORY, *THREADS, HUGE_PAGES], "heaps_sent", ""),
]

NOT_RECEIVED = "cannot receive on port .*: Operation not permitted"
# The errno, the system calls, whether reception stops, and the logged message.
WHILE_RECEIVING = [
    (EPERM, [("recvmsg", {}), *THREADS], True, NOT_RECEIVED),
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
    [("sink", *case, "")[:6] for case in SINKS]
    + [("source", *case, "")[:6] for case in SOURCES],
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
    _, log = in_a_process(start, block, options, refuse, errno, *calls)
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
