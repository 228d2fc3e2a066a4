# Copyright 2026 The gr-spead authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""The examples for MeerKAT's F-engine and correlator."""

from itertools import chain, zip_longest

import correlator_products
import meerkat_channelised
import meerkat_f_engine
import numpy as np
import pytest
import spead2
import spead2.recv
import spead_packet
from capture_files import capture
from gnuradio import spead
from inputs import run_all
from place_callback import CALLBACK, low_level_callable
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
    args = meerkat_channelised.parse(["127.0.0.1:0", str(path), *layout])
    receiver = meerkat_channelised.Receiver(args)
    receiver.start()
    to = f"127.0.0.1:{receiver.source.ports()[0]}"
    sent = ["--samples", "100000", "--tone", "40", "--sample-rate", "1M"]
    assert meerkat_f_engine.main([to, *layout, *sent]) == 0
    wait(receiver)
    meerkat_channelised.draw(receiver.pols, path)
    assert picture(path)
    assert receiver.source.stats()["samples_missing"] == 0
    for spectra in receiver.pols:
        assert spectra.spectra == 100_000 // 64 // 32 * 32
        power = spectra.power.sum(axis=0)
        assert power.argmax() == 40
        assert power[40] > 10 * np.median(power)


ENGINES, TIMES, PARTS, CHANNELS, SPECTRA = 2, 5, 4, 64, 16
HEAP_BYTES = CHANNELS // PARTS * SPECTRA * 4
HEAP_TICKS = 2 * CHANNELS * SPECTRA


def f_engine_packets(sock, feng_id):
    layout = ["--channels", CHANNELS, "--substreams", PARTS, "--spectra", SPECTRA]
    samples = ["--samples", CHANNELS * SPECTRA * TIMES, "--max-packet-size", 400]
    arguments = [destination(sock), *layout, *samples, "--feng-id", feng_id]
    assert meerkat_f_engine.main(list(map(str, arguments))) == 0
    return list(arrived(sock))


@CALLBACK
def place(data, _):
    """Places a heap as the X-engine of katgpucbf does, which ignores other heaps."""
    timestamp, feng_id, channel, length = data[0].items[0:4]
    if length == HEAP_BYTES and timestamp >= 0 and feng_id >= 0:
        part = channel // (CHANNELS // PARTS)
        index = (timestamp // HEAP_TICKS * PARTS + part) * ENGINES + feng_id
        data[0].chunk_id = 0
        data[0].heap_index = index
        data[0].heap_offset = index * HEAP_BYTES


def placed_heaps(packets):
    """The heaps of one chunk, and which of them are complete."""
    heaps = TIMES * PARTS * ENGINES
    ring = spead2.recv.ChunkRingbuffer(1)
    stream = spead2.recv.ChunkRingStream(
        spead2.ThreadPool(),
        spead2.recv.StreamConfig(substreams=ENGINES, stop_on_stop_item=False),
        spead2.recv.ChunkStreamConfig(
            items=[0x1600, 0x4101, 0x4103, spead2.HEAP_LENGTH_ID],
            max_chunks=1,
            place=low_level_callable(place),
        ),
        ring,
        spead2.recv.ChunkRingbuffer(1),
    )
    stream.add_free_chunk(
        spead2.recv.Chunk(
            data=np.zeros(heaps * HEAP_BYTES, np.uint8),
            present=np.zeros(heaps, np.uint8),
        )
    )
    stream.add_buffer_reader(b"".join(packets))
    (chunk,) = ring
    shape = TIMES * PARTS, ENGINES
    return np.array(chunk.data).reshape(*shape, -1), chunk.present.reshape(shape)


def test_a_receiver_tells_f_engines_apart(sock):
    """Even if their packets alternate."""
    sent = [f_engine_packets(sock, feng_id) for feng_id in range(ENGINES)]
    heaps, present = placed_heaps(filter(None, chain(*zip_longest(*sent))))
    assert present.all()
    for feng_id, packets in enumerate(sent):
        alone, _ = placed_heaps(packets)
        np.testing.assert_array_equal(heaps[:, feng_id], alone[:, feng_id])
    counters = [
        {spead_packet.parse(p).items[0].value for p in engine} for engine in sent
    ]
    assert not counters[0] & counters[1]


@NEEDS_LIBPCAP
@pytest.mark.parametrize(
    ("program", "option"),
    [(meerkat_channelised, "--spectra"), (correlator_products, "--baselines")],
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
    args = correlator_products.parse(
        ["127.0.0.1:0", str(path), *layout, "--baseline", "1"]
    )
    receiver = correlator_products.Receiver(args)
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
    correlator_products.draw(mean[1::3], "baseline 1", path)
    assert picture(path)
