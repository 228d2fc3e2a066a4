# Copyright 2026 The gr-spead authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Streams told apart by endpoints or items, and learned from descriptors."""

import numpy as np
import pytest
import spead2
import spead2.send
from gnuradio import spead
from places import eventually
from received_streams import Receiving, joined, spead2_heaps, spead2_packets
from streams import noise, run, source

ITEMS = [spead.timestamp(), spead.samples()]


def items_with(*immediates):
    return [spead.timestamp(), *immediates, spead.samples()]


def two_streams(extra=((), ()), **options):
    """Samples and packets of two streams, heap by heap in turn."""
    samples = [noise(20 * 1000, seed) for seed in (1, 2)]
    heaps = [
        spead2_packets(
            spead2_heaps(own, 1000, extra=items, **options), counter=1 + i, step=2
        )
        for i, (own, items) in enumerate(zip(samples, extra, strict=True))
    ]
    return samples, heaps


def test_an_item_tells_two_outputs_apart():
    pol = 0x3101
    samples, heaps = two_streams(
        ([(pol, "pol", 7)], [(pol, "pol", 9)]), repeat_pointers=True
    )
    with Receiving(
        items=items_with(spead.immediate(pol, "pol", [7, 9])), num_outputs=2
    ) as receiving:
        for packets in zip(*heaps, strict=True):
            receiving.send_packets(joined(packets))
        receiving.wait()
    for i in range(2):
        np.testing.assert_array_equal(receiving.samples(i), samples[i])
        assert receiving.tags("timestamp", i) == [(0, 0)]
        assert receiving.tags("pol", i) == [(0, 7 + 2 * i)]
        assert receiving.source.stats(i)["samples_received"] == len(samples[i])


def test_endpoints_tell_two_outputs_apart():
    samples, heaps = two_streams()
    with Receiving(["127.0.0.1:0", "127.0.0.1:0"], num_outputs=2) as receiving:
        ports = receiving.source.ports()
        for pair in zip(*heaps, strict=True):
            packets = joined(pair)
            receiving.send_packets(
                packets,
                [port for port, own in zip(ports, pair, strict=True) for _ in own],
            )
        receiving.wait()
    for i in range(2):
        np.testing.assert_array_equal(receiving.samples(i), samples[i])


def test_a_stream_that_ends_is_filled_up():
    samples, heaps = two_streams()
    with Receiving(
        ["127.0.0.1:0", "127.0.0.1:0"], num_outputs=2, end_on_stop=False, timeout=2
    ) as receiving:
        ports = receiving.source.ports()
        for packets, port, n in zip(heaps, ports, (5, 20), strict=True):
            some = joined(packets[:n])
            receiving.send_packets(some, [port] * len(some))
        receiving.wait()
    np.testing.assert_array_equal(receiving.samples(1), samples[1])
    np.testing.assert_array_equal(receiving.samples(0)[:5000], samples[0][:5000])
    assert not receiving.samples(0)[5000:].any()
    assert receiving.source.stats(0)["samples_missing"] == 15000
    assert receiving.balanced()


def test_one_stream_on_several_endpoints():
    samples = noise(32 * 1000)
    heaps = spead2_packets(spead2_heaps(samples, 1000))
    with Receiving(",".join(["127.0.0.1:0"] * 8)) as receiving:
        ports = receiving.source.ports()
        for i, packets in enumerate(heaps):
            receiving.send_packets(packets, [ports[i % 8]] * len(packets))
        receiving.wait()
    np.testing.assert_array_equal(receiving.samples(), samples)


def test_descriptors_that_come_late():
    samples = noise(30 * 1000)
    heaps = list(spead2_heaps(samples, 1000, descriptors="none"))
    descriptors = next(iter(spead2_heaps(samples, 1000)))
    with Receiving() as receiving:
        receiving.send_packets(joined(spead2_packets(heaps[:10])))
        # in its own first heap: as a sender that repeats them
        receiving.send_packets(spead2_packets([descriptors], counter=1)[0])
        receiving.send_packets(joined(spead2_packets(heaps[10:], counter=11)))
        receiving.wait()
    np.testing.assert_array_equal(receiving.samples(), samples)


