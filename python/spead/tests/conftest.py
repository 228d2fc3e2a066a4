# Copyright 2026 The gr-spead authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Fixtures; after every test, the counters must show no pending samples."""

import pytest
from conservation import check_nothing_pending
from receiving import Receiver, bound_socket


@pytest.fixture(autouse=True)
def no_pending_samples():
    yield
    check_nothing_pending()


@pytest.fixture
def sock():
    with bound_socket() as s:
        yield s


@pytest.fixture
def receiver(sock):
    receiver = Receiver(sock)
    yield receiver
    receiver.stream.stop()
