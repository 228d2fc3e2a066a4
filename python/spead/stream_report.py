# Copyright 2026 The gr-spead authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""What spead-inspect prints: an overview, the source that receives, and details."""

from collections import Counter

from .packet_words import explanation

MAX_STREAMS, MAX_ITEMS, MAX_DESTINATIONS = 8, 12, 3  # that a report shows


def report(inspector, suggestion, endpoints, seconds, explain=False):
    """The lines of the report.

    suggestion: None until one has been tried
    seconds: between the first and the last packet
    """
    streams = counted_streams(inspector, suggestion)
    received = [s for s in streams if s["heaps"]]
    if received:
        yield from _overview(inspector, received, suggestion, seconds)
        if suggestion and suggestion.reason:
            yield f"Source   {suggestion.reason}"
        elif suggestion:
            yield from _labelled("Source", suggestion.result())
            yield from ["", *suggestion.call().splitlines()]
            notes = suggestion.notes + suggestion.remarks
            yield from (f"# {note}" for note in notes)
            yield from ["", "GNU Radio Companion, SPEAD UDP Source:"]
            fields = suggestion.grc()
            width = max(map(len, fields))
            yield from (f"  {label:{width}}  {text}" for label, text in fields.items())
        yield ""
    else:
        yield from _problems(inspector, streams)
        yield (
            suggestion.reason
            if streams and suggestion
            else reason_for_nothing(inspector, [endpoints])
        )
    yield from details(streams, inspector.endpoints(), seconds)
    if destinations := inspector.destinations():
        more = len(destinations) - MAX_DESTINATIONS
        shown = ", ".join(destinations[:MAX_DESTINATIONS])
        yield f"destinations: {shown}{f' and {more} more' if more > 0 else ''}"
    if explain:
        yield from explanation(inspector)


def counted_streams(inspector, suggestion):
    """The streams, without losses that heap counters cannot show.

    A sender may count its heaps to several endpoints, or send the time as the counter.
    """
    streams = inspector.streams()
    endpoints = Counter(stream["sender"] for stream in streams)
    has_times = suggestion and suggestion.has_counters_with_times()
    return [
        stream
        | ({"heaps_lost": None} if has_times or endpoints[stream["sender"]] > 1 else {})
        for stream in streams
    ]


def _overview(inspector, streams, suggestion, seconds):
    """What is it, where does it come from, is it healthy?"""
    first = max(streams, key=lambda s: suggestion and s["sender"] == suggestion.sender)
    senders = {s["sender"] for s in streams}
    endpoints = {s["endpoint"] for s in streams}
    flavours = sorted({f"SPEAD-64-{s['heap_address_bits']}" for s in streams})
    properties = [*flavours, _rate(sum(s["bytes"] for s in streams), seconds)]
    if suggestion and suggestion.options:
        id, description = suggestion.samples_item()
        properties.append(
            _description(description) if description else f"item {id:#x}, not described"
        )
    yield f"Stream   {', '.join(properties)}"
    endpoint = inspector.endpoints()[first["endpoint"]]
    yield f"From     {first['sender']}{_more(senders)} to {endpoint}{_more(endpoints)}"
    heaps = sum(s["heaps"] for s in streams)
    problems = list(_problems(inspector, streams))
    lost = "none incomplete; lost ones cannot be counted by heap counters"
    if all(s["heaps_lost"] is not None for s in streams):
        lost = "none lost or incomplete"
    health = [f"good: {_heaps(heaps)}, {lost}"]
    if problems:
        health = [f"errors: {_heaps(heaps)}, {problems[0]}", *problems[1:]]
    yield from _labelled("Health", health)


def _more(names):
    return f" and {len(names) - 1:,} more" if len(names) > 1 else ""


def _labelled(label, texts):
    for i, text in enumerate(texts):
        yield f"{'' if i else label:8} {text}"


def _problems(inspector, streams):
    """What is wrong with the streams, the network or the capture."""
    counts = [
        (sum(s["heaps_lost"] or 0 for s in streams), "lost"),
        (sum(s["heaps_incomplete"] for s in streams), "incomplete"),
        (sum(s["packets_duplicate"] for s in streams), "duplicate packets"),
    ]
    if problems := [f"{count:,} {name}" for count, name in counts if count]:
        yield ", ".join(problems)
    if dropped := inspector.dropped():
        yield f"{dropped:,} datagrams dropped at the socket of this program"
    if others := inspector.packets_of_others():
        yield f"{others:,} packets of more than 1,024 senders, which are not shown"
    if (rejected := inspector.rejected()) and streams:
        causes = ", ".join(f"{n:,} {name}" for name, n in rejected.items())
        yield f"packets rejected: {causes}; see --explain"
    yield from inspector.failures()


