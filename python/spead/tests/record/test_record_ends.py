# Copyright 2026 The gr-spead authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""However a recording ends, its file holds what the program says."""

import itertools
import os
import re
import resource
import signal
import socket
import subprocess
import sys
from contextlib import contextmanager

import h5py
import numpy as np
import pytest
from capture_files import capture
from crafted_packets import data_heap, immediate
from gnuradio.spead import record_program
from places import BOUND, NAMESPACES, NEEDS_LIBPCAP, eventually
from recorded_files import PROGRAM, read_h5, read_sigmf, record, recording
from streams import Running, noise

NOISE = noise(100_000)  # repeats
OPTIONS = "--options", "items=[spead.timestamp(), spead.samples()]"
MB = 1_000_000
HEAP = 512


def check(path):
    """Check each row against the stream; returns the number of rows."""
    samples, ticks, is_missing = read_h5(path)
    expected = NOISE[ticks % len(NOISE)]
    np.testing.assert_array_equal(samples, np.where(is_missing, 0, expected))
    return len(samples)


def rows_in(path):
    try:
        with h5py.File(path, "r", swmr=True) as file:
            return len(file["output0"])
    except OSError:  # it is being created
        return 0


@contextmanager
def started(path, *options, **process_options):
    """Run the program; yields its process and the endpoint at which it listens."""
    command = [sys.executable, PROGRAM, "127.0.0.1:0", "-o", path, *OPTIONS]
    with subprocess.Popen(
        [*command, *options],
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        **process_options,
    ) as process:
        try:
            destination = process.stdout.readline().removeprefix("listening on ")
            yield process, destination.strip()
        finally:
            process.kill()


