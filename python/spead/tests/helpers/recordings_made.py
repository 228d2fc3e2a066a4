# Copyright 2026 The gr-spead authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Writes SigMF and WAV recordings."""

import json
import tarfile
import wave


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


def write_wav(folder, data, channels, width, rate=48000):
    """Write a WAV file with a LIST chunk before the data; returns its path."""
    path = folder / "recording.wav"
    with wave.open(str(path), "wb") as file:
        file.setparams((channels, width, rate, 0, "NONE", ""))
        file.writeframes(data)
    content = path.read_bytes()
    data_start = content.index(b"data")
    list_chunk = b"LIST" + (6).to_bytes(4, "little") + b"INFO  "
    size = int.from_bytes(content[4:8], "little") + len(list_chunk)
    path.write_bytes(
        content[:4]
        + size.to_bytes(4, "little")
        + content[8:data_start]
        + list_chunk
        + content[data_start:]
    )
    return path
