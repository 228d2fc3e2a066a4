# Copyright 2026 The gr-spead authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Descriptors and values of items: between the bytes of a heap and numpy."""

import ast
import math
import struct
from typing import NamedTuple

import numpy as np

# Items of a descriptor
NAME, DESCRIPTION, SHAPE, FORMAT, ID, NUMPY_HEADER = range(0x10, 0x16)
DESCRIPTOR = 0x05
FIRST_FREE = 0x16  # IDs below have a meaning in SPEAD

# numpy's own limit for headers of files that it does not trust
MAX_HEADER = 10_000
# Bits that are unpacked at a time
BLOCK = 1 << 17


def number_type(code, bits):
    """The dtype of a field of a format; None if there is none."""
    if code in "ui" and 1 <= bits <= 64:
        size = next(size for size in (1, 2, 4, 8) if bits <= 8 * size)
        return f">{code}{size}"
    if code == "f" and bits in (32, 64):
        return f">f{bits // 8}"
    if code == "b" and bits > 0:
        return "?"
    if code == "c" and bits == 8:
        return "S1"
    return None


def format_type(fields):
    """The big-endian dtype of elements with these fields, (code, bits) each."""
    types = [number_type(code, bits) for code, bits in fields]
    if not types or None in types:
        raise ValueError(f"its format {fields} is not supported")
    return np.dtype(",".join(types))


def header_type(text):
    """(dtype, shape, order) of a numpy header."""
    try:
        header = ast.literal_eval(text)
        descr, is_fortran, shape = (
            header[key] for key in ("descr", "fortran_order", "shape")
        )
        if len(header) != 3 or not isinstance(is_fortran, bool):
            raise ValueError
        if not all(type(size) is int and size >= 0 for size in tuple(shape)):
            raise ValueError
        # numpy.save() writes none, and numpy's reading of some divides by zero
        if _has_dict(descr):
            raise ValueError
        dtype = checked_dtype(np.dtype(descr))
        if parse_dtype_text(dtype_text(dtype)) != dtype:  # as in a PDU
            raise ValueError
    except Exception:  # numpy and Python raise any kind for what the network sends
        raise ValueError(f"its numpy header is invalid: {text[:80]!r}") from None
    return dtype, tuple(shape), "F" if is_fortran else "C"


def _has_dict(descr):
    return isinstance(descr, dict) or (
        isinstance(descr, (list, tuple)) and any(map(_has_dict, descr))
    )


def checked_dtype(dtype):
    if dtype.hasobject or dtype.itemsize == 0 or dtype.subdtype:
        raise ValueError(f"the dtype {dtype} is not supported")
    return dtype


def dtype_text(dtype):
    """The descr of a dtype, as text. Raises ValueError if it is too long to read."""
    descr = np.lib.format.dtype_to_descr(dtype)
    text = descr if isinstance(descr, str) else repr(descr)
    if len(text) > MAX_HEADER:
        raise ValueError(f"the dtype {text[:80]!r} is too long")
    return text


def parse_dtype_text(text):
    """The dtype of dtype_text(). Raises ValueError."""
    try:
        if len(text) > MAX_HEADER:
            raise ValueError
        descr = ast.literal_eval(text) if text.startswith("[") else text
        return checked_dtype(np.lib.format.descr_to_dtype(descr))
    except Exception:  # as above
        raise ValueError(f"the dtype {text[:80]!r} is not supported") from None


