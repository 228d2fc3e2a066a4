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


def unsigned(bits):
    return {"format": [("u", bits)]}


ITEMS = {"timestamp": (0x1600, unsigned(40)), "adc_samples": (0x3300, INT8)}


def in_heaps(samples, first=0):
    """The timestamp and the samples of each heap."""
    return range(first, first + len(samples), HEAP), samples.reshape(-1, HEAP)


def received_heaps(heaps, **options):
    return received(joined(spead2_packets(heaps)), **options)


def received_with(numpy_header, samples, output_type="int8", bits=40):
    """Receive heaps of samples that this numpy header describes."""
    time = descriptor("timestamp", 0x1600, format=[("u", bits)], bits=bits)
    about = descriptor("adc_samples", 0x3300, numpy_header, bits=bits)
    packets = [descriptor_heap([time, about], 1, bits)]
    for i, (at, part) in enumerate(zip(*in_heaps(samples, FIRST), strict=True)):
        packets.append(data_heap(2 + i, at, part, bits))
    packets.append(end_of_stream(1000, bits))
    return received(packets, output_type=output_type)


def test_crafted_descriptors_equal_those_of_spead2():
    heap = next(described_heaps({"adc_samples": (0x3300, INT8)}, np.zeros((1, HEAP))))
    (theirs,) = joined(spead2_packets([heap]))
    mine = descriptor("adc_samples", 0x3300, HEADER, shape=(HEAP,))
    begin = 8 + 8 * theirs[7]
    assert theirs[begin : begin + len(mine)] == mine


@pytest.mark.parametrize("bits", [40, 48])
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
def test_numpy_headers_of_8_bit_samples_are_understood(header, bits):
    samples = noise(10 * HEAP)
    check_whole(received_with(header, samples, bits=bits), samples, FIRST)


@pytest.mark.parametrize("descr", ["i2", "h", "int16", "<i2", ">i2", "=u2", ">u2"])
def test_numpy_headers_of_16_bit_samples_are_understood(descr):
    words = noise(20 * HEAP).view(np.int16)
    header = f"{{'descr': '{descr}', 'fortran_order': False, 'shape': (1000,)}}"
    order = descr[0] if descr[0] in "<>" else "="
    sent = words.astype(np.dtype("i2").newbyteorder(order))
    check_whole(received_with(header, sent, "int16"), words, FIRST)


@pytest.mark.parametrize(
    "header",
    [
        "{'descr': 'i1', 'fortran_order': True, 'shape': (500, 2)}",
        "{'descr': [('re', 'i1'), ('im', 'i1')], 'fortran_order': False,"
        " 'shape': (500,)}",
        "{'descr': 'M8[us]', 'fortran_order': False, 'shape': (125,)}",
        "{'fortran_order': False, 'shape': (1000,)}",
        "{'descr': 'i1",
    ],
)
def test_unsupported_numpy_headers_are_rejected(header):
    receiving = received_with(header, noise(10 * HEAP))
    assert len(receiving.samples()) == 0
    assert "descriptor" in receiving.stats["status"]


@pytest.mark.parametrize("timestamp_id", [0x1600, 0x2000])
@pytest.mark.parametrize("before", [0, 1, 5])
def test_samples_described_before_the_timestamp_wait_for_it(before, timestamp_id):
    """before: heaps of samples between the descriptors"""
    samples = noise(10 * HEAP)
    about = descriptor("adc_samples", 0x3300, format=[("i", 8)], shape=(None,))
    time = descriptor("timestamp", timestamp_id, format=[("u", 40)])
    packets = [
        packet(
            2 + i,
            [immediate(timestamp_id, at), addressed(0x3300, 0)],
            part.tobytes(),
        )
        for i, (at, part) in enumerate(zip(*in_heaps(samples, FIRST), strict=True))
    ]
    packets.insert(before, descriptor_heap([time], 100))
    packets.insert(0, descriptor_heap([about], 101))
    check_whole(received([*packets, end_of_stream(200)]), samples, FIRST)
    without = [*packets[: 1 + before], *packets[2 + before :], end_of_stream(200)]
    receiving = received(without)
    assert len(receiving.samples()) == 0
    assert f"the packets have {timestamp_id:#06x}, 0x3300" in receiving.stats["status"]