@pytest.mark.parametrize(
    ("heaps", "heap", "options"),
    [
        (400, 2000, {}),
        (40, 4096, {"max_gap": 1000}),
        (13, 65536, {"buffer_size": 262144}),
    ],
)
def test_packets_before_the_descriptors_are_placed_in_their_order(heaps, heap, options):
    """As much as is kept: nothing is lost, and no heap is left incomplete."""
    samples = noise(heaps * heap)
    *packets, end = spead2_packets(spead2_heaps(samples, heap, descriptors="none"))
    *_, descriptors, _ = spead2_heaps(samples[:heap], heap, first=len(samples))
    with Receiving(**options) as receiving:
        receiving.send_packets(joined(packets))
        late = spead2_packets([descriptors], counter=heaps + 1)[0]
        receiving.send_packets(late)
        eventually(lambda: len(receiving.samples()) == len(samples) + heap)
        receiving.send_packets(end)
        receiving.wait()
    expected = np.concatenate([samples, samples[:heap]])
    np.testing.assert_array_equal(receiving.samples(), expected)
    assert receiving.stats["heaps_received"] == heaps + 1
    assert receiving.stats["discontinuities"] == 0


def test_a_sender_that_starts_again_before_the_descriptors():
    """With the same heap counters, and other times."""
    samples = noise(10 * 4096)
    later = 10**9
    before = spead2_packets(spead2_heaps(samples[: 5 * 4096], 4096, descriptors="none"))
    after = spead2_packets(spead2_heaps(samples[5 * 4096 :], 4096, first=later))
    with Receiving(end_on_stop=False, timeout=2) as receiving:
        receiving.send_packets(joined(before))
        receiving.use_other_port()
        receiving.send_packets(joined(after))
        receiving.wait()
    np.testing.assert_array_equal(receiving.samples(), samples)
    assert receiving.tags("timestamp") == [(0, 0), (5 * 4096, later)]


def test_descriptors_in_many_packets_in_any_order():
    samples = noise(4 * 1000)
    extra = [(0x4000 + i, f"item_with_a_long_name_{i}", i) for i in range(20)]
    heaps = spead2_packets(spead2_heaps(samples, 1000, extra=extra), 512)
    assert len(heaps[0]) > 5
    with Receiving() as receiving:
        receiving.send_packets(heaps[0][::-1])
        receiving.send_packets(joined(heaps[1:]))
        receiving.wait()
    np.testing.assert_array_equal(receiving.samples(), samples)
    for i, (_, name, value) in enumerate(extra):
        assert receiving.tags(name) == [(0, value)], i


def test_given_items_need_no_descriptors():
    samples = noise(10 * 1000)
    with Receiving(items=ITEMS) as receiving:
        receiving.send_heaps(spead2_heaps(samples, 1000, descriptors="none"))
        receiving.wait()
    np.testing.assert_array_equal(receiving.samples(), samples)


def test_changes_of_an_item_are_tags():
    samples = noise(10 * 1000)
    values = [5, 5, 6, 6, 6, 5, 5, 5, 5, 7]
    heaps = []
    for i, value in enumerate(values):
        heaps += spead2_packets(
            list(
                spead2_heaps(
                    samples[1000 * i : 1000 * i + 1000],
                    1000,
                    first=1000 * i,
                    extra=[(0x3102, "status", value)],
                )
            )[: 1 if i < 9 else 2],
            counter=i + 1,
        )
    # and two heaps that come in the wrong order
    heaps[3], heaps[4] = heaps[4], heaps[3]
    with Receiving(max_delay=2) as receiving:
        receiving.send_packets(joined(heaps))
        receiving.wait()
    np.testing.assert_array_equal(receiving.samples(), samples)
    assert receiving.tags("status") == [(0, 5), (2000, 6), (5000, 5), (9000, 7)]


def test_items_with_the_names_of_other_tags_are_not_tagged():
    samples = noise(1000)
    names = "rx_time", "missing", "stat\nus", "\x1b[2J"
    extra = [(0x3102 + i, name, 5) for i, name in enumerate(names)]
    with Receiving() as receiving:
        receiving.send_heaps(spead2_heaps(samples, 1000, extra=extra))
        receiving.wait()
    np.testing.assert_array_equal(receiving.samples(), samples)
    assert [key for _, key, _ in receiving.recorder.tags[0]] == ["timestamp"]


