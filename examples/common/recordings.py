# Copyright 2026 The gr-spead authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Reads recordings of samples: SigMF, WAV and raw files."""

import calendar
import dataclasses
import datetime
import decimal
import fractions
import logging
import math
import os
import re
import struct
from typing import NamedTuple

from common.sender_program import recording_size


class SampleType(NamedTuple):
    input_type: str  # of the sink
    file_bytes: int  # per sample in the file
    sent_bytes: int  # per sample in a heap by default, with floats as 8 bits

    @property
    def is_complex(self):
        return self.input_type in ("sc8", "sc16", "complex")


# SigMF names: r(eal) or c(omplex); i(nt), u(nsigned, offset binary) or f(loat); bits;
# byte order.
SAMPLE_TYPES = {
    "ri8": SampleType("int8", 1, 1),
    "ru8": SampleType("int8", 1, 1),
    "ri16_le": SampleType("int16", 2, 2),
    "ri16_be": SampleType("int16", 2, 2),
    "rf32_le": SampleType("float", 4, 1),
    "ci8": SampleType("sc8", 2, 2),
    "cu8": SampleType("sc8", 2, 2),
    "ci16_le": SampleType("sc16", 4, 4),
    "ci16_be": SampleType("sc16", 4, 4),
    "cf32_le": SampleType("complex", 8, 2),
}

WAV_FORMATS = {  # of libsndfile: modulus of the sizes, alignment of chunks
    "WAV": (1 << 32, 2),
    "WAVEX": (1 << 32, 2),
    "RF64": (1 << 64, 2),
    "W64": (1 << 64, 8),
}

# By the subtypes of libsndfile: SigMF type without r(eal) or c(omplex).
WAV_TYPES = {"PCM_U8": "u8", "PCM_16": "i16_le", "FLOAT": "f32_le"}

UNKNOWN_SIZES = (0, (1 << 32) - 1)  # before the end of a recording, or to a pipe

SIGMF_PAIR = (".sigmf-meta", ".sigmf-data")

log = logging.getLogger(__name__)


@dataclasses.dataclass(frozen=True)
class Recording:
    """Contiguous samples in a file, at a constant rate.

    path: the file of the samples
    type_name: a key of SAMPLE_TYPES
    offset: bytes before the first sample
    samples: number of whole samples
    sample_rate: in Hz, a Fraction, or None if unknown
    start: time of the first sample in seconds since 1970, a Fraction, or None
    """

    path: str
    type_name: str
    offset: int
    samples: int
    sample_rate: fractions.Fraction | None = None
    start: fractions.Fraction | None = None

    @property
    def type(self):
        return SAMPLE_TYPES[self.type_name]


def is_sigmf(path):
    return ".sigmf" in os.path.basename(path).lower()


def is_wav(path):
    return path.lower().endswith((".wav", ".w64"))


def raw_recording(path, type_name, header_bytes=0):
    return _recording(path, type_name, header_bytes, recording_size(path, header_bytes))


def wav_recording(path):
    """A WAV file of any variant that libsndfile reads; two channels are I and Q."""
    try:
        import soundfile  # optional: only WAV recordings need it
    except (ImportError, OSError):  # OSError: no libsndfile
        raise ValueError(
            "WAV needs the Python package soundfile: apt install python3-soundfile"
        ) from None
    recording_size(path)  # checks the file: its errors name it
    with open(path, "rb") as file:
        try:
            wav = soundfile.SoundFile(file)
        except soundfile.LibsndfileError as error:
            reason = error.error_string
            raise ValueError(f"{path} is not a WAV file: {reason}") from None
        with wav:
            number_type = WAV_TYPES.get(wav.subtype)
            variant = "RIFX" if wav.endian == "BIG" else wav.format
            if variant not in WAV_FORMATS or not number_type or wav.channels > 2:
                raise ValueError(
                    f"{path} is {variant}, {wav.channels} channels of {wav.subtype};"
                    " WAV files of 8 or 16 bits or of 32-bit floats can be sent, with"
                    " one channel or with two (I and Q); convert other samples to"
                    " floats, which keep 24 bits"
                )
            type_name = "rc"[wav.channels - 1] + number_type
            wav.seek(0)
            offset = file.tell()  # of the first sample
            length = _wav_bytes(file, wav, type_name, offset)
            rate = fractions.Fraction(wav.samplerate)
    return _recording(path, type_name, offset, length, rate)