# Sample types

KINDS = [  # numpy dtypes, and SPEAD formats: (type, bits) of each field
    *("i1", "u1", "<i2", ">i2", "<u2", ">u2", "<i4", ">i4", "<u4", ">u4", "<i8", ">u8"),
    *("<f2", "<f4", ">f4", "<f8", ">f8", "<c8", ">c8", "<c16", ">c16"),
    *("?", "S4", "U1", "i1,i1", "i1,i2"),
    *([(kind, bits)] for kind in "iu" for bits in (8, 10, 12, 16, 32)),
    *([("f", 32)], [("f", 64)], [("c", 8)], [("b", 1)]),
    *([("i", 8)] * 2, [("i", 16)] * 2, [("u", 8)] * 2, [("f", 32)] * 2, [("i", 8)] * 3),
    [("i", 8), ("i", 16)],
]
WIDTHS = {"int8": 8, "sc8": 8, "int16": 16, "sc16": 16, "int32": 32}
OUTPUTS = [*WIDTHS, "float", "complex"]


def layout(kind):
    """Type, bits, byte order and number of equal fields of an element."""
    if isinstance(kind, list):
        is_uniform = len(set(kind)) == 1
        return (*kind[0], ">", len(kind)) if is_uniform else ("V", 24, ">", 1)
    dtype = np.dtype(kind)
    return dtype.kind, 8 * dtype.itemsize, dtype.byteorder, 1


def suits(kind, pairs, output_type):
    """Whether the manual lists this sample type for this output type."""
    letter, bits, _, fields = layout(kind)
    has_complex_numbers = letter == "c" and bits >= 64
    are_pairs = pairs or fields == 2
    if fields > 2 or (has_complex_numbers and are_pairs):
        return False
    if (has_complex_numbers or are_pairs) != (
        output_type in ("sc8", "sc16", "complex")
    ):
        return False
    if output_type not in WIDTHS:
        return (
            has_complex_numbers
            or (letter in "iu" and bits in (8, 16, 32))
            or (letter == "f" and bits in (32, 64))
        )
    if letter not in "iu":
        return False
    if bits in (8, 16, 32):
        return bits <= WIDTHS[output_type]
    return output_type == "int8"


def expected(payload, kind, output_type):
    """The output samples for these payload bytes."""
    letter, bits, order, _ = layout(kind)
    if output_type == "int8":
        return np.frombuffer(payload, np.int8)
    if letter == "c":
        letter, bits = "f", bits // 2
    numbers = np.frombuffer(payload, np.dtype(f"{order}{letter}{bits // 8}"))
    if output_type not in WIDTHS:
        scale = 2 ** (bits - (letter == "i")) - 1 if letter in "iu" else 1
        with np.errstate(all="ignore"):  # noise has NaN, and more than a float holds
            numbers = (numbers / float(scale)).astype(np.float32)
        return numbers.view(np.complex64) if output_type == "complex" else numbers
    numbers = numbers.astype(f"i{WIDTHS[output_type] // 8}")
    return numbers.reshape(-1, 2) if output_type in ("sc8", "sc16") else numbers