def test_names_of_tags_do_not_fill_the_memory():
    """GNU Radio keeps each name for ever, and anybody may send descriptors."""
    at_once = 30
    sets = [[f"set {k}, {i}" for i in range(at_once)] for k in range(9)]
    samples = noise(8)
    sent = 0
    with Receiving(end_on_stop=False) as receiving:

        def is_tagged(names):
            """With values that change from heap to heap."""
            nonlocal sent
            extra = [(0x3101 + i, name, sent) for i, name in enumerate(names)]
            heap = next(spead2_heaps(samples, 8, first=8 * sent, extra=extra))
            receiving.send_packets(spead2_packets([heap], counter=sent + 1)[0])
            sent += 1
            return receiving.tags(names[0])

        for names in sets:
            eventually(lambda names=names: is_tagged(names))
    names = joined(sets)
    assert [name for name in names if receiving.tags(name)] == names[:256]


def test_a_given_item_with_the_name_of_another_tag_is_not_tagged():
    samples = noise(1000)
    extra = [(0x3102, "timestamp ", 5)]
    items = [
        spead.timestamp(name="time"),
        spead.immediate(0x3102, "timestamp", 5),
        spead.samples(),
    ]
    with Receiving(items=items) as receiving:
        receiving.send_heaps(spead2_heaps(samples, 1000, extra=extra))
        receiving.wait()
    assert receiving.tags("timestamp") == [(0, 0)]


@pytest.mark.parametrize("num_inputs", [1, 3])
def test_sink_with_several_inputs(num_inputs):
    samples = [noise(40 * 1000, seed) for seed in range(num_inputs)]
    values = list(range(num_inputs))
    items = items_with(spead.immediate(0x3101, "input", values))
    with Receiving(items=items, num_outputs=num_inputs) as receiving:
        sink = spead.sink(
            f"127.0.0.1:{receiving.port}",
            1000,
            num_inputs=num_inputs,
            items=items,
            rate=50e6,
        )
        from gnuradio import gr
        from streams import wait

        graph = gr.top_block()
        sources = [source(own) for own in samples]
        for i, own in enumerate(sources):
            graph.connect(own, (sink, i))
        graph.start()
        wait(graph)
        receiving.wait()
    for i in range(num_inputs):
        np.testing.assert_array_equal(receiving.samples(i), samples[i])


def test_ticks_that_are_not_samples():
    """Packed samples: 5120 bytes that last 4096 ticks."""
    data = noise(20 * 5120)
    with Receiving(
        heap_samples=5120, timestamp_step=4096, sample_rate=4096, items=ITEMS
    ) as receiving:
        run(
            spead.sink(
                f"127.0.0.1:{receiving.port}",
                5120,
                timestamp_step=4096,
                timestamp_start=8 * 4096,
                rate=50e6,
            ),
            source(data),
        )
        receiving.wait()
    np.testing.assert_array_equal(receiving.samples(), data)
    assert receiving.tags("timestamp") == [(0, 8 * 4096)]
    assert receiving.tags("rx_time") == [(0, (8, 0.0))]


@pytest.mark.parametrize("change", [b"\x52", b"\x53\x05", b"\x53\x04\x03\x06"])
def test_other_datagrams_are_counted(change):
    samples = noise(4 * 1000)
    heaps = spead2_packets(spead2_heaps(samples, 1000))
    wrong = change + heaps[1][0][len(change) :]
    with Receiving() as receiving:
        receiving.send_packets([wrong, *joined(heaps[:2]), b"", wrong[:5], wrong])
        receiving.send_packets(joined(heaps[2:]))
        receiving.wait()
    np.testing.assert_array_equal(receiving.samples(), samples)
    assert sum(receiving.stats["packets_rejected"].values()) == 4


def test_wide_timestamps_are_in_the_payload():
    group = spead2.send.ItemGroup()
    group.add_item(0x1600, "timestamp", "", shape=(), format=[("u", 64)])
    group.add_item(0x3300, "adc_samples", "", shape=(None,), format=[("i", 8)])
    samples = noise(10 * 1000)
    heaps = []
    for i in range(10):
        group["timestamp"].value = 2**50 + 1000 * i
        group["adc_samples"].value = samples[1000 * i : 1000 * i + 1000]
        heaps.append(
            group.get_heap(descriptors="stale" if i == 0 else "none", data="all")
        )
    heaps.append(group.get_end())
    with Receiving() as receiving:
        receiving.send_heaps(heaps)
        receiving.wait()
    np.testing.assert_array_equal(receiving.samples(), samples)
    assert receiving.tags("timestamp") == [(0, 2**50)]
