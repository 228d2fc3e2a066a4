# Copyright 2026 The gr-spead authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""The port that packets are sent from."""

import pytest
from gnuradio import spead
from possible_options import TO
from receiving import bound_socket, destination
from streams import noise, run, source


def sources(sink, socks):
    run(sink, source(noise(1000)))
    return {sock.recvfrom(65536)[1] for sock in socks}


@pytest.mark.parametrize("receivers", [1, 2])
@pytest.mark.parametrize("interface", ["", "127.0.0.1"])
def test_packets_come_from_the_port(receivers, interface):
    with bound_socket() as free, bound_socket() as one, bound_socket() as other:
        address, port = free.getsockname()
        free.close()
        socks = [one, other][:receivers]
        to = ",".join(map(destination, socks))
        sink = spead.sink(to, 100, source_port=port, interface=interface)
        assert sources(sink, socks) == {(address, port)}


def test_a_port_that_is_taken_is_refused():
    with bound_socket() as taken:
        port = taken.getsockname()[1]
        error = f"spead.sink: source_port = {port} is not possible; .*in use"
        with pytest.raises(ValueError, match=error):
            spead.sink(TO, source_port=port)