@pytest.mark.parametrize("output_type", OUTPUTS)
@pytest.mark.parametrize("pairs", [False, True], ids=["real", "pairs"])
@pytest.mark.parametrize("kind", KINDS, ids=str)
def test_samples_of_each_type_arrive_exactly_or_are_rejected(kind, pairs, output_type):
    how = {"format": kind} if isinstance(kind, list) else {"dtype": np.dtype(kind)}
    shape = (HEAP, 2) if pairs else (HEAP,)
    group = spead2.send.ItemGroup(flavour=spead2.Flavour(4, 64, 48))
    group.add_item(0x1600, "timestamp", "", shape=(), **unsigned(48))
    group.add_item(0x3300, "voltages", "", shape=shape, **how)
    descriptors = group.get_heap(descriptors="all", data="none")
    is_suitable = suits(kind, pairs, output_type)

    element = (
        sum(bits for _, bits in kind) if isinstance(kind, list) else layout(kind)[1]
    )
    payloads = noise(3 * element * HEAP * (1 + pairs) // 8).reshape(3, -1)
    packets, ticks = joined(spead2_packets([descriptors])), 0
    for i, payload in enumerate(payloads):
        packets.append(data_heap(2 + i, ticks, payload, 48))
        # one tick is one output sample
        ticks += len(expected(payload, kind, output_type)) if is_suitable else HEAP
    receiving = received([*packets, end_of_stream(9, 48)], output_type=output_type)
    status = receiving.stats["status"]
    if is_suitable:
        check_whole(receiving, expected(payloads.tobytes(), kind, output_type))
    else:
        assert len(receiving.samples()) == 0
        assert '"voltages"' in status
        assert "; set it to " in status or "; set items" in status


# Sample types if items are set

WIRE_TYPES = {  # the first is the default
    "int8": ["i1"],
    "sc8": ["i1"],
    "int16": [">i2", "<i2", "u1"],
    "int32": [">i4"],
    "float": ["i1", "u1", "<i2", ">f4"],
    "complex": ["i1", ">f4", "<c16"],
}
DESCRIBED = [
    *("u1", "<i2", ">u2", ">f4", ">c8", "?", "S4", "i1,i1"),
    *([("i", 8)], [("i", 10)], [("i", 16)], [("i", 32)]),
]


def contradicts(kind, wire_type, output_type):
    """Whether numpy decodes some bytes to other values with the described type."""
    letter, bits, *_ = layout(kind)
    if output_type == "int8" or letter in "SV":  # bytes, or an unknown type
        return False
    if letter == "b" or bits == 10:
        return True
    payload = noise(16 * HEAP).tobytes()
    samples = [expected(payload, each, output_type) for each in (kind, wire_type)]
    with np.errstate(all="ignore"):
        return not np.array_equal(*samples, equal_nan=True)


@pytest.mark.parametrize(
    ("output_type", "wire_type"),
    [(output, wire) for output in WIRE_TYPES for wire in WIRE_TYPES[output]],
)
@pytest.mark.parametrize("kind", DESCRIBED, ids=str)
def test_samples_that_contradict_the_items_are_rejected(kind, wire_type, output_type):
    """Regression: packed 10-bit samples were output as noise."""
    how = {"format": kind} if isinstance(kind, list) else {"dtype": np.dtype(kind)}
    group = spead2.send.ItemGroup(flavour=spead2.Flavour(4, 64, 48))
    group.add_item(0x1600, "timestamp", "", shape=(), **unsigned(48))
    group.add_item(0x3300, "voltages", "", shape=(HEAP,), **how)
    payload = noise(16 * HEAP)
    packets = [
        *joined(spead2_packets([group.get_heap(descriptors="all", data="none")])),
        data_heap(2, 0, payload, 48),
        end_of_stream(9, 48),
    ]
    options = {"items": [spead.timestamp(), spead.samples()]}
    if wire_type != WIRE_TYPES[output_type][0]:
        options["wire_type"] = wire_type
    receiving = received(packets, output_type=output_type, **options)
    status = receiving.stats["status"]
    if contradicts(kind, wire_type, output_type):
        assert len(receiving.samples()) == 0
        assert '"voltages"' in status
        assert f'contradict wire_type "{wire_type}"; set ' in status
    else:
        sent = expected(payload.tobytes(), wire_type, output_type)
        np.testing.assert_allclose(receiving.samples(), sent, rtol=1e-6)


@pytest.mark.parametrize("late", [0, 5])
def test_descriptors_that_contradict_the_items_end_the_output(late):
    """Of a stream that is received without descriptors until then."""
    samples = noise(20 * HEAP)
    packets = [
        data_heap(2 + i, i * HEAP, part)
        for i, part in enumerate(samples.reshape(-1, HEAP))
    ]
    packed = descriptor("adc_samples", 0x3300, format=[("i", 10)], shape=(HEAP,))
    packets.insert(late, descriptor_heap([packed], 1000))
    items = [spead.timestamp(), spead.samples()]
    receiving = received(
        [*packets, end_of_stream(2000)], output_type="float", scale=1, items=items
    )
    np.testing.assert_array_equal(receiving.samples(), samples[: late * HEAP])


@pytest.mark.parametrize("is_lost", [False, True], ids=["whole", "a packet lost"])
def test_samples_of_items_do_not_wait_for_other_descriptors(is_lost):
    """Those of a heap that is larger than the packet store."""
    samples = noise(2 * 1024**2)
    how = {"shape": (len(samples),), "dtype": np.int8}
    group = spead2.send.ItemGroup()
    group.add_item(0x1600, "timestamp", "", (), value=0, **unsigned(40))
    group.add_item(0x3300, "adc_samples", "", value=samples, **how)
    for i in range(200):
        group.add_item(
            0x4000 + i, f"item {i}", "x" * 20, (), format=[("u", 40)], value=i
        )
    heap = group.get_heap(descriptors="all", data="all")
    heap.repeat_pointers = True
    packets = joined(spead2_packets([heap, group.get_end()], 8972))
    if is_lost:
        del packets[-2]
    items = [spead.timestamp(), spead.samples()]
    check_whole(received(packets, items=items, max_delay=1), samples)


# Timestamps


@pytest.mark.parametrize("bits", [40, 48])
@pytest.mark.parametrize(
    ("how", "first"),
    [
        (unsigned(24), 0x123456),
        (unsigned(40), 0x123456),
        (unsigned(48), 0x123456),
        (unsigned(64), 2**50),
        ({"format": [("i", 64)]}, 2**50),
        ({"dtype": np.dtype("<u4")}, 0x123456),
        ({"dtype": np.dtype(">i8")}, 2**50),
    ],
    ids=str,
)
def test_timestamps_of_each_type_are_read_exactly(how, first, bits):
    samples = noise(20 * HEAP)
    items = ITEMS | {"timestamp": (0x1600, how)}
    heaps = described_heaps(items, *in_heaps(samples, first), bits=bits)
    check_whole(received_heaps(heaps), samples, first)


@pytest.mark.parametrize(("heap", "lost"), [(600 * 1024, 0), (2 * 1024**2, 1)])
def test_the_timestamp_may_be_described_after_the_samples(heap, lost):
    """Until then the source keeps a heap of 600 KiB, but not one of 2 MiB."""
    samples = noise(3 * heap)
    how = {"shape": (heap,), "dtype": np.int8}
    items = {"adc_samples": (0x3300, how), "timestamp": (0x1600, unsigned(40))}
    ticks = range(FIRST, FIRST + len(samples), heap)
    heaps = described_heaps(items, samples.reshape(-1, heap), ticks)
    at = lost * heap
    check_whole(received_heaps(heaps), samples[at:], FIRST + at)


@pytest.mark.parametrize("is_lost", [False, True], ids=["whole", "a packet lost"])
def test_repeated_descriptors_delay_no_samples(is_lost):
    """The last descriptors are at the end of a heap larger than the packet store."""
    heap = 2 * 1024**2
    samples = noise(4 * heap)
    group = spead2.send.ItemGroup()
    group.add_item(0x1600, "timestamp", "", shape=(), format=[("u", 40)])
    group.add_item(0x3300, "adc_samples", "", shape=(heap,), dtype=np.int8)
    for i in range(200):
        group.add_item(
            0x4000 + i, f"item {i}", "x" * 20, (), format=[("u", 40)], value=i
        )
    heaps = [group.get_heap(descriptors="all", data="none")]
    for i, part in enumerate(samples.reshape(-1, heap)):
        group["timestamp"].value = i * heap
        group["adc_samples"].value = part
        heaps.append(group.get_heap(descriptors="all" if i == 2 else "none"))
        heaps[-1].repeat_pointers = True
    packets = spead2_packets([*heaps, group.get_end()], 8972)
    if is_lost:
        del packets[3][-1]
    check_whole(received(joined(packets), max_delay=1), samples)


@pytest.mark.parametrize(
    "values", [[5] * 10, range(10), [7, 3, 9, 1, 2, 2, 8, 6, 0, 4]]
)
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
    other = descriptor("weights", 0x3400, format=[("i", 8)], shape=(HEAP,))
    described = [
        descriptor("timestamp", 0x1600, format=[("u", 40)]),
        descriptor("adc_samples", 0x3300, HEADER, shape=(HEAP,)),
    ]
    heaps = [
        data_heap(3 + i, FIRST + i * HEAP, samples[i * HEAP : (i + 1) * HEAP])
        for i in range(10)
    ]
    packets = [descriptor_heap([other], 1), descriptor_heap(described, 2), *heaps]
    receiving = received([*packets, end_of_stream(13)])
    check_whole(receiving, samples, FIRST)


@pytest.mark.parametrize("dtype", ["i2", "i4", "i8"])
def test_tags_have_negative_values(dtype):
    values = [-2048, -1, 0, 2047]
    items = {"offset": (0x3102, {"shape": (), "dtype": dtype})} | ITEMS
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
    ("id", "name", "shape", "how"),
    [
        (0x4000, "weights", (16,), {"dtype": np.float32}),
        (0x2000, "data", (2, 8), {"dtype": np.int16}),
        (0x4000, "gain", (), {"dtype": np.uint32}),
        (0x4000, "comment", (None,), {"format": [("c", 8)]}),
    ],
)
def test_an_item_added_later_does_not_affect_the_stream(id, name, shape, how):
    samples = noise(20 * HEAP)
    heaps = packets_by_heap(samples)
    value = "text" if name == "comment" else np.zeros(shape, how["dtype"])
    group = spead2.send.ItemGroup()
    group.add_item(id, name, "", shape=shape, value=value, **how)
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
    more = joined(spead2_packets([group.get_heap()], 8972, counter=700))
    unfinished = packet(5, [immediate(0x5000 + 25, 9)], b"", 1400, heap)
    heaps[4][1:1] = [*more, unfinished]
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


