# Copyright 2026 The gr-spead authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Items of any type and shape pass through heap_source and heap_sink as spead2 sees
them."""

import numpy as np
import pmt
import pytest
from gnuradio import spead
from heap_graphs import (
    check_equal,
    receiving,
    sending,
    spead2_decoded,
    spead2_group,
    transmit,
)
from received_streams import spead2_packets
from receiving import arrived, bound_socket, destination

STRUCTURE = np.dtype([("a", "<i2"), ("b", ">f4", (2,)), ("c", "S3")])
DTYPES = [
    *("i1", "u1", "<i2", ">i2", "<u2", ">u2", "<i4", ">i4", "<u4", "<i8", ">i8", "<u8"),
    *("<f2", ">f2", "<f4", ">f4", "<f8", ">f8", "<c8", ">c8", "<c16", "?"),
    *("S5", "<U3", STRUCTURE),
]
TIMES = ["<M8[s]", ">m8[ns]"]  # spead2 receives them, but does not send them
SHAPES = [(), (1,), (7,), (2, 3), (2, 0, 3), (3, 1, 2, 2), (2,) + 10 * (1,)]


def random_array(dtype, shape, seed=1):
    """Random values, without NaN in floats and without invalid text."""
    generator = np.random.default_rng(seed)
    dtype = np.dtype(dtype)
    if dtype.names:
        array = np.zeros(shape, dtype)
        for name in dtype.names:
            field, *_ = dtype.fields[name]
            array[name] = random_array(field.base, (*shape, *field.shape), seed)
        return array
    if dtype.kind == "c":
        real, imaginary = generator.normal(size=(2, *shape))
        return (real + 1j * imaginary).astype(dtype)
    if dtype.kind == "f":
        return np.asarray(generator.normal(size=shape)).astype(dtype)
    if dtype.kind == "U":
        return np.asarray(generator.integers(0, 999, shape)).astype(dtype)
    if dtype.kind == "b":
        return np.asarray(generator.integers(0, 2, shape)).astype(dtype)
    size = int(np.prod(shape)) * dtype.itemsize
    return np.frombuffer(generator.bytes(size), dtype).reshape(shape)


def integers(bits, count, signed=False):
    """The smallest, the largest, and random integers."""
    low, high = (
        (-(1 << bits - 1), (1 << bits - 1) - 1) if signed else (0, (1 << bits) - 1)
    )
    generator = np.random.default_rng(bits)
    middle = [
        low + int.from_bytes(generator.bytes(9), "big") % (high - low + 1)
        for _ in range(count)
    ]
    return [low, high, *middle][:count]


def with_format(*fields, shape=()):
    return {"shape": shape, "format": list(fields)}


FORMATS = [
    (with_format(("u", 8)), 200),
    (with_format(("i", 8)), -100),
    (with_format(("u", 12)), 0xABC),
    (with_format(("i", 12)), -1000),
    (with_format(("u", 40)), 2**40 - 1),
    (with_format(("i", 40)), 2**39),  # the smallest: spead2 writes the bits of a u40
    (with_format(("u", 48)), 2**48 - 2),
    (with_format(("u", 64)), 2**64 - 1),
    (with_format(("f", 32)), 0.5),
    (with_format(("f", 64)), -1e300),
    (with_format(("b", 8)), True),
    (with_format(("b", 1)), True),
    (with_format(("c", 8)), b"x"),
    (with_format(("c", 8), shape=(None,)), "text of variable length"),
    (with_format(("c", 8), shape=(3,)), "abc"),
    (with_format(("c", 8), shape=(2, 2)), [[b"a", b"b"], [b"c", b"d"]]),
    (with_format(("u", 1), shape=(19,)), [0, 1] * 9 + [1]),
    (with_format(("b", 1), shape=(3, 3)), np.eye(3, dtype=bool).tolist()),
    (with_format(("u", 3), shape=(5,)), integers(3, 5)),
    (with_format(("i", 10), shape=(33,)), integers(10, 33, True)),
    (with_format(("u", 12), shape=(40000,)), integers(12, 40000)),
    (with_format(("i", 24), shape=(2, 3)), [[1, -2, 3], [-4, 5, -(2**23)]]),
    (with_format(("u", 63), shape=(3,)), integers(63, 3)),
    (with_format(("i", 33), shape=(4,)), integers(33, 4, True)),
    (with_format(("u", 16), shape=(None,)), [1, 2, 65535]),
    (with_format(("f", 32), shape=(None, 3)), [[1.5, 2, 3], [4, 5, 6]]),
    (with_format(("i", 32), shape=(2, None)), [[1, 2, 3], [4, 5, -6]]),
    (with_format(("u", 4), shape=(None,)), integers(4, 6)),
    (with_format(("u", 8), ("f", 32)), (1, 2.5)),
    (with_format(("u", 8), ("f", 32), shape=(2,)), [(1, 2.5), (3, -4.0)]),
    (with_format(("u", 12), ("f", 32), shape=(3,)), [(1, 2.5), (4095, -1.0), (7, 0.0)]),
    (with_format(("u", 2), ("i", 6), ("b", 1), ("u", 7)), (3, -32, True, 127)),
    (with_format(("b", 1), ("f", 64), shape=(None,)), [(True, 1e9), (False, -2.0)]),
    (with_format(("c", 8), ("u", 4), shape=(2,)), [(b"p", 1), (b"q", 15)]),
]


@pytest.fixture(scope="module")
def received():
    with receiving() as graph:
        yield graph


def check_received(received, group):
    """Check that the source publishes what spead2 reads."""
    source, collector = received
    (packets,) = spead2_packets([group.get_heap()])
    (expected,) = spead2_decoded(packets)
    transmit(source, *packets)
    values = collector.next_values()
    assert values.keys() == expected.keys()
    for name, value in expected.items():
        check_equal(values[name], value)


@pytest.mark.parametrize("order", ["C", "F"])
@pytest.mark.parametrize("shape", SHAPES, ids=str)
def test_numpy_arrays_of_spead2_arrive(received, shape, order):
    items = {
        f"item {i}": (
            {"shape": shape, "dtype": dtype, "order": order},
            random_array(dtype, shape),
        )
        for i, dtype in enumerate(DTYPES)
    }
    source, collector = received
    (packets,) = spead2_packets([spead2_group(**items).get_heap()])
    transmit(source, *packets)
    values = collector.next_values()
    for name, (_, value) in items.items():
        native = value.astype(value.dtype.newbyteorder("="))
        check_equal(values[name], native[()])
    if 0 not in shape:  # spead2 does not read empty arrays
        (expected,) = spead2_decoded(packets)
        for name, value in expected.items():
            check_equal(values[name], value)


@pytest.mark.parametrize(("description", "value"), FORMATS, ids=str)
def test_formats_of_spead2_arrive(received, description, value):
    check_received(received, spead2_group(item=(description, value)))


def test_empty_texts_of_fixed_length_arrive(received):
    check_received(received, spead2_group(item=({"shape": (), "dtype": "S3"}, b"")))


@pytest.mark.parametrize("seed", range(50))
def test_random_formats_of_spead2_arrive(received, seed):
    generator = np.random.default_rng(seed)
    fields = []
    for _ in range(generator.integers(1, 5)):
        code = "uibfc"[generator.integers(5)]
        bits = {"f": (32, 64)[seed % 2], "c": 8}.get(code)
        fields.append((code, bits or int(generator.integers(1, 65))))
    count = int(generator.integers(1, 20))

    def number(code, bits):
        if code == "f":
            return float(np.float32(generator.normal()))
        if code == "c":
            return bytes([int(generator.integers(1, 128))])
        if code == "b":
            return bool(generator.integers(2))
        return integers(bits, 9, code == "i")[generator.integers(9)]

    elements = [tuple(number(*field) for field in fields) for _ in range(count)]
    if len(fields) == 1:
        elements = [element for (element,) in elements]
        if fields[0] == ("c", 8):
            elements = b"".join(elements).decode()
    shape = (count,) if generator.integers(2) else (None,)
    if shape == (None,) and sum(bits for _, bits in fields) < 8:
        shape = (count,)  # padding would look like elements
    items = {"item": (with_format(*fields, shape=shape), elements)}
    check_received(received, spead2_group(bits=(40, 48)[seed % 2], **items))


def check_sent(values, **options):
    """Check that spead2 reads the values that the sink sends."""
    with bound_socket() as sock:
        with sending(destination(sock), **options) as (sink, post):
            post(spead.heap_from_numpy(values))
        decoded = spead2_decoded(arrived(sock))[0]
    assert decoded.keys() == values.keys()
    for name, value in values.items():
        if isinstance(value, str):
            assert decoded[name] == value
        else:
            array = np.asarray(value)
            check_equal(decoded[name], array.astype(array.dtype.newbyteorder("="))[()])
    assert sink.stats()["pdus_refused"] == 0


@pytest.mark.parametrize("bits", [40, 48])
@pytest.mark.parametrize(
    "shape", [shape for shape in SHAPES if 0 not in shape], ids=str
)
def test_spead2_receives_values_of_numpy(shape, bits):
    values = {f"item {i}": random_array(dtype, shape) for i, dtype in enumerate(DTYPES)}
    check_sent(values, heap_address_bits=bits)


def test_spead2_receives_texts_and_numbers_of_python():
    values = {"text": "a b", "true": True, "whole": -(2**40), "real": 0.5, "pair": 1j}
    check_sent(values)


@pytest.mark.parametrize("shape", SHAPES, ids=str)
@pytest.mark.parametrize("dtype", DTYPES + TIMES, ids=str)
def test_numpy_values_survive_the_conversion_to_a_pdu(dtype, shape):
    value = random_array(dtype, shape)
    pdu = spead.heap_from_numpy({"item": value, "scalar": value[()]})
    for converted in spead.heap_to_numpy(pdu).values():
        actual = np.asarray(converted)
        expected = np.asarray(value)
        assert actual.shape == shape
        assert actual.dtype == (expected.dtype if shape else expected[()].dtype)
        assert actual.tobytes() == np.asarray(expected[()]).tobytes()


@pytest.mark.parametrize(
    ("value", "is_type"),
    [
        (np.arange(3, dtype="i8"), pmt.is_s64vector),
        (np.arange(3, dtype=">u2").astype("=u2"), pmt.is_u16vector),
        (np.ones(2, "c8"), pmt.is_c32vector),
        (np.ones(2, "c16"), pmt.is_c64vector),
        (np.float32(1), pmt.is_real),
        (np.uint8(1), pmt.is_uint64),
        (np.int8(-1), pmt.is_integer),
        (np.complex64(1j), pmt.is_complex),
        (np.bool_(True), pmt.is_bool),
        ("text", pmt.is_symbol),
        (np.ones(2, bool), pmt.is_tuple),
        (np.ones((2, 2), "f4"), pmt.is_tuple),
    ],
)
def test_values_have_the_pmts_of_gnuradio(value, is_type):
    pdu = spead.heap_from_numpy({"item": value})
    items = pmt.car(pdu)
    assert is_type(pmt.dict_ref(items, pmt.intern("item"), pmt.PMT_NIL))


def test_empty_bytes_of_numpy_survive_the_conversion_to_a_pdu():
    values = {"item": np.bytes_(b"")}
    assert spead.heap_to_numpy(spead.heap_from_numpy(values)) == values


@pytest.mark.parametrize(
    ("values", "error"),
    [
        ({1: 2}, "item 1: its name must be a string"),
        (
            {"x": np.zeros((), [("long" * 30 + str(i), "u1") for i in range(99)])},
            "item 'x': the dtype .* is too long",
        ),
    ],
    ids=str,
)
def test_items_that_no_pdu_can_hold_are_refused(values, error):
    with pytest.raises(ValueError, match=error):
        spead.heap_from_numpy(values)


@pytest.mark.parametrize("value", [None, {"a": 1}, [object()], [[1], [1, 2]]], ids=str)
def test_what_is_no_number_is_refused(value):
    with pytest.raises(ValueError, match="heap_from_numpy: item 'x': "):
        spead.heap_from_numpy({"x": value})
