# Copyright 2026 The gr-spead authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Descriptors of other senders: samples are exact, or the status says why not."""

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
from gnuradio import spead
from received_streams import (
    Receiving,
    check_whole,
    described_heaps,
    joined,
    packets_by_heap,
    received,
    spead2_packets,
)
from streams import noise

HEAP = 1000
FIRST = 5000
HEADER = "{'descr': '|i1', 'fortran_order': False, 'shape': (1000,)}"
INT8 = {"shape": (HEAP,), "dtype": np.int8}
TIME = descriptor("timestamp", 0x1600, format=[("u", 40)])


def unsigned(bits):
    return {"format": [("u", bits)]}


ITEMS = {"timestamp": (0x1600, unsigned(40)), "adc_samples": (0x3300, INT8)}


def in_heaps(samples, first=0):
    """The timestamp and the samples of each heap."""
    return range(first, first + len(samples), HEAP), samples.reshape(-1, HEAP)


def data_heaps(samples, counter, first=FIRST):
    columns = zip(*in_heaps(samples, first), strict=True)
    return [
        data_heap(counter + i, timestamp, heap_samples)
        for i, (timestamp, heap_samples) in enumerate(columns)
    ]


def received_heaps(heaps, **options):
    return received(joined(spead2_packets(heaps)), **options)


def test_crafted_descriptors_equal_those_of_spead2():
    heap = next(described_heaps({"adc_samples": (0x3300, INT8)}, np.zeros((1, HEAP))))
    (theirs,) = joined(spead2_packets([heap]))
    mine = descriptor("adc_samples", 0x3300, HEADER, shape=(HEAP,))
    begin = 8 + 8 * theirs[7]
    assert theirs[begin : begin + len(mine)] == mine


@pytest.mark.parametrize(
    "header",
    [
        # spead2's C++ tutorials
        "{'shape': (1000,), 'fortran_order': False, 'descr': 'i1'}",
        "{'descr': '<i1', 'fortran_order': False, 'shape': (1000,), }",
        "{'descr': 'uint8', 'fortran_order': False, 'shape': (10, 100)}",
        '{"descr":"B","fortran_order":True,"shape":(1000,1)}',
        "{ 'descr' : '=i1' , 'fortran_order' : False , 'shape' : ( 1000L , ) }\n",
    ],
)
def test_numpy_headers_are_understood(header):
    samples = noise(10 * HEAP)
    descriptors = descriptor_heap([TIME, descriptor("adc_samples", 0x3300, header)], 1)
    packets = [descriptors, *data_heaps(samples, 2), end_of_stream(1000)]
    check_whole(received(packets), samples, FIRST)


@pytest.mark.parametrize("timestamp_id", [0x1600, 0x2000])
@pytest.mark.parametrize("before", [0, 5])
def test_samples_described_before_the_timestamp_wait_for_it(before, timestamp_id):
    """before: heaps of samples between the descriptors"""
    samples = noise(10 * HEAP)
    array = descriptor("adc_samples", 0x3300, format=[("i", 8)], shape=(None,))
    time = descriptor("timestamp", timestamp_id, format=[("u", 40)])
    packets = [
        packet(
            2 + i,
            [immediate(timestamp_id, timestamp), addressed(0x3300, 0)],
            heap.tobytes(),
        )
        for i, (timestamp, heap) in enumerate(
            zip(*in_heaps(samples, FIRST), strict=True)
        )
    ]
    packets.insert(before, descriptor_heap([time], 100))
    packets.insert(0, descriptor_heap([array], 101))
    check_whole(received([*packets, end_of_stream(200)]), samples, FIRST)
    without = [*packets[: 1 + before], *packets[2 + before :], end_of_stream(200)]
    receiving = received(without)
    assert len(receiving.samples()) == 0
    assert f"the packets have {timestamp_id:#06x}, 0x3300" in receiving.stats["status"]


# Sample types


def add_items(group, kind, shape=(HEAP,)):
    """Add a timestamp and samples of a numpy dtype or a SPEAD format."""
    encoding = {"format": kind} if isinstance(kind, list) else {"dtype": np.dtype(kind)}
    group.add_item(0x1600, "timestamp", "", shape=(), **unsigned(40))
    group.add_item(0x3300, "voltages", "", shape=shape, **encoding)


def described_packets(kind, shape=(HEAP,)):
    group = spead2.send.ItemGroup()
    add_items(group, kind, shape)
    return joined(spead2_packets([group.get_heap(descriptors="all", data="none")]))


