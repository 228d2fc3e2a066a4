# Copyright 2026 The gr-spead authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""A repeated capture gives its samples again and again, with times that go on."""

import os
import random
from fractions import Fraction

import numpy as np
import pytest
from capture_files import capture
from gnuradio import blocks, gr, spead
from places import NEEDS_LIBPCAP
from received_streams import (
    Receiving,
    Recorder,
    described_heaps,
    joined,
    packets_by_heap,
    spead2_heaps,
    spead2_packets,
)
from streams import noise, wait

pytestmark = NEEDS_LIBPCAP


def recorded(endpoints, items=None, length=1, **options):
    """The samples and tags of each output, up to this number of items."""
    source = spead.source(endpoints, **options)
    outputs = source.output_signature().max_streams()
    recorder = Recorder(options.get("output_type", "int8"), outputs, length)
    graph = gr.top_block()
    for i in range(outputs):
        head = blocks.head(
            source.output_signature().sizeof_stream_item(0), items or 2**62
        )
        graph.connect((source, i), head, (recorder, i))
    graph.start()
    wait(graph)
    return source, recorder


def tags_of_times(recorder, i):
    names = ("timestamp", "missing", "skipped")
    return [tag for tag in recorder.tags[i] if tag[1] in names]


class RandomCapture:
    """A capture with losses, jumps and restarts, and options that receive it."""

    def __init__(self, seed):
        self.random = random.Random(seed)
        self.ratio = self.random.choice([(1, 1), (1, 1), (3, 7), (8, 1)])
        self.outputs = self.random.choice([1, 1, 2])
        self.options = {
            "heap_samples": self.ratio[0],
            "timestamp_step": self.ratio[1],
            "max_gap": 5000,
        }
        if self.outputs == 2:
            self.options |= {"num_outputs": 2}
        elif self.random.random() < 0.3:
            self.options["on_missing"] = "skip"
        self.heap = 3 * self.random.randrange(100, 1000)
        self.drop = self.random.choice([0, 0, 0.02, 0.2])

    def packets(self):
        """The packets of each output with their times."""
        lists = [[] for _ in range(self.outputs)]
        time, tick = 0.0, 7 * self.random.randrange(10**6)
        for _ in range(self.random.randrange(1, 4)):
            samples = [noise(self.heap * self.random.randrange(5, 30))] * self.outputs
            for packets, content in zip(lists, samples, strict=True):
                heaps = list(
                    spead2_heaps(
                        content,
                        self.heap,
                        first=tick,
                        step=self.heap * self.ratio[1] // self.ratio[0],
                        bits=48,
                    )
                )[:-1]
                for i, heap in enumerate(spead2_packets(heaps)):
                    for packet in heap:
                        if self.random.random() >= self.drop or i == 0:
                            packets.append((time + i * 1e-3, packet))
            time += 30.0
            tick = 7 * self.random.randrange(10**6)
        return lists

    def write(self, folder):
        paths = []
        for i, packets in enumerate(self.packets()):
            times, data = zip(*packets, strict=True)
            path = capture(folder / f"{i}.pcap", list(data), times=list(times))
            paths.append(str(path))
        return paths if self.outputs > 1 else paths[0]


def repeated_tags(tags, period, loops, ratio):
    """The tags of a stream, repeated: times go on unless they go back in the stream."""
    expected, added = list(tags), 0
    starts = [(offset, tick) for offset, name, tick in tags if name == "timestamp"]
    assert starts[0][0] == 0
    last_offset, last_tick = starts[-1]
    for loop in range(1, loops):
        begin = loop * period
        tick = last_tick + int((begin - last_offset) * ratio)
        goes_on = tick - starts[0][1] > added
        if goes_on:
            added = tick - starts[0][1]
        for offset, name, value in tags:
            if name == "timestamp":
                if goes_on and offset == 0:
                    continue
                value += added
                last_offset, last_tick = begin + offset, value
            expected.append((begin + offset, name, value))
    return expected


@pytest.mark.parametrize("seed", range(int(os.environ.get("SPEAD_TRUTH_RUNS", "30"))))
def test_samples_and_times_go_on(tmp_path, seed):
    made = RandomCapture(seed)
    endpoints = made.write(tmp_path)
    _, once = recorded(endpoints, **made.options)
    period, loops = len(once.samples()), 4
    count = loops * period - 5
    _, repeated = recorded(endpoints, count, repeat=True, **made.options)
    ratio = Fraction(made.ratio[1], made.ratio[0])
    for i in range(made.outputs):
        np.testing.assert_array_equal(
            repeated.samples(i), np.tile(once.samples(i), loops)[:count]
        )
        expected = repeated_tags(tags_of_times(once, i), period, loops, ratio)
        assert tags_of_times(repeated, i) == [tag for tag in expected if tag[0] < count]


def test_a_flow_graph_that_runs_again_receives_the_same(tmp_path):
    """The silence before a restart is measured in the second run, too."""
    parts = [noise(5000), noise(5000)]
    packets = [joined(packets_by_heap(part)) for part in parts]
    times = [[time + i * 1e-3 for i in range(len(packets[0]))] for time in (0, 30)]
    path = capture(tmp_path / "stream.pcap", joined(packets), times=joined(times))
    with Receiving(str(path)) as receiving:
        receiving.wait()
        receiving.graph.start()
        receiving.wait()
    np.testing.assert_array_equal(receiving.samples(), np.concatenate(2 * parts))