def imperfect_heaps():
    """The datagrams of an endless stream, of which some are lost, with an item."""
    for i in itertools.count():
        if i % 23 != 7:
            samples = np.take(NOISE, range(i * HEAP, (i + 1) * HEAP), mode="wrap")
            state = immediate(0x3101, i // 3)
            yield data_heap(i, i * HEAP, samples, more=[state])


@pytest.mark.parametrize("flushes", [1, 2])
def test_a_killed_recording_is_readable_up_to_the_last_flush(tmp_path, flushes):
    path = tmp_path / "night.h5"
    items = "items=[spead.timestamp(), spead.immediate(0x3101, 'state'),"
    options = "--options", f"{items} spead.samples()]"
    heaps = imperfect_heaps()
    rows = 0
    with (
        started(path, *options) as (process, destination),
        socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as sender,
    ):
        host, port = destination.split(":")
        for _ in range(flushes):
            before = rows
            while rows == before:
                for datagram in itertools.islice(heaps, 5):
                    sender.sendto(datagram, (host, int(port)))
                rows = rows_in(path)
        process.kill()
    assert check(path) >= rows > 0
    with h5py.File(path, "r", swmr=True) as file:
        row, value = (file["items"][name].astype(int) for name in ("row", "value"))
        assert len(file["missing"]) > 0
    _, ticks, is_missing = read_h5(path)
    last = value[np.searchsorted(row, np.arange(len(ticks)), "right") - 1]
    heap = ticks // HEAP
    np.testing.assert_array_equal(last[~is_missing], (heap // 3)[~is_missing])


def test_a_killed_recording_in_sigmf_is_readable_up_to_the_last_flush(tmp_path):
    path = tmp_path / "night.sigmf-meta"
    with (
        started(path) as (process, destination),
        Running(destination, rate=2e6),
    ):
        eventually(lambda: path.exists() and read_sigmf(path)[0].size > 0)
        process.kill()
    samples, (capture,), is_missing = read_sigmf(path)
    ticks = capture["spead:tick"] + np.arange(len(samples))
    expected = np.where(is_missing, 0, NOISE[ticks % len(NOISE)])
    np.testing.assert_array_equal(samples, expected)


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
def test_a_signal_completes_the_file(tmp_path, number):
    path = tmp_path / "night.h5"
    with (
        started(path) as (process, destination),
        Running(destination, rate=2e6),
    ):
        eventually(lambda: rows_in(path) > 0)
        process.send_signal(number)
        printed, _ = process.communicate(timeout=BOUND)
    assert process.returncode == 0
    h5py.File(path, "r").close()  # not only in SWMR mode
    assert check(path) == int(re.match("[0-9,]+", printed)[0].replace(",", ""))


def ended(printed):
    """Rows that were written, and samples that were not."""
    written = re.search(r"([\d,]+) samples written", printed)[1]
    more = re.search(r"([\d,]+) more samples arrived", printed)[1]
    return int(written.replace(",", "")), int(more.replace(",", ""))


@pytest.mark.skipif(not NAMESPACES, reason="needs root, to mount a small file system")
def test_a_full_disk_completes_the_file(tmp_path):
    folder, path = tmp_path / "disk", tmp_path / "night.h5"
    folder.mkdir()
    script = (
        f"mount -t tmpfs -o size=22m tmpfs {folder};"
        ' "$@" -o disk/night.h5; status=$?; cp disk/night.h5 night.h5; exit $status'
    )
    command = ["unshare", "--mount", "bash", "-c", script, "bash"]
    command += [sys.executable, PROGRAM, "127.0.0.1:0", *OPTIONS]
    with subprocess.Popen(
        command,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        cwd=tmp_path,
    ) as process:
        destination = process.stdout.readline().removeprefix("listening on ")
        with Running(destination.strip(), rate=5e6):
            printed, _ = process.communicate(timeout=BOUND)
    assert process.returncode == 1
    assert "No space left on device" in printed
    h5py.File(path, "r").close()
    written, more = ended(printed)
    assert check(path) == written > MB
    assert more > 0


def test_an_error_of_the_disk_keeps_what_was_flushed(tmp_path):
    path = tmp_path / "night.h5"

    def limit_files():
        resource.setrlimit(resource.RLIMIT_FSIZE, (6 * MB, 6 * MB))

    with (
        started(path, preexec_fn=limit_files) as (process, destination),
        Running(destination, rate=2e6),
    ):
        printed, _ = process.communicate(timeout=BOUND)
    assert process.returncode == 1
    assert "File too large" in printed
    written, more = ended(printed)
    assert check(path) == written > 0
    assert more > 0


def test_a_given_number_of_samples_is_recorded(tmp_path):
    path = tmp_path / "night.h5"
    options = "--samples", "12345", "--start", "1000000"
    with (
        recording(path, *OPTIONS, *options) as program,
        Running(program.destination, rate=2e6),
    ):
        assert program.stdout.read().startswith("12,345 samples written; ")
    assert check(path) == 12345
    _, ticks, _ = read_h5(path)
    assert ticks[0] == 1_000_000


def test_without_h5py_the_error_names_the_package(tmp_path):
    code = (
        "import sys; sys.modules['h5py'] = None\n"
        "from gnuradio.spead.record_program import main\n"
        "sys.exit(main(['127.0.0.1:0', '-o', 'night.h5']))"
    )
    program = subprocess.run(
        [sys.executable, "-c", code],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=False,
        timeout=BOUND,
    )
    assert program.returncode == 1
    assert "apt install python3-h5py" in program.stderr
    assert not os.listdir(tmp_path)


def test_a_file_is_never_overwritten(tmp_path):
    path = tmp_path / "night.h5"
    path.write_text("precious")
    with pytest.raises(SystemExit, match=f"{path} exists"):
        record_program.main(["127.0.0.1:0", "-o", str(path)])
    assert path.read_text() == "precious"


def test_descriptors_that_are_sent_once_suffice(tmp_path):
    path = tmp_path / "night.h5"
    with (
        recording(path, "--samples", "12345") as program,
        Running(
            program.destination, np.tile(NOISE, 400), rate=5e6, descriptor_interval=0
        ),
    ):
        assert "12,345 samples written; 0 samples missing" in program.stdout.read()
    assert check(path) == 12345


@NEEDS_LIBPCAP
def test_what_is_said_to_be_missing_is_that_of_the_file(tmp_path, capsys):
    times = 0, 3, 5, 6, 10**6, 10**6 + 1  # in heaps; two losses and a discontinuity
    heaps = [
        data_heap(i, HEAP * time, NOISE[:HEAP], more=[immediate(0x3101, i)])
        for i, time in enumerate(times)
    ]
    capture(tmp_path / "a.pcap", heaps)

    def said(samples):
        path = tmp_path / f"{samples}.h5"
        assert record(tmp_path / "a.pcap", path, *OPTIONS, "--samples", samples) == 0
        return capsys.readouterr().out

    assert "700 samples written; 188 samples missing, 0 disc" in said(700)
    assert "2,600 samples written; 1,536 samples missing, 0 disc" in said(5 * HEAP + 40)
    assert "3,600 samples written; 1,536 samples missing, 1 disc" in said(3600)


@pytest.mark.parametrize(
    ("option", "allowed"),
    [
        ("output_type='sc9'", 'output_type = "sc9" is invalid'),
        ("heap_samples=0", "heap_samples = 0 is invalid"),
        ("timestamp_step=2.5", "timestamp_step = 2.5 is invalid"),
        ("wire_type=5", "wire_type = 5 is invalid"),
        ("sample_rate='x'", "sample_rate = 'x' is invalid"),
    ],
)
def test_an_error_in_options_names_the_option(tmp_path, option, allowed):
    with pytest.raises(SystemExit, match=re.escape(allowed)):
        record("127.0.0.1:0", tmp_path / "night.h5", "--options", option)


@pytest.mark.parametrize("timeout", ["-1", "nan"])
def test_an_invalid_timeout_is_rejected(tmp_path, capsys, timeout):
    with pytest.raises(SystemExit):
        record("127.0.0.1:0", tmp_path / "night.h5", "--timeout", timeout)
    assert f"--timeout: '{timeout}' is not a number" in capsys.readouterr().err
