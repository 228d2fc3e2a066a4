# Copyright 2026 The gr-spead authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""heap_source and heap_sink: losses, senders, captures, hostile packets, mistakes."""

import inspect
import itertools
import random
import resource
import socket

import grc_lint
import numpy as np
import pmt
import pytest
import spead2
import spead2.recv
from capture_files import capture
from crafted_packets import (
    addressed,
    descriptor,
    descriptor_heap,
    immediate,
    packet,
)
from flow_graphs import running as program
from gnuradio import gr, pdu, spead
from grc_blocks import platform
from heap_graphs import (
    PduCollector,
    receiving,
    running,
    sending,
    spead2_decoded,
    spead2_group,
    transmit,
)
from places import BUILD, EXAMPLES, NEEDS_LIBPCAP, eventually
from received_streams import spead2_packets
from receiving import arrived, bound_socket, destination

FLOATS = {"shape": (None,), "format": [("f", 32)]}


def random_heaps(count, seed=1, bits=40, packets=50):
    """The packets of heaps of 1 to `packets` packets, and their values."""
    generator = np.random.default_rng(seed)
    sizes = generator.integers(1, packets * 1400 // 4, count)
    values = [generator.normal(size=size).astype("f4") for size in sizes]
    group = spead2_group(bits, values=(FLOATS, values[0]))
    heaps = []
    for array in values:
        group["values"].value = array
        heaps.append(group.get_heap(descriptors="all", data="all"))
    return spead2_packets(heaps), values


def shuffled(packets, seed):
    packets = [*packets]
    random.Random(seed).shuffle(packets)
    return packets


def heap_of(counter, *numbers, bits=40):
    """The only packet of a heap with the undescribed immediate items 0x2000, ..."""
    pointers = [immediate(0x2000 + i, n, bits) for i, n in enumerate(numbers)]
    return packet(counter, pointers, b"\0", bits=bits)


@pytest.mark.parametrize("bits", [40, 48])
def test_heaps_of_many_packets_arrive_in_any_order(bits):
    heaps, values = random_heaps(30, bits=bits)
    with receiving() as (source, collector):
        for i, (packets, array) in enumerate(zip(heaps, values, strict=True)):
            transmit(source, *shuffled(packets, i))
            np.testing.assert_array_equal(collector.next_values()["values"], array)
        assert source.stats()["heaps_incomplete"] == 0


def test_a_heap_with_a_lost_packet_is_counted_and_not_delivered():
    heaps, values = random_heaps(40)
    lost = set(range(0, 40, 3))
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as sock:
        with receiving() as (source, collector):
            for i, packets in enumerate(heaps):
                chosen = random.Random(i).randrange(len(packets)) if i in lost else None
                kept = [data for j, data in enumerate(packets) if j != chosen]
                transmit(source, *kept, sock=sock)
                if i not in lost:
                    received = collector.next_values()["values"]
                    np.testing.assert_array_equal(received, values[i])
        assert collector.pdus.empty()
    single = sum(len(heaps[i]) == 1 for i in lost)
    assert source.stats()["heaps_incomplete"] == len(lost) - single
    assert source.stats()["heaps_received"] == 40 - len(lost)


def test_descriptors_are_remembered_for_each_sender():
    described = {
        name: descriptor_heap([descriptor(name, 0x2000, format=[("u", 40)])], 1)
        for name in ("first", "second")
    }
    with receiving() as (source, collector), bound_socket() as a, bound_socket() as b:
        transmit(source, described["first"], heap_of(2, 10), sock=a)
        assert collector.next_values() == {"first": 10}
        transmit(source, described["second"], heap_of(2, 20), sock=b)
        assert collector.next_values() == {"second": 20}
        transmit(source, heap_of(3, 11), sock=a)
        assert collector.next_values() == {"first": 11}
        transmit(source, heap_of(3, 12))
        assert collector.next_values() == {"0x2000": 12}


def test_items_without_descriptors_are_published_under_their_ids():
    data = packet(7, [immediate(0x2001, 5), addressed(0x3000, 0)], b"abc")
    with receiving() as (source, collector):
        transmit(source, data)
        values = spead.heap_to_numpy(collector.next())
    assert values["0x2001"] == 5
    assert values["0x3000"].dtype == np.uint8
    assert values["0x3000"].tobytes() == b"abc"
    assert values["0x1"] == 7  # the heap counter


def test_an_item_that_does_not_fit_its_descriptor_is_published_as_bytes(capfd):
    heap = packet(
        1,
        [addressed(5, 0), addressed(0x3000, 300)],
        descriptor("a", 0x3000, format=[("u", 16)], shape=(9,)).ljust(300)
        + b"12345678",
    )
    with receiving() as (source, collector):
        transmit(source, heap)
        assert collector.next_values()["0x3000"].tobytes() == b"12345678"
    assert source.stats()["items_undecodable"] == 1
    assert "item 'a' cannot be decoded: it has 8 bytes" in capfd.readouterr().out


@pytest.mark.parametrize(
    "header",
    [
        "{'descr': '|O', 'fortran_order': False, 'shape': ()}",
        "{'descr': '<f4', 'fortran_order': False, 'shape': (-1,)}",
        "{'descr': '<f4', 'fortran_order': 1, 'shape': ()}",
        "{'descr': [('a', '<f4'), ('a', '<f4')], 'fortran_order': False, 'shape': ()}",
        "{'descr': '|V0', 'fortran_order': False, 'shape': ()}",
        "{'descr': __import__('os').getcwd(), 'fortran_order': False, 'shape': ()}",
        "(" * 5000,
        "[" * 9000,
        "-" * 9000 + "1",
        "{" * 20000,
        "\0",
        "{'descr': '<f4'}",
        "{'descr': ('<f4', (10**9,)), 'fortran_order': False, 'shape': ()}",
        "{'descr': 'f4,' * 9, 'fortran_order': False, 'shape': ()}",
        f"{{'descr': '{'f4,' * 3000}', 'fortran_order': False, 'shape': ()}}",
        "{'descr': '<f4', 'fortran_order': False, 'shape': (True,)}",
        # ends the process in numpy 1.24: a division by zero
        "{'descr': {'names': ['a'], 'formats': [[]], 'offsets': [0], 'itemsize': 8, "
        "'aligned': True}, 'fortran_order': False, 'shape': ()}",
    ],
    ids=lambda text: text[:30],
)
def test_hostile_descriptors_are_refused(header):
    content = descriptor("a", 0x2000, header)
    with receiving() as (source, collector), bound_socket() as sock:
        heap = descriptor_heap([content], 1)
        transmit(source, *split(heap), heap_of(2, 9), sock=sock)
        assert collector.next_values() == {"0x2000": 9}
    assert source.stats()["items_undecodable"] == 1


@pytest.mark.parametrize("code", [0xD800, 0x9D3FC224])
def test_text_that_is_not_unicode_is_published_as_it_came(code):
    value = int.from_bytes(code.to_bytes(4, "little"), "big")
    header = "{'descr': '<U1', 'fortran_order': False, 'shape': ()}"
    described = descriptor_heap([descriptor("a", 0x2000, header)], 1)
    with receiving() as (source, collector), bound_socket() as sock:
        transmit(source, described, heap_of(2, value), sock=sock)
        assert collector.next_values() == {"0x2000": value}
    assert source.stats()["items_undecodable"] == 1


def test_descriptors_of_many_dimensions_are_refused(capfd):
    content = descriptor("a", 0x2000, format=[("u", 8)], shape=(2**39,) * 2000)
    with receiving() as (source, collector), bound_socket() as sock:
        transmit(source, *split(descriptor_heap([content], 1)), sock=sock)
        transmit(source, heap_of(2, 9), sock=sock)
        assert collector.next_values() == {"0x2000": 9}
    assert source.stats()["items_undecodable"] == 1
    assert "a descriptor has more than 10000 bytes" in capfd.readouterr().out


def test_random_changes_of_names_and_ids_have_the_effect_that_they_have_in_spead2():
    generator = random.Random(1)
    heaps = []
    for counter in range(1, 300):
        contents = [
            descriptor(
                generator.choice("abcd"),
                0x2000 + generator.randrange(4),
                format=[("u", 40)],
            )
            for _ in range(generator.randrange(3))
        ]
        pointers = [
            addressed(5, len(b"".join(contents[:i]))) for i in range(len(contents))
        ]
        numbers = [immediate(0x2000 + i, 10 * counter + i) for i in range(4)]
        heaps.append(packet(counter, pointers + numbers, b"".join(contents) or b"\0"))
    expected = spead2_decoded(heaps)
    with receiving() as (source, collector), bound_socket() as sock:
        for heap, values in zip(heaps, expected, strict=True):
            transmit(source, heap, sock=sock)
            received = collector.next_values()
            described = {name: n for name, n in received.items() if name in "abcd"}
            assert described == values


def split(heap, size=1000):
    """The packets of a heap that is given as one packet."""
    items = int.from_bytes(heap[6:8], "big")
    pointers = [heap[8 + 8 * i : 16 + 8 * i] for i in range(items)][4:]
    payload = heap[8 + 8 * items :]
    return [
        packet(1, pointers, payload[i : i + size], i, len(payload))
        for i in range(0, len(payload), size)
    ]


def test_hostile_packets_are_counted_and_need_little_memory():
    generator = random.Random(1)
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    with receiving() as (source, collector), bound_socket() as sock:
        for i in range(3000):
            kind = i % 4
            if kind == 0:
                data = generator.randbytes(generator.randrange(200))
            elif kind == 1:
                data = packet(i, [], b"x", heap_length=1 << generator.randrange(40))
            elif kind == 2:
                data = bytearray(heap_of(i, 1))
                data[generator.randrange(len(data))] ^= 1 << generator.randrange(8)
            else:
                data = packet(7, [addressed(0x3000, i)], b"y", 10, 100 + i)
            transmit(source, data, sock=sock)
        transmit(source, heap_of(1 << 20, 12345))
        while not np.array_equal(collector.next_values().get("0x2000"), 12345):
            pass
    stats = source.stats()
    assert stats["packets_rejected"].keys() >= {"magic", "heap_size", "contradiction"}
    assert stats["heaps_incomplete"] > 0
    growth = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before
    assert growth < 100_000  # KiB; the lengths add up to 1.5 TB


def test_the_queue_is_shorter_for_heaps_of_many_items(monkeypatch):
    monkeypatch.setattr(
        spead.heap_blocks, "MAX_QUEUED_BYTES", 1000 * spead.heap_blocks.ITEM_BYTES
    )
    lengths = iter([11, 10, 9])
    monkeypatch.setattr(spead.heap_blocks, "_queued_messages", lambda *_: next(lengths))
    with receiving() as (source, collector):
        transmit(source, heap_of(1, *range(100)))
        assert len(collector.next_values()) == 100
    assert list(lengths) == []


def test_the_vector_is_the_item_data():
    group = spead2_group(
        matrix=({"shape": (2, 2), "dtype": "<f4"}, np.arange(4).reshape(2, 2)),
        text=({"shape": (None,), "format": [("c", 8)]}, "ab"),
    )
    (packets,) = spead2_packets([group.get_heap()])
    with receiving(data="matrix") as (source, collector):
        transmit(source, *packets)
        vector = pmt.cdr(collector.next())
    assert pmt.f32vector_elements(vector) == [0, 1, 2, 3]


def test_pdus_pass_through_the_blocks_of_gnuradio():
    """A chain of source, PDU filter and sink: the sink sends the filtered vector."""
    with bound_socket() as sock:
        source = spead.heap_source("127.0.0.1:0", data="samples")
        doubled = pdu.pdu_set(pmt.intern("doubled"), pmt.from_long(2))
        sink = spead.heap_sink(destination(sock), data="samples")
        group = spead2_group(samples=(FLOATS, np.arange(5)))
        (packets,) = spead2_packets([group.get_heap()])
        with running(source, doubled, sink):
            transmit(source, *packets)
            eventually(lambda: sink.stats()["heaps_sent"])
        values, *_ = spead2_decoded(arrived(sock))
    assert values["samples"].tolist() == [0, 1, 2, 3, 4]
    assert values["doubled"] == 2


def test_a_chain_keeps_values_and_types():
    dtypes = ["u1", "<f4", ">i2", "<c16", "?"]
    items = {
        f"{dtype} {shape}": ({"shape": shape, "dtype": dtype}, np.ones(shape, dtype))
        for dtype, shape in itertools.product(dtypes, [(), (3,), (2, 2)])
    }
    (packets,) = spead2_packets([spead2_group(**items).get_heap()])
    with bound_socket() as sock:
        source, sink = (
            spead.heap_source("127.0.0.1:0"),
            spead.heap_sink(destination(sock)),
        )
        with running(source, sink):
            transmit(source, *packets)
            eventually(lambda: sink.stats()["heaps_sent"])
        values, *_ = spead2_decoded(arrived(sock))
    assert values.keys() == items.keys()
    for name, (_, value) in items.items():
        assert values[name].dtype == value.dtype.newbyteorder("=")
        assert np.array_equal(values[name], value)


@NEEDS_LIBPCAP
def test_a_capture_ends_the_flow_graph_after_its_last_heap(tmp_path):
    heaps, values = random_heaps(600, packets=2)
    path = capture(tmp_path / "heaps.pcap", itertools.chain(*heaps))
    source, collector = spead.heap_source(str(path)), PduCollector()
    graph = gr.top_block()
    graph.msg_connect(source, "pdus", collector, "pdus")
    graph.start()
    received = [collector.next_values()["values"] for _ in values]
    graph.wait()
    assert all(map(np.array_equal, received, values))


@NEEDS_LIBPCAP
def test_a_chain_sends_all_heaps_of_a_capture_before_it_ends(tmp_path):
    heaps, values = random_heaps(400, packets=2)
    path = capture(tmp_path / "heaps.pcap", itertools.chain(*heaps))
    copy = tmp_path / "copy.pcap"
    graph = gr.top_block()
    source, sink = spead.heap_source(str(path)), spead.heap_sink(str(copy))
    graph.msg_connect(source, "pdus", sink, "pdus")
    graph.run()
    assert sink.stats()["heaps_sent"] == 400
    again, collector = spead.heap_source(str(copy)), PduCollector()
    with running(again, collector):
        for array in values:
            assert np.array_equal(collector.next_values()["values"], array)
    assert again.stats()["streams_ended"] == 1


def test_the_source_starts_again():
    source, collector = spead.heap_source("127.0.0.1:0"), PduCollector()
    for i in range(2):
        with running(source, collector):
            transmit(source, heap_of(i, i))
            assert collector.next_values() == {"0x2000": i}
    assert source.stats()["heaps_received"] == 2


def test_changing_texts_do_not_fill_the_symbols_of_gnuradio(monkeypatch):
    monkeypatch.setattr(spead.heap_blocks, "MAX_SYMBOLS", 4)
    group = spead2_group(text=({"shape": (None,), "format": [("c", 8)]}, ""))
    heaps = []
    for i in range(9):
        group["text"].value = f"text {i}"
        heaps.append(group.get_heap(descriptors="all", data="all"))
    with receiving() as (source, collector):
        transmit(source, *itertools.chain(*spead2_packets(heaps)))
        texts = [collector.next_values()["text"] for _ in heaps]
    assert texts == [f"text {i}" for i in range(9)]


# heap_sink


def decoded_heaps(sock):
    return [values for values in spead2_decoded(arrived(sock)) if values]


def test_ids_are_those_given_or_free_ones():
    values = {"a": 1, "0x1000": 2, "b": 3, "c": 4}
    with bound_socket() as sock:
        with sending(destination(sock), ids={"c": 0x1001}) as (_, post):
            post(spead.heap_from_numpy({"0x1000": 2}))
            post(spead.heap_from_numpy(values))
        stream = spead2.recv.Stream(spead2.ThreadPool())
        packets = spead2.InprocQueue()
        for datagram in arrived(sock):
            packets.add_packet(datagram)
        packets.stop()
        stream.add_inproc_reader(packets)
        group = spead2.ItemGroup()
        for heap in stream:
            group.update(heap)
    ids = {name: item.id for name, item in group.items()}
    assert ids == {"0x1000": 0x1000, "c": 0x1001, "a": 0x1002, "b": 0x1003}


def test_a_changed_item_is_described_again():
    arrays = [np.ones(n, dtype) for n, dtype in [(3, "f4"), (5, "f4"), (5, "i2")]]
    with bound_socket() as sock:
        with sending(destination(sock), descriptor_interval=0) as (_, post):
            for array in arrays:
                post(spead.heap_from_numpy({"a": array, "b": 1}))
        received = decoded_heaps(sock)
    assert len(received) == 3
    for values, array in zip(received, arrays, strict=True):
        assert values["a"].dtype == array.dtype
        assert np.array_equal(values["a"], array)


def test_a_lost_heap_does_not_make_receivers_misread_the_next_ones():
    arrays = [np.ones(3, "f4"), np.ones(5, "f4"), np.full(5, 2, "f4")]
    with bound_socket() as sock:
        with sending(destination(sock), descriptor_interval=0) as (_, post):
            for array in arrays:
                post(spead.heap_from_numpy({"a": array}))
        first, _lost, third, *_ = arrived(sock)
    *_, last = spead2_decoded([first, third])
    assert last["a"].tolist() == [2] * 5


def test_a_late_receiver_gets_repeated_descriptors():
    with bound_socket() as sock:
        with sending(destination(sock), descriptor_interval=0.001) as (sink, post):
            post(spead.heap_from_numpy({"a": 1.5}))
            eventually(lambda: sink.stats()["heaps_sent"] == 1)
            sock.recv(65536)  # the first heap, which the late receiver misses
            threshold = sink.stats()["packets_sent"]
            while sink.stats()["packets_sent"] < threshold + 2:
                post(spead.heap_from_numpy({"a": 2.5}))
                sent = sink.stats()["heaps_sent"]
                eventually(lambda sent=sent: sink.stats()["heaps_sent"] > sent)
        assert 2.5 in [values.get("a") for values in spead2_decoded(arrived(sock))]


@pytest.mark.parametrize(
    ("message", "reason"),
    [
        (pmt.intern("x"), "x is no pair of a dict and a vector"),
        (pmt.cons(pmt.PMT_NIL, pmt.PMT_NIL), "it has no items"),
        (pmt.cons(pmt.PMT_NIL, pmt.intern("x")), "x is no uniform vector"),
        (pmt.cons(pmt.intern("x"), pmt.PMT_NIL), "x is no dict"),
        (pmt.cons(pmt.to_pmt({"a": [1, 2]}), pmt.PMT_NIL), "item 'a': the PMT"),
        (pmt.cons(pmt.to_pmt({3: 1}), pmt.PMT_NIL), "the key 3 is no name"),
        (pmt.cons(pmt.to_pmt({"ä": 1}), pmt.PMT_NIL), "its name must be ASCII"),
        (pmt.cons(pmt.to_pmt({"a": "ä"}), pmt.PMT_NIL), "text must be ASCII"),
        (pmt.cons(pmt.to_pmt({"0x3": 1}), pmt.PMT_NIL), "ID 0x3 is out of range"),
        (pmt.cons(pmt.to_pmt({"0x800000": 1}), pmt.PMT_NIL), "is out of range"),
        (pmt.cons(pmt.to_pmt({"0x2000": 1}), pmt.PMT_NIL), "another item has this ID"),
        (
            pmt.cons(pmt.to_pmt({"a": ("<f4", (9,), np.zeros(3, "u1"))}), pmt.PMT_NIL),
            "item 'a': ",
        ),
        (
            pmt.cons(pmt.to_pmt({"a": ("|O", (1,), np.zeros(8, "u1"))}), pmt.PMT_NIL),
            "the dtype '|O' is not supported",
        ),
        (
            pmt.cons(pmt.to_pmt({"a": 300, "0x5": {"a": "|u1"}}), pmt.PMT_NIL),
            "300 is no number of dtype uint8",
        ),
        (
            pmt.cons(pmt.to_pmt({"a": 1, "0x5": {"a": "[('b', 'u1')]"}}), pmt.PMT_NIL),
            "1 is no number of dtype [('b', 'u1')]",
        ),
    ],
    ids=str,
)
def test_what_is_no_heap_is_counted_and_logged(message, reason, capfd):
    with bound_socket() as sock:
        with sending(destination(sock), ids={"x": 0x2000}) as (sink, post):
            post(message)
            post(spead.heap_from_numpy({"good": 1}))
        assert decoded_heaps(sock) == [{"good": 1}]
    assert sink.stats()["pdus_refused"] == 1
    log = capfd.readouterr().out
    assert "a PDU is not sent: " in log
    assert reason in log


def test_a_heap_that_is_too_large_is_refused():
    with bound_socket() as sock:
        with sending(destination(sock)) as (sink, post):
            post(spead.heap_from_numpy({"a": np.zeros((64 << 20) + 1, "u1")}))
            eventually(lambda: sink.stats()["pdus_refused"])
        assert decoded_heaps(sock) == []


def test_many_items_and_large_heaps_are_split_into_packets():
    values = {f"item {i}": np.full(i + 1, i, "u2") for i in range(500)}
    with receiving() as (source, collector):
        (port,) = source.ports()
        with sending(f"127.0.0.1:{port}") as (_, post):
            post(spead.heap_from_numpy(values))
            received = collector.next_values()
    assert received.keys() == values.keys()
    assert all(np.array_equal(received[name], values[name]) for name in values)


def test_a_slow_rate_does_not_keep_the_flow_graph_from_stopping(capfd):
    heaps = 5
    with bound_socket() as sock, sending(destination(sock), rate=1e4) as (sink, post):
        for _ in range(heaps):
            post(spead.heap_from_numpy({"a": np.zeros(1 << 20, "u1")}))
        eventually(lambda: sink.stats()["packets_sent"])
    stats = sink.stats()
    assert stats["heaps_sent"] == 0
    assert stats["heaps_dropped"] + stats["pdus_dropped"] == heaps
    assert stats["heaps_dropped"] >= 1
    assert "were dropped" in capfd.readouterr().out


@pytest.mark.parametrize("send_stop", [True, False])
def test_the_end_of_stream_heap_is_optional(send_stop):
    with receiving() as (source, collector):
        (port,) = source.ports()
        with sending(f"127.0.0.1:{port}", send_stop=send_stop) as (_, post):
            post(spead.heap_from_numpy({"a": 1}))
        transmit(source, heap_of(1, 1))
        collector.next()
        collector.next()
        eventually(lambda: source.stats()["streams_ended"] == send_stop)


@pytest.mark.parametrize(
    ("block", "options", "error"),
    [
        (spead.heap_source, {"endpoints": "no port"}, "spead.heap_source: endpoints"),
        (spead.heap_source, {"endpoints": 5}, "spead.heap_source: endpoints = 5"),
        (
            spead.heap_source,
            {"endpoints": "127.0.0.1:0", "interface": "nosuch0"},
            "interface",
        ),
        (spead.heap_source, {"endpoints": "127.0.0.1:0", "data": 1}, "data = 1"),
        (spead.heap_sink, {"destination": "a:1,b:2"}, "spead.heap_sink: destination"),
        (spead.heap_sink, {"heap_address_bits": 41}, "heap_address_bits = 41"),
        (spead.heap_sink, {"max_packet_size": 10}, "max_packet_size = 10"),
        (spead.heap_sink, {"rate": -1}, "rate = -1"),
        (spead.heap_sink, {"ttl": 256}, "ttl = 256"),
        (spead.heap_sink, {"descriptor_interval": -1}, "descriptor_interval = -1"),
        (spead.heap_sink, {"data": ""}, "data = ''"),
        (spead.heap_sink, {"ids": {"a": 1}}, "IDs from 0x16 to 0x7fffff"),
        (spead.heap_sink, {"ids": {"a": 0x2000, "b": 0x2000}}, "different IDs"),
        (spead.heap_sink, {"ids": {"0x2000": 0x2001}}, "no other ID"),
        (spead.heap_sink, {"ids": [1]}, "a dict of names and IDs"),
    ],
    ids=str,
)
def test_mistakes_are_named(block, options, error):
    if block is spead.heap_sink:
        options = {"destination": "127.0.0.1:9"} | options
    with pytest.raises((ValueError, TypeError)) as raised:
        block(**options)
    assert error in str(raised.value)


@pytest.mark.parametrize("name", ["heap_source", "heap_sink"])
def test_the_docstrings_list_parameters_and_counters(name):
    block = getattr(spead, name)
    arguments = {"heap_source": "127.0.0.1:0", "heap_sink": "127.0.0.1:9"}
    names = [*inspect.signature(block).parameters]
    places = [block.__doc__.index(f"\n    {name}: ") for name in names]
    assert places == sorted(places)
    for counter in block(arguments[name]).stats():
        assert f"\n        {counter}: " in block.stats.__doc__


@pytest.mark.parametrize("name", ["heap_source", "heap_sink"])
def test_the_grc_blocks_have_the_parameters_of_the_python_blocks(name):
    description = BUILD / "grc" / f"spead_{name}.block.yml"
    assert grc_lint.schema_errors(description) == []
    block = grc_lint.make_block(platform(), f"spead_{name}")
    assert grc_lint.block_errors(block) == []
    function, arguments = grc_lint.call(block.templates.render("make"))
    assert function == f"spead.{name}"
    parameters = inspect.signature(getattr(spead, name)).parameters
    assert arguments.keys() == parameters.keys()
    for key, parameter in parameters.items():
        if parameter.default is not parameter.empty:
            assert eval(arguments[key]) == parameter.default


@NEEDS_LIBPCAP
def test_the_example_prints_the_items_of_a_capture(tmp_path):
    group = spead2_group(gain=({"shape": (2,), "dtype": "<f4"}, [1.5, 2]))
    (packets,) = spead2_packets([group.get_heap()])
    path = capture(tmp_path / "heaps.pcap", packets)
    with program(EXAMPLES / "print_heaps.py", path) as ended:
        pass
    assert ended.printed == "heap 1\n  gain = array([1.5, 2. ], dtype=float32)\n"