INTEGERS = {"int8": "i1", "sc8": "i1", "int16": "i2", "sc16": "i2", "int32": "i4"}


def output_samples(payload, dtype, output_type, full_scale):
    numbers = np.frombuffer(payload, dtype)
    if output_type in INTEGERS:
        numbers = numbers.astype(INTEGERS[output_type])
        return numbers.reshape(-1, 2) if output_type in ("sc8", "sc16") else numbers
    with np.errstate(all="ignore"):  # noise has NaN, and more than a float holds
        numbers = (numbers / float(full_scale)).astype(np.float32)
    return numbers.view(np.complex64) if output_type == "complex" else numbers


@pytest.mark.parametrize(
    ("kind", "dtype", "pairs", "output_type", "full_scale"),
    [
        ("i1", "i1", False, "int8", None),
        ([("i", 10)], "i1", False, "int8", None),  # the bytes of packed samples
        ("u1", "u1", False, "int16", None),
        ("<i2", "<i2", False, "int16", None),
        ([("i", 16)], ">i2", False, "int16", None),
        ("<u4", "<u4", False, "int32", None),
        ("i1", "i1", True, "sc8", None),
        ([("i", 16)] * 2, ">i2", False, "sc16", None),
        ("<u2", "<u2", False, "float", 65535),
        (">f8", ">f8", False, "float", 1),
        ([("i", 8)] * 2, "i1", False, "complex", 127),
        ("<f4", "<f4", True, "complex", 1),
        ("<c16", "<f8", False, "complex", 1),
    ],
    ids=str,
)
def test_samples_of_many_types_are_exact(kind, dtype, pairs, output_type, full_scale):
    is_format = isinstance(kind, list)
    bits = sum(n for _, n in kind) if is_format else 8 * np.dtype(kind).itemsize
    payloads = noise(3 * bits * HEAP * (1 + pairs) // 8).reshape(3, -1)
    expected = output_samples(payloads.tobytes(), dtype, output_type, full_scale)
    step = len(expected) // 3
    packets = [
        *described_packets(kind, (HEAP, 2) if pairs else (HEAP,)),
        *(data_heap(2 + i, i * step, payload) for i, payload in enumerate(payloads)),
        end_of_stream(9),
    ]
    check_whole(received(packets, output_type=output_type), expected)


@pytest.mark.parametrize(
    ("kind", "pairs", "output_type"),
    [
        ("<i2", False, "int8"),
        ("i1", True, "int8"),
        ("i1", False, "sc8"),
        ([("i", 14)], False, "int16"),
        ([("u", 12)], False, "int16"),
        (">f4", False, "int32"),
        ("<i8", False, "float"),
        ("<f2", False, "float"),
        ("<c8", False, "float"),
        ("<c8", True, "complex"),
        *((kind, False, "int8") for kind in ("?", "S4", "U1", "i1,i1", "i1,i2")),
        *(([(kind, n)], False, "int8") for kind, n in (("c", 8), ("b", 1))),
        ([("i", 8)] * 3, False, "int8"),
        ([("i", 8), ("i", 16)], False, "int8"),
    ],
    ids=str,
)
def test_samples_of_other_types_are_rejected(kind, pairs, output_type):
    packets = [
        *described_packets(kind, (HEAP, 2) if pairs else (HEAP,)),
        data_heap(2, 0, noise(8 * HEAP)),
        end_of_stream(9),
    ]
    receiving = received(packets, output_type=output_type)
    assert len(receiving.samples()) == 0
    status = receiving.stats["status"]
    assert '"voltages"' in status
    assert "; set it to " in status or "; set items" in status


def received_with_items(kind, output_type, wire_type):
    payload = noise(16 * HEAP)
    packets = [*described_packets(kind), data_heap(2, 0, payload), end_of_stream(9)]
    items = [spead.timestamp(), spead.samples()]
    options = {"output_type": output_type, "wire_type": wire_type, "items": items}
    return payload, received(packets, **options)


@pytest.mark.parametrize(
    ("kind", "output_type", "wire_type"),
    [
        ([("i", 10)], "int16", ">i2"),
        ("<i2", "int16", ">i2"),
        ("u1", "int16", "<i2"),
        (">f4", "int32", ">i4"),
        ("u1", "float", "i1"),
        (">u2", "float", "<i2"),
        ("?", "float", "i1"),
        (">c8", "complex", "<c16"),
    ],
    ids=str,
)
def test_samples_that_contradict_the_items_are_rejected(kind, output_type, wire_type):
    """Regression: packed 10-bit samples were output as noise."""
    _, receiving = received_with_items(kind, output_type, wire_type)
    assert len(receiving.samples()) == 0
    status = receiving.stats["status"]
    assert '"voltages"' in status
    assert f'contradict wire_type "{wire_type}"; set ' in status


@pytest.mark.parametrize(
    ("kind", "output_type", "wire_type", "dtype"),
    [
        ([("i", 10)], "int8", "i1", "i1"),  # bytes
        ("S4", "int16", ">i2", ">i2"),  # unknown
        (">c8", "complex", ">f4", ">f4"),  # the same
    ],
)
def test_samples_that_suit_the_items_are_received(kind, output_type, wire_type, dtype):
    payload, receiving = received_with_items(kind, output_type, wire_type)
    expected = output_samples(payload.tobytes(), dtype, output_type, 1)
    np.testing.assert_allclose(receiving.samples(), expected, rtol=1e-6)


def test_descriptors_that_contradict_the_items_end_the_output():
    """Of a stream that is received without descriptors until then."""
    samples = noise(20 * HEAP)
    packets = data_heaps(samples, 2)
    packed = descriptor("adc_samples", 0x3300, format=[("i", 10)], shape=(HEAP,))
    packets.insert(5, descriptor_heap([packed], 1000))
    items = [spead.timestamp(), spead.samples()]
    receiving = received(
        [*packets, end_of_stream(2000)], output_type="float", scale=1, items=items
    )
    np.testing.assert_array_equal(receiving.samples(), samples[: 5 * HEAP])


def test_samples_of_items_do_not_wait_for_other_descriptors():
    """Those of a heap that is larger than the packet store; a descriptor is lost."""
    samples = noise(2 * 1024**2)
    group = spead2.send.ItemGroup()
    add_items(group, "i1", (len(samples),))
    group["timestamp"].value, group["voltages"].value = 0, samples
    for i in range(200):
        group.add_item(0x4000 + i, f"item {i}", "x" * 20, (), **unsigned(40), value=i)
    heap = group.get_heap(descriptors="all", data="all")
    heap.repeat_pointers = True
    packets = joined(spead2_packets([heap, group.get_end()], 8972))
    del packets[-2]
    items = [spead.timestamp(), spead.samples()]
    check_whole(received(packets, items=items, max_delay=1), samples)


# Timestamps


@pytest.mark.parametrize(
    ("encoding", "first"),
    [
        (unsigned(24), 0x123456),
        (unsigned(48), 0x123456),
        ({"format": [("i", 64)]}, 2**50),
        ({"dtype": np.dtype("<u4")}, 0x123456),
        ({"dtype": np.dtype(">i8")}, 2**50),
    ],
    ids=str,
)
def test_timestamps_of_many_types_are_read_exactly(encoding, first):
    samples = noise(20 * HEAP)
    items = ITEMS | {"timestamp": (0x1600, encoding)}
    heaps = described_heaps(items, *in_heaps(samples, first))
    check_whole(received_heaps(heaps), samples, first)


@pytest.mark.parametrize("values", [range(10), [7, 3, 9, 1, 2, 2, 8, 6, 0, 4]])
def test_a_lone_scalar_is_not_taken_for_the_timestamp(values):
    samples = noise(10 * HEAP)
    items = {"gain": (0x3102, unsigned(40)), "adc_samples": (0x3300, INT8)}
    heaps = described_heaps(items, values, samples.reshape(-1, HEAP))
    receiving = received_heaps(heaps)
    np.testing.assert_array_equal(receiving.samples(), samples)
    assert receiving.stats["samples_missing"] == 0
    changes = [i for i in range(10) if i == 0 or values[i] != values[i - 1]]
    assert receiving.tags("gain") == [(i * HEAP, values[i]) for i in changes]


def test_another_array_may_be_described_before_the_samples():
    """In a heap of its own; no heap holds it."""
    samples = noise(10 * HEAP)
    weights = descriptor("weights", 0x3400, format=[("i", 8)], shape=(HEAP,))
    array = descriptor("adc_samples", 0x3300, HEADER, shape=(HEAP,))
    descriptors = [descriptor_heap([weights], 1), descriptor_heap([TIME, array], 2)]
    packets = [*descriptors, *data_heaps(samples, 3), end_of_stream(13)]
    check_whole(received(packets), samples, FIRST)


def test_tags_have_negative_values():
    values = [-2048, -1, 0, 2047]
    items = {"offset": (0x3102, {"shape": (), "dtype": "i2"})} | ITEMS
    columns = in_heaps(noise(4 * HEAP), FIRST)
    receiving = received_heaps(described_heaps(items, values, *columns))
    assert receiving.tags("offset") == [(i * HEAP, v) for i, v in enumerate(values)]


def test_a_timestamp_with_another_id_is_found_by_its_name():
    samples = noise(10 * HEAP)
    items = {"Timestamp": (0x1234, unsigned(40)), "adc_samples": (0x4300, INT8)}
    heaps = described_heaps(items, *in_heaps(samples, FIRST))
    check_whole(received_heaps(heaps), samples, FIRST)


# Descriptors during a stream


@pytest.mark.parametrize(
    ("id", "name", "value"),
    [
        (0x4000, "weights", np.zeros(16, np.float32)),
        (0x2000, "data", np.zeros((2, 8), np.int16)),
        (0x4000, "gain", np.uint32(0)),
    ],
)
def test_an_item_added_later_does_not_affect_the_stream(id, name, value):
    samples = noise(20 * HEAP)
    heaps = packets_by_heap(samples)
    group = spead2.send.ItemGroup()
    group.add_item(id, name, "", value.shape, value.dtype, value=value)
    heaps[5:5] = spead2_packets([group.get_heap()], counter=600)
    check_whole(received(joined(heaps)), samples)


def test_new_descriptors_do_not_affect_an_unfinished_heap():
    """Regression: four such datagrams crashed the process."""
    heap = 20000
    samples = noise(10 * heap)
    heaps = packets_by_heap(samples, heap)
    group = spead2.send.ItemGroup()
    for i in range(30):
        group.add_item(0x5000 + i, f"more {i}", "", (), **unsigned(40), value=i)
    descriptors = joined(spead2_packets([group.get_heap()], 8972, counter=700))
    unfinished = packet(5, [immediate(0x5000 + 25, 9)], b"", 1400, heap)
    heaps[4][1:1] = [*descriptors, unfinished]
    receiving = received(joined(heaps))
    np.testing.assert_array_equal(receiving.samples(), samples)


@pytest.mark.parametrize("dtype", [np.float32, np.int16])
def test_samples_that_change_to_an_unsuitable_type_are_rejected(dtype):
    """They must not be output as samples of the previous type."""
    samples = noise(5 * HEAP)
    *before, _ = described_heaps(ITEMS, *in_heaps(samples))
    items = ITEMS | {"adc_samples": (0x3300, {"shape": (HEAP,), "dtype": dtype})}
    after = described_heaps(items, *in_heaps(np.zeros(10 * HEAP, dtype), 5 * HEAP))
    receiving = received_heaps([*before, *after])
    np.testing.assert_array_equal(receiving.samples(), samples)
    assert receiving.stats["samples_received"] == len(samples)


@pytest.mark.parametrize("again", [0, 2], ids=["descriptors", "heap"])
def test_what_was_sent_before_a_change_of_byte_order_does_not_follow_it(again):
    """Packets of the network are reordered or duplicated."""
    samples = noise(4000).view(np.int16).reshape(20, 100)
    packets = []
    for i, order in enumerate("><"):
        header = f"{{'descr': '{order}i2', 'fortran_order': False, 'shape': (100,)}}"
        array = descriptor("samples", 0x3300, header)
        packets.append(descriptor_heap([TIME, array], 1 + 20 * i))
        for k in range(10):
            heap = samples[10 * i + k].astype(order + "i2")
            packets.append(data_heap(2 + 20 * i + k, 100 * (10 * i + k), heap))
    packets.insert(13, packets[again])  # after the first heap of the new byte order
    with Receiving(output_type="int16") as receiving:
        receiving.send_packets(packets)
        receiving.wait_for_samples(2000)
    np.testing.assert_array_equal(receiving.samples(), samples.ravel())


@pytest.mark.parametrize(
    "bugs",
    [
        spead2.BUG_COMPAT_DESCRIPTOR_WIDTHS,
        spead2.BUG_COMPAT_SHAPE_BIT_1,
        spead2.BUG_COMPAT_PYSPEAD_0_5_2,
    ],
)
@pytest.mark.parametrize("encoding", [INT8, {"shape": (None,), "format": [("i", 8)]}])
def test_descriptors_with_pyspead_bugs_are_understood(bugs, encoding):
    samples = noise(10 * HEAP)
    items = ITEMS | {"adc_samples": (0x3300, encoding)}
    heaps = described_heaps(items, *in_heaps(samples, FIRST), bugs=bugs)
    check_whole(received_heaps(heaps), samples, FIRST)
