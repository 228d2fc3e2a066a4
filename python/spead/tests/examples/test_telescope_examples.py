# Copyright 2026 The gr-spead authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""The examples for MeerKAT's F-engine and correlator."""

from itertools import chain, zip_longest

import meerkat_f_engine
import numpy as np
import pytest
import receive_f_engine
import receive_visibilities
import several_sources
import spead2
import spead2.recv
from capture_files import capture
from common.waterfall import draw
from gnuradio import spead
from inputs import run_all
from places import NEEDS_LIBPCAP
from receiving import arrived, destination
from streams import wait
from telescope_streams import STREAMS


def picture(path):
    """Whether the file is a PNG picture."""
    return path.read_bytes()[:8] == b"\x89PNG\r\n\x1a\n"


def test_the_tone_of_the_f_engine_is_received_in_its_channel(tmp_path):
    path = tmp_path / "spectra.png"
    layout = ["--channels", "64", "--spectra", "32"]
    args = receive_f_engine.parse(["127.0.0.1:0", str(path), *layout])
    receiver = receive_f_engine.Receiver(args)
    receiver.start()
    address = f"127.0.0.1:{receiver.source.ports()[0]}"
    sent = ["--samples", "100000", "--tone", "40", "--sample-rate", "1M"]
    assert meerkat_f_engine.main([address, *layout, *sent]) == 0
    wait(receiver)
    draw(path, pol_0=receiver.pols[0], pol_1=receiver.pols[1])
    assert picture(path)
    assert receiver.source.stats()["samples_missing"] == 0
    for spectra in receiver.pols:
        assert spectra.spectra == 100_000 // 64 // 32 * 32
        power = spectra.power.sum(axis=0)
        assert power.argmax() == 40
        assert power[40] > 10 * np.median(power)


def test_several_sources_join_the_channels_of_an_f_engine(tmp_path):
    """The output begins within the stream, with the same heap in all sources."""
    channels, spectra, heaps = 64, 16, 20
    generator = np.random.default_rng(8)
    shape = (2, heaps * spectra, channels, 2)
    numbers = generator.integers(-128, 128, shape, dtype=np.int8)
    step = 2 * channels * spectra
    layout = ["--channels", "64", "--substreams", "4", "--spectra", "16"]
    endpoints = ["127.0.0.1:0"] * 2
    args = [str(tmp_path / "power"), *endpoints, "--start", str(5 * step), *layout]
    receiver = several_sources.SeveralSources(several_sources.parse(args))
    receiver.start()
    ports = [source.ports()[0] for source in receiver.sources]
    sink = spead.sink(
        [f"127.0.0.1:{port}" for port in np.repeat(ports, 2)],
        input_type="sc8",
        axes="frequency=16/64, time=16, pol=2",
        timestamp_step=step,
        items=[
            spead.timestamp(),
            spead.immediate(0x4103, "frequency", []),
            spead.samples(0x4300),
        ],
    )
    run_all(sink, *numbers.reshape(2, heaps * spectra, -1))
    wait(receiver)
    power = (numbers.astype(np.float32) / 127) ** 2
    power = power.sum(axis=-1).reshape(2, heaps, spectra, channels).sum(axis=2)
    for pol, expected in enumerate(power):
        got = np.fromfile(tmp_path / f"power.{pol}", np.float32).reshape(-1, channels)
        np.testing.assert_allclose(got, expected[5:], rtol=1e-5)


def f_engine_packets(sock, feng_id):
    layout = ["--channels", 64, "--substreams", 4, "--spectra", 16]
    samples = ["--samples", 64 * 16 * 5, "--max-packet-size", 400]
    arguments = [destination(sock), *layout, *samples, "--feng-id", feng_id]
    assert meerkat_f_engine.main(list(map(str, arguments))) == 0
    return list(arrived(sock))


def heaps_of_engines(packets, engines):
    """Samples by engine, time and channel.

    Like an X-engine of katgpucbf, spead2 tells engines apart by their heap counters.
    """
    config = spead2.recv.StreamConfig(substreams=engines, stop_on_stop_item=False)
    stream = spead2.recv.Stream(spead2.ThreadPool(), config)
    stream.add_buffer_reader(b"".join(packets))
    items = spead2.ItemGroup()
    heaps = {}
    for heap in stream:
        if "feng_raw" in items.update(heap):
            names = "feng_id", "timestamp", "frequency"
            key = tuple(int(items[name].value) for name in names)
            assert heap.cnt % engines == key[0] % engines
            heaps[key] = np.array(items["feng_raw"].value)
    return heaps


def test_a_receiver_tells_f_engines_apart(sock):
    """Even if their packets alternate."""
    sent = [f_engine_packets(sock, feng_id) for feng_id in range(2)]
    together = heaps_of_engines(filter(None, chain(*zip_longest(*sent))), engines=2)
    alone = heaps_of_engines(sent[0], 1) | heaps_of_engines(sent[1], 1)
    assert len(together) == 2 * 5 * 4
    np.testing.assert_equal(together, alone)


@NEEDS_LIBPCAP
@pytest.mark.parametrize(
    ("program", "option"),
    [(receive_f_engine, "--spectra"), (receive_visibilities, "--baselines")],
)
def test_the_error_for_another_shape_names_the_options(tmp_path, program, option):
    stream, *_ = STREAMS["four axes"]
    path = capture(tmp_path / "a.pcap", stream.all_packets(stream.packets()))
    message = rf"\(3, 4, 8, 2, 2\) does not match --channels, .* and {option};"
    with pytest.raises(SystemExit, match=message):
        program.main([str(path), str(tmp_path / "picture.png")])


def test_the_phase_of_a_baseline_is_drawn(tmp_path):
    path = tmp_path / "phases.png"
    layout = ["--channels", "16", "--baselines", "3", "--ticks", "100"]
    args = receive_visibilities.parse(
        ["127.0.0.1:0", str(path), *layout, "--baseline", "1"]
    )
    receiver = receive_visibilities.Receiver(args)
    receiver.start()
    phases = np.exp(2j * np.pi * np.arange(16 * 3) / 48)
    visibilities = np.tile(1000 * phases, (5, 1)).astype(np.complex64)
    sink = spead.sink(
        f"127.0.0.1:{receiver.source.ports()[0]}",
        input_type="complex",
        wire_type="i4",
        scale=1,
        items=[
            spead.timestamp(),
            spead.immediate(0x4103, "frequency", []),
            spead.samples(0x1800, "xeng_raw"),
        ],
        axes="frequency=4/16, baseline=3",
        timestamp_step=100,
        heap_address_bits=48,
        tail="drop",
    )
    run_all(sink, visibilities)
    wait(receiver)
    mean = receiver.mean.sum / receiver.mean.count
    np.testing.assert_allclose(mean, 1000 * phases, atol=1)
    assert receiver.mean.count == 5
    receive_visibilities.draw(mean[1::3], "baseline 1", path)
    assert picture(path)