def test_a_change_of_byte_order_begins_a_new_stream():
    words = noise(20 * HEAP).view(np.int16)
    heaps = []
    for order, part, first in zip("<>", np.split(words, 2), (0, 5 * HEAP), strict=True):
        dtype = np.dtype(order + "i2")
        items = ITEMS | {"adc_samples": (0x3300, {"shape": (HEAP,), "dtype": dtype})}
        *own, end = described_heaps(items, *in_heaps(part.astype(dtype), first))
        heaps += own
    receiving = received_heaps([*heaps, end], output_type="int16")
    np.testing.assert_array_equal(receiving.samples(), words)


@pytest.mark.parametrize("again", [0, 2], ids=["descriptors", "heap"])
def test_what_was_sent_before_a_change_of_byte_order_does_not_follow_it(again):
    """Packets of the network are reordered or duplicated."""
    samples = noise(4000).view(np.int16).reshape(20, 100)
    packets = []
    for i, order in enumerate("><"):
        header = f"{{'descr': '{order}i2', 'fortran_order': False, 'shape': (100,)}}"
        about = [
            descriptor("timestamp", 0x1600, format=[("u", 40)]),
            descriptor("samples", 0x3300, header),
        ]
        packets.append(descriptor_heap(about, 1 + 20 * i))
        for k in range(10):
            part = samples[10 * i + k].astype(order + "i2")
            packets.append(data_heap(2 + 20 * i + k, 100 * (10 * i + k), part))
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
@pytest.mark.parametrize("how", [INT8, {"shape": (None,), "format": [("i", 8)]}])
def test_descriptors_with_pyspead_bugs_are_understood(bugs, how):
    samples = noise(10 * HEAP)
    items = ITEMS | {"adc_samples": (0x3300, how)}
    heaps = described_heaps(items, *in_heaps(samples, FIRST), bugs=bugs)
    check_whole(received_heaps(heaps), samples, FIRST)


def test_damaged_descriptors_do_no_harm():
    """Each byte is corrupted in one descriptor; another is truncated before it."""
    samples = noise(200 * HEAP)
    heaps = packets_by_heap(samples)
    good = descriptor("adc_samples", 0x3300, HEADER)
    for i in range(200):
        cut = good[: i % len(good)] or b"x"
        wrong = bytearray(good)
        wrong[(8 + i) % len(good)] ^= 0x55
        wrong[8 + 8 * 4 + 1 : 8 + 8 * 5] = immediate(0x14, 0x5000 + i)[1:]
        heaps[i] = [*heaps[i], descriptor_heap([cut, bytes(wrong)], 1000 + i)]
    check_whole(received(joined(heaps)), samples)