class Description(NamedTuple):
    """What a descriptor says about an item.

    shape: size of each dimension; at most one is None: variable
    fields: (code, bits) of each field of an element; empty with a numpy header
    dtype: of the elements as decoded, with the byte order of the wire
    """

    id: int
    name: str
    shape: tuple
    fields: tuple
    dtype: np.dtype
    order: str = "C"

    @classmethod
    def read(cls, heap_address_bits, items):
        """Read the items of a descriptor, ID -> integer or bytes.

        Raises ValueError with the reason if it is not supported.
        """

        def content(id):
            value = items.get(id, b"")
            if not isinstance(value, bytes):
                return b""
            if len(value) > MAX_HEADER:
                raise ValueError(f"a descriptor has more than {MAX_HEADER} bytes")
            return value

        id = items.get(ID)
        if not isinstance(id, int) or id < FIRST_FREE:
            raise ValueError("a descriptor has no valid ID")
        name = content(NAME).decode("ascii")
        if header := content(NUMPY_HEADER):
            dtype, shape, order = header_type(header.decode("ascii"))
            return cls(id, name, shape, (), dtype, order)
        address_bytes = heap_address_bits // 8
        fields = tuple(
            (chr(field[0]), int.from_bytes(field[1:], "big"))
            for field in _pieces(content(FORMAT), 9 - address_bytes)
        )
        shape = tuple(
            None if size[0] & 1 else int.from_bytes(size[1:], "big")
            for size in _pieces(content(SHAPE), 1 + address_bytes)
        )
        if shape.count(None) > 1:
            raise ValueError("several dimensions are variable")
        return cls(id, name, shape, fields, format_type(fields))

    @property
    def element_bits(self):
        return (
            sum(bits for _, bits in self.fields)
            if self.fields
            else 8 * self.dtype.itemsize
        )

    def decode(self, value, heap_address_bits):
        """The value of an item: a scalar or an array in native byte order, or a str.

        value: an integer, if the item is immediate, or an array of bytes
        Raises ValueError if it does not fit the description.
        """
        is_immediate = isinstance(value, int)
        if is_immediate:
            value = np.frombuffer(
                value.to_bytes(heap_address_bits // 8, "big"), np.uint8
            )
        available = 8 * len(value) // self.element_bits
        shape = self._known_shape(available)
        count = math.prod(shape)
        if count > available:
            raise ValueError(f"it has {len(value)} bytes, too few for shape {shape}")
        size = (count * self.element_bits + 7) // 8
        # an immediate value is padded in front
        content = value[len(value) - size :] if is_immediate else value[:size]
        if len(shape) == 1 and self.fields == (("c", 8),):
            return content.tobytes().replace(b"\0", b"").decode("ascii")
        if self.fields and self.element_bits != 8 * self.dtype.itemsize:
            elements = unpack(content, self.fields, self.dtype, count)
        else:
            elements = content.view(self.dtype)
        native = elements.astype(self.dtype.newbyteorder("="), copy=False)
        decoded = native.reshape(shape, order=self.order)[()]
        if isinstance(decoded, str):
            decoded.encode().decode()  # numpy takes any number for a character
        return decoded

    def _known_shape(self, available):
        if None not in self.shape:
            return self.shape
        known = math.prod(size for size in self.shape if size is not None)
        variable = available // known if known else 0
        return tuple(variable if size is None else size for size in self.shape)


def _pieces(content, size):
    return [content[i : i + size] for i in range(0, len(content) - size + 1, size)]


def unpack(content, fields, dtype, count):
    """Elements whose fields are not whole numbers of bytes, the highest bit first."""
    elements = np.empty(count, dtype)
    element_bits = sum(bits for _, bits in fields)
    block = max(8, BLOCK // element_bits // 8 * 8)
    for begin in range(0, count, block):
        n = min(block, count - begin)
        first, end = begin * element_bits // 8, -(-(begin + n) * element_bits // 8)
        bits = np.unpackbits(content[first:end])[: n * element_bits]
        bits = bits.reshape(n, element_bits)
        position = 0
        for i, (code, width) in enumerate(fields):
            field = elements[begin : begin + n]
            if dtype.names:
                field = field[dtype.names[i]]
            field[:] = _numbers(bits[:, position : position + width], code, field.dtype)
            position += width
    return elements


def _numbers(bits, code, dtype):
    """Numbers from rows of bits."""
    if code == "b":
        return bits.any(axis=1)
    n, width = bits.shape
    padded = np.zeros((n, 8 * dtype.itemsize), np.uint8)
    padded[:, -width:] = bits
    if code == "i":
        padded[:, :-width] = bits[:, :1]  # the sign
    return np.packbits(padded, axis=1).view(dtype)[:, 0]


class EncodedItem(NamedTuple):
    """An item to send."""

    description: Description
    content: bytes

    def value(self, heap_address_bits):
        """An integer if it can be immediate, as in spead2; otherwise the bytes."""
        is_fixed = None not in self.description.shape
        if is_fixed and 0 < 8 * len(self.content) <= heap_address_bits:
            return int.from_bytes(self.content, "big")
        return self.content


def encode(id, name, value):
    """Encode a text, a scalar or an array of numpy.

    Raises ValueError with the reason if it cannot be sent.
    """
    if isinstance(value, str):
        try:
            content = value.encode("ascii")
        except UnicodeEncodeError:
            raise ValueError("text must be ASCII") from None
        fields = (("c", 8),)
        return EncodedItem(
            Description(id, name, (None,), fields, format_type(fields)), content
        )
    array = np.asarray(value, order="C")
    checked_dtype(array.dtype)
    content = array.tobytes()
    return EncodedItem(Description(id, name, array.shape, (), array.dtype), content)


def descriptor(description, heap_address_bits):
    """The packet that describes an item, the content of an item 0x05."""
    address_bytes = heap_address_bits // 8

    def number(value, size):
        return value.to_bytes(size, "big")

    contents = {
        NAME: description.name.encode("ascii"),
        DESCRIPTION: b"",
        SHAPE: b"".join(
            number(size is None, 1) + number(size or 0, address_bytes)
            for size in description.shape
        ),
    }
    if description.fields:
        contents[FORMAT] = b"".join(
            code.encode() + number(bits, 8 - address_bytes)
            for code, bits in description.fields
        )
    else:
        header = {
            "descr": np.lib.format.dtype_to_descr(description.dtype),
            "fortran_order": False,
            "shape": description.shape,
        }
        contents[NUMPY_HEADER] = repr(header).encode("ascii")
    payload = b"".join(contents.values())

    def immediate(id, value):
        return 1 << 63 | id << heap_address_bits | value

    words = [
        immediate(0x01, 1),
        immediate(0x02, len(payload)),
        immediate(0x03, 0),
        immediate(0x04, len(payload)),
        immediate(ID, description.id),
    ]
    offset = 0
    for field, content in contents.items():
        words.append(field << heap_address_bits | offset)
        offset += len(content)
    head = struct.pack(
        ">BBBBHH", 0x53, 4, 8 - address_bytes, address_bytes, 0, len(words)
    )
    return head + struct.pack(f">{len(words)}Q", *words) + payload
