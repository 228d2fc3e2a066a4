# Copyright 2026 The gr-spead authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""A socket and a receiver for tests."""

import pytest
from receiving import Receiver, bound_socket


@pytest.fixture
def sock():
    with bound_socket() as s:
        yield s


@pytest.fixture
def receiver(sock):
    receiver = Receiver(sock)
    yield receiver
    receiver.stream.stop()
