# Copyright 2026 The gr-spead authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Heaps as PDUs: between values of numpy and those of PMT.

A PDU is the pair of a dict, item name -> value, and a uniform vector. The names "0x..."
are IDs. Those of SPEAD itself cannot be items, so two of them tell more about the heap:
its counter, and the types of its scalars.
"""

import re
from collections.abc import Mapping
from typing import Any

import numpy as np
import pmt

from .heap_items import checked_dtype, dtype_text, parse_dtype_text
from .spead_python import _from_uniform_vector, _to_uniform_vector

HEAP_COUNTER = "0x1"
SCALAR_TYPES = "0x5"  # dict: name -> dtype, of scalars that are not of PMT_TYPES
COUNTER_KEY, TYPES_KEY = pmt.intern(HEAP_COUNTER), pmt.intern(SCALAR_TYPES)
PMT_TYPES = [np.dtype(text) for text in ("?", "i8", "u8", "f8", "c16")]
TEXT = pmt.intern("text")  # in place of a dtype
EMPTY = pmt.init_u8vector(0, [])


def id_of(name):
    """The ID in a name such as "0x1234"; None in any other."""
    return int(name, 16) if re.fullmatch("0x[0-9a-fA-F]{1,14}", name) else None


def to_pmt(value, intern):
    """(PMT, dtype as text) of a text, a scalar or an array of numpy.

    The dtype is None unless the PMT is a number that does not tell it.
    intern: str -> symbol
    """
    if isinstance(value, str):
        try:
            return intern(value), None
        except ValueError:
            return _text_tuple(value), None
    array = np.asarray(value, order="C")
    dtype = array.dtype  # that of an empty numpy.bytes_ itself has no size
    if isinstance(value, np.ndarray) and value.ndim:
        if value.ndim == 1:
            vector = _to_uniform_vector(np.require(array, requirements=("C", "A")))
            if vector is not None:
                return vector, None
    elif dtype.kind in "biufc" and dtype.itemsize <= 8 * (1 + (dtype.kind == "c")):
        number = _NUMBERS[dtype.kind](value.item())
        return number, None if dtype in PMT_TYPES else dtype_text(dtype)
    content = np.frombuffer(array.tobytes(), np.uint8)
    shape = pmt.make_vector(array.ndim, pmt.PMT_NIL)  # make_tuple() takes up to ten
    for i, size in enumerate(array.shape):
        pmt.vector_set(shape, i, pmt.from_long(size))
    return (
        pmt.make_tuple(
            intern(dtype_text(dtype)), pmt.to_tuple(shape), _to_uniform_vector(content)
        ),
        None,
    )


def _text_tuple(text):
    content = np.frombuffer(text.encode(), np.uint8)
    shape = pmt.make_tuple(pmt.from_long(content.size))
    return pmt.make_tuple(TEXT, shape, _to_uniform_vector(content))


_NUMBERS = {
    "b": pmt.from_bool,
    "i": pmt.from_long,
    "u": pmt.from_uint64,
    "f": pmt.from_double,
    "c": pmt.from_complex,
}


def from_pmt(value, scalar_type=None):
    """The text, scalar or array of a PMT. Raises ValueError if it is none.

    scalar_type: dtype of a number, as text
    """
    if pmt.is_symbol(value):
        return pmt.symbol_to_string(value)
    number = _number(value)
    if number is not None:
        if scalar_type is None:
            return number
        return _as_type(number, parse_dtype_text(scalar_type))
    if pmt.is_uniform_vector(value):
        return _from_uniform_vector(value)
    if pmt.is_tuple(value) and pmt.length(value) == 3:
        text, shape, content = (pmt.tuple_ref(value, i) for i in range(3))
        if pmt.is_symbol(text) and pmt.is_tuple(shape) and pmt.is_u8vector(content):
            return _array(pmt.symbol_to_string(text), pmt.to_python(shape), content)
    raise ValueError(f"the PMT {shortened(value)} is neither text nor numbers")


def _number(value):
    if pmt.is_bool(value):
        return np.bool_(pmt.to_bool(value))
    if pmt.is_integer(value):
        return np.int64(pmt.to_long(value))
    if pmt.is_uint64(value):
        return np.uint64(pmt.to_uint64(value))
    if pmt.is_real(value):
        return np.float64(pmt.to_double(value))
    if pmt.is_complex(value):
        return np.complex128(pmt.to_complex(value))
    return None


def _as_type(number, dtype):
    """The number as a scalar of a dtype that holds it."""
    if dtype.kind in "biufc":
        with np.errstate(all="ignore"):
            scalar = number.astype(dtype)
        if scalar == number or (scalar != scalar and number != number):  # or NaN
            return scalar
    raise ValueError(f"{number} is no number of dtype {dtype}")


def _array(text, shape, content):
    content = _from_uniform_vector(content)
    if text == "text":
        return content.tobytes().decode()
    dtype = parse_dtype_text(text)
    if not all(isinstance(size, int) for size in shape):
        raise ValueError("the shape of an array has other PMTs than integers")
    return content.view(dtype).reshape(shape)[()]


def shortened(value):
    """A PMT for messages."""
    text = pmt.write_string(value)
    return text if len(text) <= 60 else f"{text[:60]}..."


def dict_items(pdu_dict):
    """The keys and values of a PMT dict, the one that was added last at the end."""
    pairs = []
    items = pmt.dict_items(pdu_dict)
    while pmt.is_pair(items):
        item = pmt.car(items)
        pairs.append((pmt.car(item), pmt.cdr(item)))
        items = pmt.cdr(items)
    return pairs[::-1]


def make_pdu(values, vector=EMPTY, counter=None, intern=pmt.intern, refuse=None):
    """A PDU of values: texts, scalars and arrays of numpy.

    refuse: called with the reason for each item that cannot be converted; without it,
        that is a ValueError
    """
    items, types = pmt.make_dict(), pmt.make_dict()
    for name, value in values.items():
        try:
            key = intern(name)
            converted, dtype = to_pmt(value, intern)
            if dtype is not None:
                types = pmt.acons(key, intern(dtype), types)
        except ValueError as error:
            if not refuse:
                raise ValueError(f"item {name!r}: {error}") from None
            refuse(f"item {name[:40]!r} is dropped: {error}")
            continue
        # dict_add() would look for the key first
        items = pmt.acons(key, converted, items)
    if counter is not None:
        items = pmt.dict_add(items, COUNTER_KEY, pmt.from_uint64(counter))
    if not pmt.equal(types, pmt.make_dict()):
        items = pmt.dict_add(items, TYPES_KEY, types)
    return pmt.cons(items, vector)


def scalar_types(items):
    """Name -> dtype as text, of the dict of a PDU."""
    types = pmt.dict_ref(items, TYPES_KEY, pmt.PMT_NIL)
    if not pmt.is_dict(types):
        return {}
    return {
        pmt.symbol_to_string(name): pmt.symbol_to_string(dtype)
        for name, dtype in dict_items(types)
        if pmt.is_symbol(name) and pmt.is_symbol(dtype)
    }


def heap_to_numpy(pdu: Any) -> dict[str, Any]:
    """The items of a PDU of heap_source or heap_from_numpy().

    pdu: a pair of a dict and a vector
    Returns a dict: item name -> str, scalar or array of numpy, with the type that
    spead2 gives them. "0x1" is the heap counter. Raises ValueError if pdu is something
    else.
    """
    if not pmt.is_pair(pdu) or not pmt.is_dict(pmt.car(pdu)):
        raise ValueError(f"heap_to_numpy: {shortened(pdu)} is no PDU with a dict")
    items = pmt.car(pdu)
    types = scalar_types(items)
    values = {}
    for key, value in dict_items(items):
        name = pmt.to_python(key)
        if name != SCALAR_TYPES:
            values[name] = from_pmt(value, types.get(name))
    return values


def heap_from_numpy(values: Mapping[str, Any]) -> Any:
    """A PDU for heap_sink.

    values: a dict: item name -> str, bytes, number, or what numpy.asarray() takes.
        Scalars and arrays of numpy keep their dtypes.
    Raises ValueError, with the name, if a value is none of these.
    """
    converted = {}
    for name, value in values.items():
        try:
            if not isinstance(name, str):
                raise ValueError("its name must be a string")
            converted[name] = _numpy_value(value)
        except ValueError as error:
            raise ValueError(f"heap_from_numpy: item {name!r}: {error}") from None
    return make_pdu(converted)


def _numpy_value(value):
    if isinstance(value, str):
        return value
    if isinstance(value, bytes) and not isinstance(value, np.generic):
        return np.frombuffer(value, np.uint8)
    if not isinstance(value, np.generic):
        value = np.asarray(value)
    checked_dtype(np.asarray(value).dtype)
    return value