def details(streams, endpoints, seconds):
    """The lines about each sender and its items."""
    for stream in streams[:MAX_STREAMS]:
        yield f"{stream['sender']} -> {endpoints[stream['endpoint']]}"
        yield (
            f"  SPEAD-64-{stream['heap_address_bits']}, "
            f"{_rate(stream['bytes'], seconds)}, "
            f"{stream['packets']:,} packets; those of samples have "
            f"{_range(stream['packet_bytes'])} bytes"
        )
        yield f"  {_heaps(stream['heaps'])} of {_range(stream['heap_bytes'])} bytes"
        yield (
            f"  {_lost(stream)}, {stream['heaps_incomplete']:,} incomplete, "
            f"{stream['heaps_reordered']:,} reordered, "
            f"{stream['packets_duplicate']:,} duplicate packets"
        )
        if stream["single_packet_heaps"]:
            yield "  heaps of one packet, without heap length and payload offset"
        described = {d["id"]: d for d in stream["descriptions"]}
        if described:
            yield f"  {_heaps(stream['descriptor_heaps'])} with descriptors"
        else:
            yield "  no descriptors"
        if stream["ends"]:
            yield f"  {_heaps(stream['ends'], 'end-of-stream ')}"
        items = list(stream["items"].items())
        for id, item in items[:MAX_ITEMS]:
            yield f"    {id:#06x} {_item(item, described.get(id))}"
        if len(items) > MAX_ITEMS:
            yield f"    and {len(items) - MAX_ITEMS:,} more items"
    if len(streams) > MAX_STREAMS:
        yield f"and {len(streams) - MAX_STREAMS:,} more senders"


def _lost(stream):
    if stream["heaps_lost"] is None:
        return "lost unknown (heap counters are no sequence here)"
    return f"{stream['heaps_lost']:,} lost"


def _rate(count, seconds):
    if not seconds:
        return f"{count:,} bytes"
    rate = count / seconds
    return f"{rate / 1e6:.2f} MB/s" if rate >= 1e5 else f"{rate / 1e3:.2f} kB/s"


def _heaps(count, kind=""):
    return f"{count:,} {kind}heap{'s' if count != 1 else ''}"


def _range(pair):
    low, high = pair
    return f"{low:,}" if low == high else f"{low:,} to {high:,}"


def _description(description):
    shape = ", ".join(map(str, description["shape"]))
    return f'"{description["name"]}" {description["type"] or "?"} ({shape})'


def _item(item, described):
    text = "immediate" if item["number"] else "addressed"
    if described:
        text = _description(described)
    count = len(item["values"])
    if described and described["type"].endswith("u8"):
        item = item | {name: item[name] % 2**64 for name in ("last", "min", "max")}
        item["values"] = [value % 2**64 for value in item["values"]]
    if not item["number"]:
        return f"{text}: {_range((item['min'], item['max']))} bytes"
    if count == 1:
        return f"{text}: {item['last']}"
    if count <= 16:
        return f"{text}: {', '.join(map(str, item['values']))}"
    step = f", step {item['step']}" if item["step"] else ""
    return f"{text}: {item['min']} to {item['max']}{step}"


def reason_for_nothing(inspector, endpoints):
    """Why there is no stream, with the remedy."""
    if inspector.rejected():
        sender = inspector.rejected_sender() or "the capture"
        kinds = [k for k in inspector.packet_kinds() if k["rejection"]]
        if len(kinds[0]["first"]) < 8 or kinds[0]["first"][:2] != b"\x53\x04":
            causes = ", ".join(
                f"{n:,} {name}" for name, n in inspector.rejected().items()
            )
            return f"packets of {sender} are not SPEAD-64 ({causes}): check the port"
        return f"{sender}: {kinds[0]['rejection']}"
    if inspector.is_capture():
        return f"{', '.join(endpoints)}: no UDP packet of SPEAD"
    return (
        f"no packet arrived at {', '.join(endpoints)}: check the port, that the sender "
        "runs, the interface (--interface), the multicast group and the firewall"
    )
