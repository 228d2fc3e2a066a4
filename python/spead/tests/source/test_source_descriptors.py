# Copyright 2026 The gr-spead authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Descriptors of any sender: samples arrive exactly, or are refused with a sentence."""

import numpy as np
import pytest
import spead2
import spead2.send
from crafted_packets import (
    addressed,
    data_heap,
    descriptor,
    descriptor_heap,
    end_of_stream,
    immediate,
    packet,
)
from received_streams import Receiving, joined, spead2_packets
from streams import noise

HEAP = 1000
HEAPS = 10


def received_with(descriptors, samples, output_type="int8", bits=40):
    """A finished flow graph that got a heap of descriptors, and heaps of samples."""
    packets = [descriptor_heap(descriptors, 1, bits)]
    for i in range(0, len(samples), HEAP):
        part = samples[i : i + HEAP]
        packets.append(data_heap(2 + i // HEAP, 5000 + i, part, bits))
    packets.append(end_of_stream(1000, bits))
    with Receiving(output_type=output_type) as receiving:
        receiving.send_packets(packets)
        receiving.wait()
    return receiving


def check_all_arrived(receiving, samples, first=5000):
    np.testing.assert_array_equal(receiving.samples(), samples)
    assert receiving.tags("timestamp") == [(0, first)]
    assert receiving.stats["samples_missing"] == 0
    assert receiving.stats["samples_duplicate"] == 0
    assert receiving.stats["status"] == ""


# Headers


# As spead2's C++ tutorials 2, 4, 5, 6, 8, 10 and 11 write it
TUTORIAL_HEADER = "{'shape': (1000,), 'fortran_order': False, 'descr': 'i1'}"


@pytest.mark.parametrize("bits", [40, 48])
def test_the_descriptors_of_the_tutorials_of_spead2_are_understood(bits):
    samples = noise(HEAPS * HEAP)
    receiving = received_with(
        [
            descriptor("timestamp", 0x1600, format=[("u", bits)], bits=bits),
            descriptor("adc_samples", 0x3300, TUTORIAL_HEADER, bits=bits),
        ],
        samples,
        bits=bits,
    )
    check_all_arrived(receiving, samples)


@pytest.mark.parametrize(
    "header",
    [
        "{'descr': 'i1', 'fortran_order': False, 'shape': (1000,)}",
        "{'descr': '|i1', 'fortran_order': False, 'shape': (1000,), }",
        "{'descr': '<i1', 'fortran_order': False, 'shape': (1000,)}",
        "{'descr': '>i1', 'fortran_order': False, 'shape': (1000,)}",
        "{'descr': '=i1', 'fortran_order': False, 'shape': (1000,)}",
        "{'descr': 'b', 'fortran_order': False, 'shape': (1000,)}",
        "{'descr': 'int8', 'fortran_order': False, 'shape': (1000,)}",
        "{'descr': 'u1', 'fortran_order': False, 'shape': (1000,)}",
        "{'descr': 'B', 'fortran_order': False, 'shape': (1000,)}",
        "{'descr': 'uint8', 'fortran_order': False, 'shape': (1000,)}",
        "{'shape': (1000,), 'descr': 'i1', 'fortran_order': False}",
        "{'fortran_order': False, 'shape': (1000,), 'descr': 'i1'}",
        '{"descr": "i1", "fortran_order": False, "shape": (1000,)}',
        '{"shape":(1000,),"fortran_order":False,"descr":"|i1"}',
        "{ 'descr' : 'i1' , 'fortran_order' : False , 'shape' : ( 1000 , ) }\n",
        "{'descr': 'i1', 'fortran_order': True, 'shape': (1000,)}",
        "{'descr': 'i1', 'fortran_order': True, 'shape': (1000, 1)}",
        "{'descr': 'i1', 'fortran_order': False, 'shape': (10, 100)}",
        "{'descr': 'i1', 'fortran_order': False, 'shape': (1000L,)}",
    ],
)
def test_every_way_to_write_a_header_of_bytes_is_understood(header):
    samples = noise(HEAPS * HEAP)
    receiving = received_with(
        [
            descriptor("timestamp", 0x1600, format=[("u", 40)]),
            descriptor("adc_samples", 0x3300, header),
        ],
        samples,
    )
    check_all_arrived(receiving, samples)


@pytest.mark.parametrize("quote", ["'", '"'])
@pytest.mark.parametrize(
    ("descr", "order"),
    [
        ("i2", "="),
        ("=i2", "="),
        ("h", "="),
        ("int16", "="),
        ("u2", "="),
        ("H", "="),
        ("<i2", "<"),
        ("<h", "<"),
        (">i2", ">"),
        (">h", ">"),
        (">u2", ">"),
    ],
)
def test_every_way_to_write_a_header_of_words_is_understood(descr, order, quote):
    words = noise(2 * HEAPS * HEAP).view(np.int16)
    header = f"{{'descr': '{descr}', 'fortran_order': False, 'shape': (1000,)}}"
    receiving = received_with(
        [
            descriptor("timestamp", 0x1600, format=[("u", 40)]),
            descriptor("adc_samples", 0x3300, header.replace("'", quote)),
        ],
        words.astype(np.dtype("i2").newbyteorder(order)),
        "int16",
    )
    check_all_arrived(receiving, words)


@pytest.mark.parametrize(
    "header",
    [
        "{'descr': 'i1', 'fortran_order': True, 'shape': (500, 2)}",
        "{'descr': 'i1', 'fortran_order': True, 'shape': (10, 100)}",
        "{'descr': [('re', 'i1'), ('im', 'i1')], 'fortran_order': False,"
        " 'shape': (500,)}",
        "{'descr': 'x9', 'fortran_order': False, 'shape': (1000,)}",
        "{'descr': 'S1', 'fortran_order': False, 'shape': (1000,)}",
        "{'descr': 'M8[us]', 'fortran_order': False, 'shape': (125,)}",
        "{'descr': '|V4', 'fortran_order': False, 'shape': (250,)}",
        "{'fortran_order': False, 'shape': (1000,)}",
        "{'descr': 'i1",
        "garbage",
    ],
)
def test_a_header_of_anything_else_is_refused_with_a_sentence(header):
    receiving = received_with(
        [
            descriptor("timestamp", 0x1600, format=[("u", 40)]),
            descriptor("adc_samples", 0x3300, header),
        ],
        noise(HEAPS * HEAP),
    )
    assert len(receiving.samples()) == 0
    assert "descriptor" in receiving.stats["status"]


# Each type of spead2's sender for each output

NUMBERS = ["i1", "u1"] + [
    order + each
    for each in ("i2", "u2", "i4", "u4", "i8", "u8", "f2", "f4", "f8", "c8", "c16")
    for order in "<>"
]
DTYPES = [*NUMBERS, "?", "S1", "S4", "U1", "i1,i1", ">i2,>i2", "i1,i2"]
FORMATS = [
    *[[(kind, bits)] for kind in "iu" for bits in (8, 10, 12, 16, 24, 32, 64)],
    [("f", 32)],
    [("f", 64)],
    [("c", 8)],
    [("b", 8)],
    [("b", 1)],
    [("i", 8), ("i", 8)],
    [("i", 16), ("i", 16)],
    [("u", 8), ("u", 8)],
    [("i", 8), ("i", 16)],
    [("i", 8), ("i", 8), ("i", 8)],
]
OUTPUTS = ["int8", "sc8", "int16", "sc16", "float", "complex"]


def values_of(kind, shape, seed=3):
    """Random numbers that spead2 sends as this dtype or format."""
    random = np.random.default_rng(seed)
    n = int(np.prod(shape))
    if isinstance(kind, list):
        fields = []
        for letter, bits in kind:
            if letter == "f":
                fields.append(random.normal(size=n))
            elif letter == "c":
                fields.append(np.frombuffer(b"abcdefgh" * n, "S1")[:n])
            elif letter == "b":
                fields.append(random.integers(0, 2, n).astype(bool))
            else:
                low = -(2 ** (bits - 1)) if letter == "i" else 0
                high = 2 ** (bits - (letter == "i"))
                fields.append(
                    random.integers(
                        low,
                        high,
                        n,
                        dtype=np.int64 if letter == "i" else np.uint64,
                    )
                )
        if len(fields) == 1:
            return fields[0].reshape(shape)
        elements = np.empty(n, object)
        elements[:] = list(zip(*[each.tolist() for each in fields], strict=True))
        return elements.reshape(shape)
    dtype = np.dtype(kind)
    if dtype.kind in "SU":
        return np.full(shape, "abcd"[: dtype.itemsize], dtype)
    if dtype.kind == "b":
        return random.integers(0, 2, shape).astype(bool)
    if dtype.kind in "fc":
        return random.normal(size=shape).astype(dtype)
    raw = random.integers(0, 256, n * dtype.itemsize, dtype=np.uint8)
    return raw.view(dtype).reshape(shape)


def layout(kind):
    """Type, bits and fields of an element, or None if it is not of one kind."""
    if isinstance(kind, list):
        return (*kind[0], len(kind)) if len(set(kind)) == 1 else None
    dtype = np.dtype(kind)
    return None if dtype.fields else (dtype.kind, 8 * dtype.itemsize, 1)


def suits(kind, pairs, output_type):
    """Whether the manual says that an output takes samples of this type."""
    if layout(kind) is None:
        return False
    letter, bits, fields = layout(kind)
    if fields > 2:
        return False
    is_complex = output_type in ("sc8", "sc16", "complex")
    if letter not in "iu" or (pairs or fields == 2) != is_complex:
        return False
    if output_type in ("float", "complex"):
        return letter == "i" and bits in (8, 16)
    if output_type.endswith("16"):
        return bits == 16
    return bits == 8 or (output_type == "int8" and bits != 16)


def expected(payload, kind, output_type):
    """The samples that an output gets of the bytes that were sent."""
    _, bits, _ = layout(kind)
    if output_type in ("int8", "sc8") or bits == 8:
        numbers = np.frombuffer(payload, np.int8)
    else:
        order = ">" if isinstance(kind, list) else np.dtype(kind).byteorder
        numbers = np.frombuffer(payload, np.dtype("i2").newbyteorder(order))
    if output_type == "float":
        return numbers / np.float32(2 ** (bits - 1) - 1)
    if output_type == "complex":
        return (numbers / np.float32(2 ** (bits - 1) - 1)).view(np.complex64)
    return numbers.reshape(-1, 2) if output_type in ("sc8", "sc16") else numbers


def spead2_stream(kind, pairs, output_type):
    """The heaps of spead2's sender, and the bytes of their samples."""
    shape = (HEAP, 2) if pairs else (HEAP,)
    group = spead2.send.ItemGroup(flavour=spead2.Flavour(4, 64, 48))
    group.add_item(0x1600, "timestamp", "", shape=(), format=[("u", 48)])
    how = {"format": kind} if isinstance(kind, list) else {"dtype": np.dtype(kind)}
    group.add_item(0x3300, "voltages", "", shape=shape, **how)
    heaps, payloads, ticks = [], [], 0
    for i in range(3):
        group["timestamp"].value = ticks
        group["voltages"].value = values_of(kind, shape, seed=i)
        payload = bytes(memoryview(group["voltages"].to_buffer()).cast("B"))
        heaps.append(group.get_heap(descriptors="stale", data="all"))
        payloads.append(payload)
        # ticks are samples of the output, which are bytes for odd sizes
        is_suitable = suits(kind, pairs, output_type)
        ticks += len(expected(payload, kind, output_type)) if is_suitable else HEAP
    return [*heaps, group.get_end()], b"".join(payloads)


@pytest.mark.parametrize("output_type", OUTPUTS)
@pytest.mark.parametrize("pairs", [False, True], ids=["real", "pairs"])
@pytest.mark.parametrize("kind", [*DTYPES, *FORMATS], ids=str)
def test_samples_of_each_type_arrive_exactly_or_are_refused(kind, pairs, output_type):
    heaps, payload = spead2_stream(kind, pairs, output_type)
    with Receiving(output_type=output_type) as receiving:
        receiving.send_heaps(heaps)
        receiving.wait()
    stats = receiving.stats
    if suits(kind, pairs, output_type):
        np.testing.assert_allclose(
            receiving.samples(),
            expected(payload, kind, output_type),
            rtol=1e-6,
            atol=0,
        )
        assert stats["status"] == ""
        assert stats["samples_missing"] == stats["samples_duplicate"] == 0
    else:
        assert len(receiving.samples()) == 0
        assert '"voltages"' in stats["status"]
        assert "; set it to " in stats["status"] or "; give items" in stats["status"]


# Timestamps

TIMESTAMPS = [
    *[{"format": [("u", bits)]} for bits in (24, 32, 40, 48, 64)],
    *[{"format": [("i", bits)]} for bits in (32, 48, 64)],
    *[{"dtype": np.dtype(each)} for each in ("<u4", ">u4", "<u8", ">u8")],
    *[{"dtype": np.dtype(each)} for each in ("<i4", ">i4", "<i8", ">i8")],
]


@pytest.mark.parametrize("bits", [40, 48])
@pytest.mark.parametrize(
    "how", TIMESTAMPS, ids=lambda how: str(next(iter(how.values())))
)
def test_a_timestamp_of_each_type_is_read_exactly(how, bits):
    first = 0x123456
    samples = noise(20 * HEAP)
    group = spead2.send.ItemGroup(flavour=spead2.Flavour(4, 64, bits))
    group.add_item(0x1600, "timestamp", "", shape=(), **how)
    group.add_item(0x3300, "adc_samples", "", shape=(HEAP,), dtype=np.int8)
    heaps = []
    for at in range(0, len(samples), HEAP):
        group["timestamp"].value = first + at
        group["adc_samples"].value = samples[at : at + HEAP]
        heaps.append(group.get_heap())
    with Receiving() as receiving:
        receiving.send_heaps([*heaps, group.get_end()])
        receiving.wait()
    check_all_arrived(receiving, samples, first)


def received_with_descriptors_behind(samples, heap):
    """A source that has received timestamps described behind the samples."""
    group = spead2.send.ItemGroup()
    group.add_item(0x3300, "adc_samples", "", shape=(heap,), dtype=np.int8)
    group.add_item(0x1600, "timestamp", "", shape=(), format=[("u", 40)])
    heaps = []
    for at in range(0, len(samples), heap):
        group["adc_samples"].value = samples[at : at + heap]
        group["timestamp"].value = 7000 + at
        heaps.append(group.get_heap())
    with Receiving() as receiving:
        receiving.send_heaps([*heaps, group.get_end()])
        receiving.wait()
    return receiving


@pytest.mark.parametrize("heap", [100 * 1024, 600 * 1024])
def test_a_timestamp_described_behind_the_samples_is_found(heap):
    samples = noise(4 * heap)
    receiving = received_with_descriptors_behind(samples, heap)
    check_all_arrived(receiving, samples, 7000)


def test_descriptors_behind_more_than_is_kept_cost_their_heap_only():
    heap = 2 * 1024 * 1024
    samples = noise(3 * heap)
    receiving = received_with_descriptors_behind(samples, heap)
    check_all_arrived(receiving, samples[heap:], 7000 + heap)


@pytest.mark.parametrize(
    "values", [[5] * 10, range(10), [7, 3, 9, 1, 2, 2, 8, 6, 0, 4]]
)
def test_a_lone_scalar_is_not_taken_for_the_timestamp(values):
    samples = noise(HEAPS * HEAP)
    group = spead2.send.ItemGroup()
    group.add_item(0x3102, "gain", "", shape=(), format=[("u", 40)])
    group.add_item(0x3300, "adc_samples", "", shape=(HEAP,), dtype=np.int8)
    heaps = []
    for i, value in enumerate(values):
        group["gain"].value = value
        group["adc_samples"].value = samples[i * HEAP : (i + 1) * HEAP]
        heaps.append(group.get_heap())
    with Receiving() as receiving:
        receiving.send_heaps([*heaps, group.get_end()])
        receiving.wait()
    np.testing.assert_array_equal(receiving.samples(), samples)
    assert receiving.stats["samples_missing"] == 0
    assert receiving.stats["samples_duplicate"] == 0
    changes = [i for i in range(10) if i == 0 or values[i] != values[i - 1]]
    assert receiving.tags("gain") == [(i * HEAP, values[i]) for i in changes]


def test_a_timestamp_of_another_id_is_found_by_its_name():
    samples = noise(HEAPS * HEAP)
    group = spead2.send.ItemGroup()
    group.add_item(0x1234, "Timestamp", "", shape=(), format=[("u", 40)])
    group.add_item(0x4300, "adc_samples", "", shape=(HEAP,), dtype=np.int8)
    heaps = []
    for at in range(0, len(samples), HEAP):
        group["Timestamp"].value = 9000 + at
        group["adc_samples"].value = samples[at : at + HEAP]
        heaps.append(group.get_heap())
    with Receiving() as receiving:
        receiving.send_heaps([*heaps, group.get_end()])
        receiving.wait()
    check_all_arrived(receiving, samples, 9000)


# Descriptors that come later


def stream_with_later_item(later):
    """Heaps of spead2; after five of them, later(group) adds an item."""
    samples = noise(20 * HEAP)
    group = spead2.send.ItemGroup()
    group.add_item(0x1600, "timestamp", "", shape=(), format=[("u", 40)])
    group.add_item(0x3300, "adc_samples", "", shape=(HEAP,), dtype=np.int8)
    heaps = []
    for i in range(20):
        if i == 5:
            later(group)
        group["timestamp"].value = 5000 + i * HEAP
        group["adc_samples"].value = samples[i * HEAP : (i + 1) * HEAP]
        heaps.append(group.get_heap())  # the new descriptors alone
    return samples, [*heaps, group.get_end()]


@pytest.mark.parametrize(
    "item",
    [
        {"id": 0x4000, "name": "weights", "shape": (16,), "dtype": np.float32},
        {"id": 0x4000, "name": "more_samples", "shape": (16,), "dtype": np.int8},
        {"id": 0x2000, "name": "data", "shape": (2, 8), "dtype": np.int16},
        {"id": 0x4000, "name": "gain", "shape": (), "dtype": np.uint32},
        {"id": 0x4000, "name": "comment", "shape": (None,), "format": [("c", 8)]},
    ],
    ids=lambda item: item["name"],
)
def test_an_item_that_is_added_later_leaves_the_stream_alone(item):
    def add(group):
        text = item["name"] == "comment"
        value = "text" if text else np.zeros(item["shape"], item["dtype"])
        group.add_item(description="", value=value, **item)

    samples, heaps = stream_with_later_item(add)
    with Receiving() as receiving:
        receiving.send_heaps(heaps)
        receiving.wait()
    check_all_arrived(receiving, samples)
    assert receiving.stats["discontinuities"] == 0


def test_heaps_that_are_open_survive_a_descriptor_of_another_item():
    """Of items in a later heap, behind an unfinished one."""
    samples = noise(40 * 1024)
    start = descriptor_heap(
        [
            descriptor("timestamp", 0x1600, format=[("u", 40)]),
            descriptor("adc_samples", 0x3300, TUTORIAL_HEADER),
        ],
        1,
    )
    usual = [immediate(0x1600, 0), addressed(0x3300, 0)]
    first = packet(2, usual, samples[:1024].tobytes(), 0, 20480)
    rest = packet(2, [], samples[1024:20480].tobytes(), 1024, 20480)
    more = descriptor_heap(
        [descriptor(f"status_{i}", 0x3400 + i, format=[("u", 40)]) for i in range(20)],
        50,
    )
    unfinished = packet(2, [immediate(0x3410, 5)], b"", 1024, 20480)
    after = data_heap(3, 20480, samples[20480:])
    with Receiving() as receiving:
        receiving.send_packets([start, first, more, unfinished, rest, after])
        receiving.send_packets([end_of_stream(99)])
        receiving.wait()
    np.testing.assert_array_equal(receiving.samples(), samples)
    assert receiving.stats["samples_missing"] == 0


@pytest.mark.parametrize("dtype", [np.float32, np.int16, "i1,i1"], ids=str)
def test_samples_of_a_type_that_becomes_unsuitable_are_refused(dtype):
    """They must not come out as if they were of the type before."""
    samples = noise(5 * HEAP)
    before = spead2.send.ItemGroup()
    after = spead2.send.ItemGroup()
    for group, kind in ((before, np.int8), (after, dtype)):
        group.add_item(0x1600, "timestamp", "", shape=(), format=[("u", 40)])
        group.add_item(0x3300, "adc_samples", "", shape=(HEAP,), dtype=np.dtype(kind))
    heaps = []
    for i in range(15):
        group = before if i < 5 else after
        group["timestamp"].value = i * HEAP
        part = samples[i * HEAP : (i + 1) * HEAP] if i < 5 else np.zeros(HEAP, dtype)
        group["adc_samples"].value = part
        heaps.append(group.get_heap())
    with Receiving() as receiving:
        receiving.send_heaps([*heaps, after.get_end()])
        receiving.wait()
    np.testing.assert_array_equal(receiving.samples(), samples)
    assert receiving.stats["samples_received"] == len(samples)


def test_samples_of_another_byte_order_begin_a_new_stream():
    words = noise(20 * HEAP).view(np.int16)
    heaps = []
    for i, order in enumerate("<>"):
        group = spead2.send.ItemGroup()
        group.add_item(0x1600, "timestamp", "", shape=(), format=[("u", 40)])
        dtype = np.dtype(order + "i2")
        group.add_item(0x3300, "adc_samples", "", shape=(HEAP,), dtype=dtype)
        for at in range(5 * i * HEAP, 5 * (i + 1) * HEAP, HEAP):
            group["timestamp"].value = at
            group["adc_samples"].value = words[at : at + HEAP].astype(dtype)
            heaps.append(group.get_heap())
    with Receiving(output_type="int16") as receiving:
        receiving.send_heaps([*heaps, group.get_end()])
        receiving.wait()
    np.testing.assert_array_equal(receiving.samples(), words)


# PySPEAD


@pytest.mark.parametrize("bits", [40, 48])
@pytest.mark.parametrize(
    "bugs",
    [
        spead2.BUG_COMPAT_DESCRIPTOR_WIDTHS,
        spead2.BUG_COMPAT_SHAPE_BIT_1,
        spead2.BUG_COMPAT_DESCRIPTOR_WIDTHS | spead2.BUG_COMPAT_SHAPE_BIT_1,
        spead2.BUG_COMPAT_PYSPEAD_0_5_2,
    ],
)
@pytest.mark.parametrize("variable", [False, True])
def test_descriptors_with_the_bugs_of_pyspead_are_understood(bugs, bits, variable):
    samples = noise(HEAPS * HEAP)
    group = spead2.send.ItemGroup(flavour=spead2.Flavour(4, 64, bits, bugs))
    group.add_item(0x1600, "timestamp", "", shape=(), format=[("u", bits)])
    if variable:
        how = {"shape": (None,), "format": [("i", 8)]}
    else:
        how = {"shape": (HEAP,), "dtype": np.int8}
    group.add_item(0x3300, "adc_samples", "", **how)
    heaps = []
    for at in range(0, len(samples), HEAP):
        group["timestamp"].value = 5000 + at
        group["adc_samples"].value = samples[at : at + HEAP]
        heaps.append(group.get_heap())
    with Receiving() as receiving:
        receiving.send_heaps([*heaps, group.get_end()])
        receiving.wait()
    check_all_arrived(receiving, samples)


@pytest.mark.parametrize("step", [None, 500])
def test_a_damaged_descriptor_harms_nothing(step):
    """Each of its bytes wrong, or cut."""
    samples = noise(200 * HEAP)
    good = descriptor("adc_samples", 0x3300, TUTORIAL_HEADER)
    packets = [
        descriptor_heap([descriptor("timestamp", 0x1600, format=[("u", 40)]), good], 1)
    ]
    for i in range(200):
        bad = bytearray(good)
        if step is None:
            bad = bad[: i % len(bad)] or b"x"
        else:
            bad[(8 + i) % len(bad)] ^= 0x55
            bad[8 + 8 * 4 + 1 : 8 + 8 * 5] = immediate(0x14, 0x5000 + i)[1:]
        packets.append(descriptor_heap([bytes(bad)], 10 + 2 * i))
        part = samples[i * HEAP : (i + 1) * HEAP]
        packets.append(data_heap(11 + 2 * i, 5000 + i * HEAP, part))
    with Receiving() as receiving:
        receiving.send_packets([*packets, end_of_stream(1000)])
        receiving.wait()
    check_all_arrived(receiving, samples)


def test_crafted_descriptors_are_those_of_spead2():
    group = spead2.send.ItemGroup()
    group.add_item(0x3300, "adc_samples", "", shape=(HEAP,), dtype=np.int8)
    heap = group.get_heap(descriptors="all", data="none")
    (theirs,) = joined(spead2_packets([heap]))
    header = "{'descr': '|i1', 'fortran_order': False, 'shape': (1000,)}"
    mine = descriptor("adc_samples", 0x3300, header, shape=(HEAP,))
    assert theirs[8 + 8 * theirs[7] :] == mine
