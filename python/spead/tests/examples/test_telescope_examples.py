# Copyright 2026 The gr-spead authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""The examples for MeerKAT's F-engine and correlator."""

import correlator_products
import meerkat_channelised
import meerkat_f_engine
import numpy as np
from gnuradio import spead
from inputs import run_all
from streams import wait


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