def test_each_replay_has_the_same_room(tmp_path):
    """The first heaps wait for their descriptors, and are later than those behind them,
    by about as much as the buffer holds."""
    parts = [
        joined(
            packets_by_heap(noise(600), 120, first=844_175, descriptors="none")[:-1]
        ),
        joined(packets_by_heap(noise(54_000), 3000, first=163_878)),
        joined(packets_by_heap(noise(25_200), 1200, first=666_616)),
    ]
    times = [40 * i + j * 1e-3 for i in range(3) for j in range(len(parts[i]))]
    path = capture(tmp_path / "stream.pcap", joined(parts), times=times)
    _, once = recorded(str(path), max_gap=10**6)
    period, loops = len(once.samples()), 8
    _, repeated = recorded(str(path), loops * period, max_gap=10**6, repeat=True)
    np.testing.assert_array_equal(
        repeated.samples(), np.concatenate(loops * [once.samples()])
    )


def test_a_thousand_replays(tmp_path):
    """No sample is missing, late or a duplicate; values of items are as recorded."""
    samples = noise(3000)
    packets = joined(packets_by_heap(samples, first=700, extra=[(0x1700, "state", 5)]))
    path = capture(tmp_path / "stream.pcap", packets)
    replay, recorder = recorded(
        str(path), 3_000_000, repeat=True, sample_rate=1000, sync_time="1"
    )
    np.testing.assert_array_equal(recorder.samples(), np.tile(samples, 1000))
    tags = [tag for tag in recorder.tags[0] if tag[1] != "state"]
    assert tags == [(0, "timestamp", 700), (0, "rx_time", (1, 0.7))]
    assert {tag[2] for tag in recorder.tags[0] if tag[1] == "state"} == {5}
    stats = replay.stats()
    for name in ("samples_duplicate", "samples_late", "discontinuities"):
        assert stats[name] == 0, name


def test_vectors_are_repeated(tmp_path):
    samples = noise(10 * 6 * 4).reshape(10, 6, 4)
    items = {
        "timestamp": (0x1600, {"format": [("u", 40)]}),
        "samples": (0x3300, {"shape": (6, 4), "dtype": np.int8}),
    }
    heaps = described_heaps(items, range(0, 120, 12), samples)
    path = capture(tmp_path / "stream.pcap", joined(spead2_packets(heaps)))
    options = {"axes": "time=6, channel=4", "timestamp_step": 12}
    _, recorder = recorded(str(path), 150, length=4, repeat=True, **options)
    np.testing.assert_array_equal(
        recorder.samples().reshape(-1, 4), np.tile(samples.reshape(-1, 4), (3, 1))[:150]
    )
    assert recorder.tags[0] == [(0, "timestamp", 0)]


def check_repeated(path, loops=3, **options):
    """Each replay gives the samples of a single one."""
    _, once = recorded(str(path), **options)
    samples = once.samples()
    _, repeated = recorded(str(path), loops * len(samples), repeat=True, **options)
    np.testing.assert_array_equal(repeated.samples(), np.tile(samples, loops))
    return samples


def test_heaps_before_their_descriptors_are_not_of_the_last_format(tmp_path):
    narrow, wide = noise(10_000), noise(20_000).view(np.int16)
    heaps = list(spead2_heaps(narrow, 1000, descriptors="none"))[:-1]
    heaps[3] = list(spead2_heaps(narrow, 1000, descriptors="every"))[3]
    packets = spead2_packets(heaps + list(spead2_heaps(wide, 1000, first=10_000)))
    path = capture(tmp_path / "stream.pcap", joined(packets))
    np.testing.assert_array_equal(
        check_repeated(path, output_type="int16"), np.concatenate([narrow, wide])
    )


def test_an_end_within_a_short_capture_is_noticed_in_each_replay(tmp_path):
    """Heaps of earlier times follow: its sender has restarted."""
    parts = np.split(noise(10_000), 2)
    packets = packets_by_heap(parts[0], counter=20, first=10**6)
    packets += packets_by_heap(parts[1])[:-1]
    path = capture(tmp_path / "stream.pcap", joined(packets))
    np.testing.assert_array_equal(check_repeated(path), np.concatenate(parts))


def test_the_time_of_many_long_replays_does_not_overflow(tmp_path):
    """The clock of the recording host was wrong before a sender restarted."""
    parts = np.split(noise(2000), 2)
    packets = [packets_by_heap(part)[0] for part in parts]
    years = [0] * len(packets[0]) + [40] * len(packets[1])
    times = [(year - 40) * 365.25 * 86400 for year in years]
    path = capture(tmp_path / "stream.pcap", joined(packets), times=times)
    np.testing.assert_array_equal(check_repeated(path, loops=20), np.concatenate(parts))


def test_a_capture_without_samples_ends(tmp_path):
    path = capture(tmp_path / "stream.pcap", [b"no SPEAD"] * 3)
    replay, recorder = recorded(str(path), repeat=True)
    assert not len(recorder.samples())
    assert "magic" in str(replay.stats()["packets_rejected"])


def test_a_capture_that_vanishes_ends_the_replay(tmp_path, capfd):
    path = capture(tmp_path / "stream.pcap", joined(packets_by_heap(noise(3000))))
    with Receiving(str(path), repeat=True) as receiving:
        receiving.wait_for_samples(10_000)
        path.unlink()
        receiving.wait()
    assert "cannot be repeated" in capfd.readouterr().out


def test_a_pipe_is_refused(tmp_path):
    os.mkfifo(tmp_path / "pipe")
    with pytest.raises(ValueError, match=r"repeat = True.*named pipe"):
        spead.source(str(tmp_path / "pipe"), repeat=True)
