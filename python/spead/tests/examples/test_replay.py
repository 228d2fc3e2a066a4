# Copyright 2026 The gr-spead authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""replay.py sends captures on, with counters and timestamps that continue."""

import instrument_captures
import numpy as np
import pytest
import replay
import spead2
import spead2.recv
from capture_files import ETHERNET, capture, frame, ip_packets, udp, write_capture
from gnuradio.spead.described_stream import given_stream
from gnuradio.spead.spead_python import _inspector
from gnuradio.spead.suggestion import tried_suggestion
from places import NEEDS_LIBPCAP, eventually
from received_streams import (
    Receiving,
    described_heaps,
    joined,
    packets_by_heap,
    spead2_packets,
)
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
    # one more: the flow graph stops at any moment, and one input may be ahead of others
    replayed_samples(path, tmp_path / "sent.pcap", 4 * once.stats["samples_out"])
    with Receiving(str(tmp_path / "sent.pcap"), **options) as receiving:
        receiving.wait()
    for i in range(receiving.outputs):
        np.testing.assert_array_equal(
            receiving.samples(i)[: 3 * period], np.concatenate(3 * [once.samples(i)])
        )
        assert receiving.tags("timestamp", i) == once.tags("timestamp", i)
        assert all(offset >= 3 * period for offset, _ in receiving.tags("missing", i))
    assert receiving.stats["samples_duplicate"] == 0


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


def items_of(samples, **others):
    """Items for described_heaps()."""
    return {
        "timestamp": (0x1600, {"format": [("u", 40)]}),
        "samples": (0x3300, {"shape": samples.shape[1:], "dtype": samples.dtype}),
    } | others


def sent_once(folder, items, *columns):
    """The samples that spead2 receives after heaps have been sent on, and its items."""
    packets = spead2_packets(described_heaps(items, *columns))
    path = capture(folder / "stream.pcap", joined(packets))
    replay.main([str(path), "--to", str(folder / "sent.pcap")])
    stream, received, items = spead2.recv.Stream(spead2.ThreadPool()), [], {}
    stream.add_udp_pcap_file_reader(str(folder / "sent.pcap"))
    group = spead2.ItemGroup()
    for heap in stream:
        updated = group.update(heap)
        received += [updated["samples"].value] if "samples" in updated else []
        items |= updated
    return np.concatenate(received[: len(columns[1])]), items


@pytest.mark.parametrize("dtype", ["u1", "<u2", ">u2", "<i4", ">f4"])
def test_numbers_of_any_type_are_sent_on(tmp_path, dtype, capsys):
    samples = noise(8000).view(dtype).reshape(10, -1)
    samples = np.nan_to_num(samples).astype(dtype)
    ticks = range(0, samples.size, samples.shape[1])
    sent, _ = sent_once(tmp_path, items_of(samples), ticks, samples)
    np.testing.assert_array_equal(sent, samples.reshape(-1))
    warnings = capsys.readouterr().err
    assert "round" not in warnings
    assert "as bytes" not in warnings


@pytest.mark.parametrize(
    ("dtype", "warning"),
    [
        ("<u4", "floats round 32-bit integers"),
        ("<f8", "64-bit floats are rounded"),
        ("<i8", "as bytes"),
    ],
)
def test_samples_that_change_are_named(tmp_path, dtype, warning, capsys):
    samples = np.arange(1000, dtype=dtype).reshape(10, 100)
    sent_once(tmp_path, items_of(samples), range(0, 1000, 100), samples)
    assert warning in capsys.readouterr().err


@pytest.mark.parametrize(("type", "value"), [("i", -5), ("u", 2**60)])
def test_items_that_do_not_fit_are_left_out(tmp_path, type, value, capsys):
    samples = noise(1000).reshape(10, 100)
    items = items_of(samples, offset=(0x1700, {"format": [(type, 64)]}))
    columns = range(0, 1000, 100), samples, [value] * 10
    sent, received = sent_once(tmp_path, items, *columns)
    np.testing.assert_array_equal(sent, samples.reshape(-1))
    assert "offset" not in received
    assert f"'offset' is left out: {value} does not fit" in capsys.readouterr().err


def test_a_filter_selects_one_of_equal_streams(tmp_path, capsys):
    """Two destinations get packets with the same counters, but other samples."""
    parts = np.split(noise(10_000), 2)
    path = write_capture(
        tmp_path / "stream.pcap",
        [
            frame(ETHERNET, packet)
            for i, part in enumerate(parts)
            for content in joined(packets_by_heap(part))
            for packet in ip_packets(
                udp(content, 5000, 7148), destination=f"10.0.0.{i}"
            )
        ],
    )
    to = str(tmp_path / "sent.pcap")
    replay.main([str(path), "--to", to])
    assert "select one with a filter: ['10.0.0.0:7148', " in capsys.readouterr().err
    replay.main([f"{path}?dst host 10.0.0.1", "--to", to])
    with Receiving(to) as receiving:
        receiving.wait()
    np.testing.assert_array_equal(receiving.samples(), parts[1])
    assert not capsys.readouterr().err


@pytest.mark.parametrize("path", ["127.0.0.1:0", "nothing.pcap"])
def test_other_inputs_are_refused(path, capsys):
    with pytest.raises(SystemExit, match=r"replay.py: .*(capture|No such file)"):
        replay.main([path, "--to", "127.0.0.1:7148"])