def _wav_bytes(file, wav, type_name, offset):
    """Length of the samples; libsndfile hides sizes that contradict the file.

    The samples must reach the end of the file, unless the size of the whole file is
    right: then other chunks follow them.
    """
    stated, stated_file_size = _wav_sizes(file, wav.format, offset)
    modulus, alignment = WAV_FORMATS[wav.format]
    size = os.fstat(file.fileno()).st_size
    present = size - offset
    wraps, rest = divmod(present - stated, modulus)
    reaches_end = rest in (0, -stated % alignment)
    # The last chunk may lack its padding, or not count it.
    fits_file = (size - stated_file_size + 1) % modulus <= 2
    # Of a large file, an unknown size is likelier than other chunks.
    if stated in UNKNOWN_SIZES and present >= max(UNKNOWN_SIZES):
        fits_file = False
    if (reaches_end or fits_file) and wraps >= 0:
        length, reason = stated + wraps * modulus, "the true size modulo 2^32"
    elif stated in UNKNOWN_SIZES:
        length, reason = present, "as in an unfinished recording"
    else:
        raise ValueError(
            f"{file.name}: the header states {stated} bytes of samples, but {present}"
            f" bytes follow; to send these, add --type {type_name}"
            f" --skip-header {offset} --sample-rate {wav.samplerate}"
        )
    if length != stated:
        log.warning(
            "%s: the header states %d bytes of samples, %s; sending %d bytes",
            file.name,
            stated,
            reason,
            length,
        )
    return length


def _wav_sizes(file, wav_format, offset):
    """Bytes of the samples, and of the whole file, as the header states them."""

    def number(position, layout):
        file.seek(position)
        return struct.unpack(layout, file.read(struct.calcsize(layout)))[0]

    if wav_format == "W64":  # the sizes of its chunks include their headers
        return number(offset - 8, "<Q") - 24, number(16, "<Q")
    samples, file_size = number(offset - 4, "<I"), number(4, "<I")
    if wav_format == "RF64":  # the chunk ds64, which comes first, has the sizes
        file_size, samples = number(20, "<Q"), number(28, "<Q")
    return samples, file_size + 8


def sigmf_recording(path, capture=None):
    """A SigMF recording, from one of its files or an uncompressed archive.

    capture: index of the capture; None if there is only one. Several captures may have
        gaps between them.
    """
    content = _read_sigmf(path)
    fields = content.get_global_info()
    captures = content.get_captures() or [{"core:sample_start": 0}]
    channels = fields.get("core:num_channels", 1)
    if channels != 1:
        raise ValueError(f"{path} has {channels} channels; only one can be sent")
    if capture is None and len(captures) > 1:
        raise ValueError(
            f"{path} has {len(captures)} captures, and there may be gaps between them;"
            f" send one of them with --capture 0 to {len(captures) - 1}"
        )
    index = capture or 0
    if not 0 <= index < len(captures):
        raise ValueError(f"{path} has no capture {index}, only {len(captures)}")
    # SigMF allows a byte order for 8-bit types, too.
    type_name = re.sub("8_[lb]e$", "8", fields["core:datatype"])
    offset, length = _sigmf_bytes(
        content, captures, index, _sample_type(path, type_name)
    )
    rate, time = fields.get("core:sample_rate"), captures[index].get("core:datetime")
    if rate is not None and math.isnan(rate):  # sigmf accepts NaN
        raise ValueError(f"{path}: core:sample_rate = {rate} is not a rate above 0")
    return _recording(
        str(content.data_file),
        type_name,
        offset,
        length,
        # str() gives the number as written in the file; the float is inexact.
        None if rate is None else fractions.Fraction(str(rate)),
        None if time is None else seconds_since_1970(time),
    )


