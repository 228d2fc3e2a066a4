# Copyright 2026 The gr-spead authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Writes SigMF and WAV recordings."""

import json
import struct
import tarfile

import soundfile


def write_sigmf(folder, data, type_name="ri8", captures=None, **fields):
    """Write bytes as a SigMF recording; returns the path of its metadata.

    fields: fields of the global object, without the prefix "core:"
    """
    named = {"datatype": type_name, "version": "1.2.0", **fields}
    metadata = {
        "global": {f"core:{name}": value for name, value in named.items()},
        "captures": captures or [{"core:sample_start": 0}],
        "annotations": [],
    }
    path = folder / "recording.sigmf-meta"
    path.write_text(json.dumps(metadata))
    path.with_suffix(".sigmf-data").write_bytes(data)
    return path


def write_sigmf_archive(folder, *arguments, **fields):
    """Write a SigMF archive; returns its path."""
    path = write_sigmf(folder, *arguments, **fields)
    archive = path.with_suffix(".sigmf")
    with tarfile.open(archive, "w") as tar:
        for suffix in (".sigmf-meta", ".sigmf-data"):
            tar.add(path.with_suffix(suffix), f"recording/recording{suffix}")
    return archive


def write_wav(folder, samples, subtype="PCM_16", rate=48000, **options):
    """Write a WAV file with soundfile; returns its path."""
    path = folder / "recording.wav"
    soundfile.write(path, samples, rate, subtype, **options)
    return path


def append_list_chunk(path):
    """Append a chunk with a title to a RIFF file, and count it in the file size."""
    content = path.read_bytes()
    content += bytes(len(content) % 2) + b"LIST\x12\0\0\0INFOINAM\6\0\0\0noise\0"
    path.write_bytes(content)
    set_riff_sizes(path, file_size=len(content) - 8)


def set_riff_sizes(path, file_size=None, samples=None):
    """Overwrite the sizes in the header of a RIFF file, modulo 2^32."""
    with open(path, "r+b") as file:
        content = file.read(1000)
        for size, position in (
            (file_size, 4),
            (samples, content.index(b"data") + 4),
        ):
            if size is not None:
                file.seek(position)
                file.write(struct.pack("<I", size % (1 << 32)))


def set_rf64_sizes(path, file_size, samples):
    with open(path, "r+b") as file:
        file.seek(20)  # the chunk ds64
        file.write(struct.pack("<QQ", file_size, samples))
