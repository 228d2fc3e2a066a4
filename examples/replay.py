#!/usr/bin/env python3
# Copyright 2026 The gr-spead authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Send the samples of a capture on. Heap counters and timestamps continue, even from
replay to replay. (Programs that send packets again repeat these: receivers see
duplicates.)"""

import argparse
import sys

import pmt
from common.arguments import option, positive_rate
from common.progress import run_to_end
from gnuradio import blocks, gr, spead
from gnuradio.spead.described_stream import given_stream
from gnuradio.spead.spead_python import _inspector, _sample_types
from gnuradio.spead.suggestion import tried_suggestion

WIRE_TYPES = {
    name: wire_type.lstrip(">") for name, _, wire_type in _sample_types()
}  # of each output_type
PACKED = 10, 12  # sizes of packed numbers in bits, not in bytes


def warn(text):
    print(f"replay.py: {text}", file=sys.stderr)


class Capture:
    """What a capture holds, and the options of a source that replays it."""

    def __init__(self, path):
        inspector = _inspector(path, "")
        if not inspector.is_capture():
            raise ValueError(f"{path!r} is not a capture")
        inspector.receive(1e9)  # to the end
        suggestion = tried_suggestion(inspector, path)
        if suggestion.reason:
            raise ValueError(suggestion.reason)
        if not suggestion.receives_everything():
            warn(suggestion.result()[0])
        for remark in suggestion.notes + suggestion.remarks:
            warn(remark)
        self.path, self.options, *_ = given_stream(
            suggestion.endpoints, suggestion.arguments()
        )
        self.streams = inspector.streams()
        if duplicates := sum(stream["packets_duplicate"] for stream in self.streams):
            warn(
                f"{duplicates:,} duplicate packets are left out; if they are of several"
                f" destinations, select one with a filter: {inspector.destinations()}"
            )
        self.samples_id = suggestion.samples_item()[0]
        self.timestamp_id = suggestion.timestamp_id()
        self.wire_type = suggestion.wire_type
        self.has_descriptors = any(s["descriptions"] for s in self.streams)
        self.names = {
            description["id"]: description["name"]
            for stream in self.streams
            for description in stream["descriptions"]
        } | {item.id: item.name for item in self.options.get("items") or []}
        self.first_tick, self.values = self._first_tags()

    def _first_tags(self):
        """The first tick, and the first values of items on each output."""
        graph = gr.top_block()
        source = spead.source(self.path, **self.options)
        size = source.output_signature().sizeof_stream_item(0)
        recorders = []
        for i in range(source.output_signature().max_streams()):
            head, recorder = blocks.head(size, 1), blocks.tag_debug(size, "")
            recorder.set_display(False)
            recorder.set_save_all(True)
            graph.connect((source, i), head, recorder)
            recorders.append(recorder)
        graph.run()
        tags = [
            {str(tag.key): pmt.to_python(tag.value) for tag in recorder.current_tags()}
            for recorder in recorders
        ]
        if not tags[0]:
            raise ValueError(source.stats()["status"])
        return tags[0]["timestamp"], tags

    def heap_samples(self):
        bytes = max(stream["items"][self.samples_id]["max"] for stream in self.streams)
        return bytes * 8 // self._sample_bits()

    def _sample_bits(self):
        output_type = self.options["output_type"]
        wire_type = self.wire_type or WIRE_TYPES[output_type]
        size = int(wire_type.lstrip("<>iufc"))
        bits = size if size in PACKED else 8 * size
        is_pair = output_type in ("sc8", "sc16", "complex") and "c" not in wire_type
        return 2 * bits if is_pair else bits

    def items(self):
        """Those of the sink. Other arrays than the samples are left out."""
        selected = {item.id: item.values for item in self.options.get("items") or []}
        axis = self.options.get("axes", "").split("/")[0].split("=")[0]
        items = []
        for id, item in self.streams[0]["items"].items():
            name = self.names.get(id) or f"item_{id:x}"
            if id == self.samples_id:
                items.append(spead.samples(id, name))
            elif id == self.timestamp_id:
                items.append(spead.timestamp(id, name))
            elif not item["number"]:
                warn(f"item {id:#x} {name!r} is left out")
            elif "/" in self.options.get("axes", "") and name == axis:
                items.append(spead.immediate(id, name, []))
            else:
                first = [tags.get(name, item["last"]) for tags in self.values]
                if not selected.get(id) and len(item["values"]) > len(set(first)):
                    warn(f"item {id:#x} {name!r} changes; {first[0]} is sent")
                values = selected.get(id) or first
                if (
                    min(values) < 0
                    or max(values) >> self.streams[0]["heap_address_bits"]
                ):
                    warn(f"item {id:#x} {name!r} is left out: {values[0]} does not fit")
                    continue
                is_equal = len(set(values)) == 1
                items.append(
                    spead.immediate(id, name, values[0] if is_equal else values)
                )
        return items


class Replay(gr.top_block):
    """SPEAD source of a capture -> SPEAD sink"""

    def __init__(self, capture, args):
        super().__init__("replay", catch_exceptions=True)
        options = capture.options
        self.source = spead.source(
            capture.path, repeat=args.repeat, realtime=args.rate is None, **options
        )
        outputs = self.source.output_signature().max_streams()
        shape = {"heap_samples": capture.heap_samples(), "num_inputs": outputs}
        if "axes" in options:
            shape = {"axes": options["axes"]}
        if "scale" in options:
            shape["scale"] = options["scale"]
        stream = capture.streams[0]
        self.sink = spead.sink(
            args.to,
            input_type=options["output_type"],
            wire_type=capture.wire_type.lstrip(">"),
            items=capture.items(),
            timestamp_start=capture.first_tick,
            timestamp_step=options.get("timestamp_step"),
            heap_address_bits=stream["heap_address_bits"],
            single_packet_heaps=stream["single_packet_heaps"],
            descriptors="separate" if capture.has_descriptors else "none",
            max_packet_size=max(s["packet_bytes"][1] for s in capture.streams),
            rate=float((args.rate or 0) * 10**6),
            interface=args.interface,
            **shape,
        )
        for i in range(outputs):
            self.connect((self.source, i), (self.sink, i))


def parse(argv):
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("capture", help="FILE, or FILE?FILTER")
    option(parser, "--to HOST:PORT", str, "destination, required")
    parser.add_argument("--repeat", action="store_true", help="until Ctrl-C")
    option(
        parser,
        "--rate MB/s",
        positive_rate,
        "bytes per second, in millions (default: as captured)",
    )
    option(parser, "--interface NAME", str, "network interface to send to", "")
    args = parser.parse_args(argv)
    if args.to is None:
        parser.error("--to is required")
    return args


def main(argv=None):
    args = parse(argv)
    try:
        flow_graph = Replay(Capture(args.capture), args)
    except (OSError, RuntimeError, TypeError, ValueError) as error:
        sys.exit(f"replay.py: {error}")
    run_to_end(flow_graph, flow_graph.sink)
    received, sent = flow_graph.source.stats(), flow_graph.sink.stats()
    print(
        f"{sent['heaps_sent']:,} heaps sent, {sent['heaps_dropped']:,} dropped;"
        f" {received['samples_missing']:,} samples were missing in the capture,"
        f" {received['discontinuities']:,} discontinuities"
    )
    return 1 if sent["heaps_dropped"] else 0


if __name__ == "__main__":
    sys.exit(main())