def seconds_since_1970(text):
    """Parse a time such as 2023-11-14T22:13:20.5Z into an exact Fraction."""
    match = re.fullmatch(r"(\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d)(\.\d+)?Z", text)
    try:
        whole = datetime.datetime.fromisoformat(match[1] if match else "")
    except ValueError:
        raise ValueError(
            f"core:datetime = {text!r} is not a time YYYY-MM-DDThh:mm:ss[.s]Z"
        ) from None
    return calendar.timegm(whole.timetuple()) + fractions.Fraction(f"0{match[2] or ''}")


def seconds_text(seconds):
    """Format a decimal fraction with all its digits, which a float would round."""
    with decimal.localcontext(decimal.Context(prec=50)):
        return f"{decimal.Decimal(seconds.numerator) / seconds.denominator:f}"


def _read_sigmf(path):
    try:
        import sigmf  # optional: only SigMF recordings need it
    except ImportError:
        raise ValueError(
            "SigMF needs the Python package sigmf, from PyPI; scripts/bootstrap"
            " installs it for .venv/bin/python"
        ) from None
    stem, suffix = os.path.splitext(path)
    # Raises an error that names the missing file.
    os.stat(f"{stem}.sigmf-meta" if suffix in SIGMF_PAIR else path)
    try:
        # Verifying the checksum would read the whole file.
        content = sigmf.fromfile(path, skip_checksum=True)
        if isinstance(content, sigmf.SigMFFile):
            content.validate()
    except Exception as error:  # sigmf raises many types, also of jsonschema and json
        reason = _sigmf_reason(error)
        raise ValueError(f"{path} is not a SigMF recording: {reason}") from None
    if isinstance(content, sigmf.SigMFFile) and suffix in SIGMF_PAIR:
        os.stat(content.data_file or f"{stem}.sigmf-data")
    if not isinstance(content, sigmf.SigMFFile) or content.data_file is None:
        raise ValueError(
            f"{path} has no file of samples; collections and compressed archives"
            " cannot be sent"
        )
    return content


def _sigmf_reason(error):
    """One line for the user that explains an exception of sigmf."""
    if hasattr(error, "absolute_path"):  # raised by jsonschema
        field = ".".join(map(str, error.absolute_path)) or "metadata"
        message = re.sub(" does not match '.*", " is not allowed", error.message)
        return f"{field}: {message}"
    if isinstance(error, ArithmeticError | AttributeError | LookupError | TypeError):
        return "its metadata do not follow the SigMF standard"
    return (str(error) or repr(error)).splitlines()[0]


def _sigmf_bytes(content, captures, index, sample_type):
    """Offset and length of the samples of a capture in the data file."""
    fields = content.get_global_info()
    headers = [capture.get("core:header_bytes", 0) for capture in captures]
    trailing = fields.get("core:trailing_bytes", 0)
    begin, end = 0, os.path.getsize(content.data_file)
    if content.data_size_bytes is not None:  # in an archive
        if any(headers) or trailing:
            raise ValueError(
                f"{content.data_file}: header_bytes and trailing_bytes are not allowed"
                " in an archive"
            )
        begin, end = content.data_offset, content.data_offset + content.data_size_bytes
    first = fields.get("core:offset", 0)
    starts = [capture["core:sample_start"] - first for capture in captures]
    if starts[index] < 0:
        raise ValueError(
            f"{content.data_file}: core:offset = {first} is larger than the"
            f" core:sample_start of capture {index}"
        )
    begin += sum(headers[: index + 1]) + starts[index] * sample_type.file_bytes
    end -= trailing
    if index + 1 < len(captures):
        samples = starts[index + 1] - starts[index]
        end = min(end, begin + samples * sample_type.file_bytes)
    return begin, end - begin


def _sample_type(path, name):
    if name not in SAMPLE_TYPES:
        raise ValueError(
            f"{path} has samples of type {name}; these types can be sent:"
            f" {', '.join(SAMPLE_TYPES)}"
        )
    return SAMPLE_TYPES[name]


def _recording(path, type_name, offset, length, sample_rate=None, start=None):
    samples = length // _sample_type(path, type_name).file_bytes
    if samples < 1:
        raise ValueError(f"{path} has no whole sample of type {type_name}")
    return Recording(path, type_name, offset, samples, sample_rate, start)
