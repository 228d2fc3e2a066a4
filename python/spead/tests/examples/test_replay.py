# Copyright 2026 The gr-spead authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""replay.py sends captures on, with counters and timestamps that continue."""

import instrument_captures
import numpy as np
import pytest
import replay
import spead2
import spead2.recv
from capture_files import capture
from gnuradio.spead.described_stream import given_stream
from gnuradio.spead.spead_python import _inspector
from gnuradio.spead.suggestion import tried_suggestion
from places import NEEDS_LIBPCAP, eventually
from received_streams import Receiving, joined, packets_by_heap
from streams import noise, wait

pytestmark = NEEDS_LIBPCAP


def replayed_samples(path, to, count):
    """Repeat a capture until so many samples have been sent, to another one."""
    args = replay.parse([str(path), "--to", str(to), "--repeat", "--rate", "1000"])
    graph = replay.Replay(replay.Capture(args.capture), args)
    graph.start()
    eventually(lambda: graph.sink.stats()["samples_sent"] >= count)
    graph.stop()
    wait(graph)


def suggested(path):
    inspector = _inspector(str(path), "")
    inspector.receive(1e9)
    suggestion = tried_suggestion(inspector, str(path))
    return given_stream(str(path), suggestion.arguments()).options


@pytest.mark.parametrize("name", instrument_captures.CAPTURES)
def test_streams_of_instruments_go_on(tmp_path, name):
    """Their source receives each sample of three replays once, without a gap."""
    path = tmp_path / f"{name}.pcap"
    instrument_captures.write_capture(path, name, seconds=5)
    options = suggested(path)
    with Receiving(str(path), **options) as once:
        once.wait()
    period = len(once.samples())
    samples = 3 * once.stats["samples_out"]
    replayed_samples(path, tmp_path / "sent.pcap", samples)
    with Receiving(str(tmp_path / "sent.pcap"), **options) as receiving:
        receiving.wait()
    for i in range(receiving.outputs):
        np.testing.assert_array_equal(
            receiving.samples(i)[: 3 * period], np.concatenate(3 * [once.samples(i)])
        )
        assert receiving.tags("timestamp", i) == once.tags("timestamp", i)
    stats = receiving.stats
    for figure in ("samples_missing", "samples_duplicate", "discontinuities"):
        assert stats[figure] == 0, figure


def test_spead2_receives_a_thousand_replays_once(tmp_path):
    samples = noise(5000)
    packets = packets_by_heap(
        samples, counter=7, first=123_000, extra=[(0x1700, "s", 3)]
    )
    path = capture(tmp_path / "stream.pcap", joined(packets))
    replayed_samples(path, tmp_path / "sent.pcap", 5_000_000)
    stream = spead2.recv.Stream(spead2.ThreadPool())
    stream.add_udp_pcap_file_reader(str(tmp_path / "sent.pcap"))
    items, counters, ticks, received = spead2.ItemGroup(), [], [], []
    for heap in stream:
        if "adc_samples" in items.update(heap):
            counters.append(heap.cnt)
            ticks.append(items["timestamp"].value)
            received.append(items["adc_samples"].value)
            assert items["s"].value == 3
    assert len(set(counters)) == len(counters) >= 5000
    assert ticks == list(range(123_000, 123_000 + 1000 * len(ticks), 1000))
    np.testing.assert_array_equal(
        np.concatenate(received[:5000]), np.concatenate(1000 * [samples])
    )


def test_a_capture_is_sent_once(tmp_path, capsys):
    path = capture(tmp_path / "stream.pcap", joined(packets_by_heap(noise(5000))))
    with Receiving() as receiving:
        to = f"127.0.0.1:{receiving.port}"
        assert replay.main([str(path), "--to", to]) == 0
        receiving.wait()
    assert len(receiving.samples()) == 5000
    assert "5 heaps sent, 0 dropped" in capsys.readouterr().out


@pytest.mark.parametrize("path", ["127.0.0.1:0", "nothing.pcap"])
def test_other_inputs_are_refused(path, capsys):
    with pytest.raises(SystemExit, match=r"replay.py: .*(capture|No such file)"):
        replay.main([path, "--to", "127.0.0.1:7148"])
