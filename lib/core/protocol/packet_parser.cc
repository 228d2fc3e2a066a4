/* -*- c++ -*- */
/*
 * Copyright 2026 The gr-spead authors
 *
 * SPDX-License-Identifier: GPL-3.0-or-later
 */

#include "packet_parser.h"

#include <algorithm>
#include <limits>

namespace gr::spead {

namespace {

constexpr std::uint64_t magic = 0x53;
constexpr std::uint64_t version = 4;

std::uint64_t word_at(const std::byte* address)
{
    std::uint64_t word;
    std::memcpy(&word, address, sizeof word);
    return be64toh(word);
}

std::uint64_t byte_of(std::uint64_t word, unsigned index)
{
    return word >> (56 - 8 * index) & 0xff;
}

} // namespace

std::uint64_t packet_view::end_of(std::size_t index) const
{
    const auto begin = item(index).value;
    auto end = heap_length.value_or(std::numeric_limits<std::uint64_t>::max());
    for (std::size_t i = 0; i < items; ++i) {
        const auto other = item(i);
        // an empty item has the same address as the next one
        const bool is_behind = other.value > begin || (other.value == begin && i > index);
        if (!other.is_immediate && is_behind)
            end = std::min(end, other.value);
    }
    return end;
}

packet_error
parse_packet(const std::byte* packet, std::size_t bytes, packet_view& view, bool has_tail)
{
    if (bytes < wire::header_bytes)
        return packet_error::size;
    const auto header = word_at(packet);
    if (byte_of(header, 0) != magic)
        return packet_error::magic;
    if (byte_of(header, 1) != version)
        return packet_error::version;
    const auto id_bytes = byte_of(header, 2);
    const auto address_bytes = byte_of(header, 3);
    if (id_bytes == 0 || address_bytes == 0 ||
        id_bytes + address_bytes != wire::pointer_bytes)
        return packet_error::flavour;
    view.flavour = { static_cast<unsigned>(8 * address_bytes) };
    view.items = header & 0xffff;
    const std::size_t begin = wire::header_bytes + view.items * wire::pointer_bytes;
    if (begin > bytes)
        return packet_error::size;
    if (view.items > max_packet_items)
        return packet_error::items;
    view.pointers = packet + wire::header_bytes;
    view.payload = packet + begin;

    std::optional<std::uint64_t> counter, offset, length;
    view.heap_length.reset();
    view.has_descriptors = view.is_end_of_stream = false;
    for (std::size_t i = 0; i < view.items; ++i) {
        const auto item = view.item(i);
        if (!item.is_immediate)
            view.has_descriptors |= item.id == wire::descriptor;
        else if (item.id == wire::heap_counter)
            counter = item.value;
        else if (item.id == wire::heap_length)
            view.heap_length = item.value;
        else if (item.id == wire::payload_offset)
            offset = item.value;
        else if (item.id == wire::payload_length)
            length = item.value;
        else if (item.id == wire::stream_control)
            view.is_end_of_stream |= item.value == wire::stream_control_stop;
    }
    view.leading_items = wire::leading_items - !view.heap_length - !offset;
    // SKA-Low leaves out both: its heaps have one packet
    view.is_single = !offset && !view.heap_length;
    if (view.is_single) {
        offset = 0;
        view.heap_length = length;
    }
    if (!counter || !offset || !length)
        return packet_error::missing_item;
    if (*length > bytes - begin || (*length < bytes - begin && !has_tail))
        return packet_error::size;
    // cannot wrap: both have at most 56 bits
    if (view.heap_length && *offset + *length > *view.heap_length)
        return packet_error::payload_bounds;
    view.heap_counter = *counter;
    view.payload_offset = *offset;
    view.payload_bytes = static_cast<std::size_t>(*length);
    return packet_error::none;
}

std::string contradiction_of(const std::byte* packet, std::size_t bytes)
{
    const auto text = [](std::uint64_t number) { return std::to_string(number); };
    packet_view view;
    const auto header = word_at(packet);
    view.flavour = { static_cast<unsigned>(8 * byte_of(header, 3)) };
    view.items = header & 0xffff;
    view.pointers = packet + wire::header_bytes;
    const std::size_t begin = wire::header_bytes + view.items * wire::pointer_bytes;
    if (begin > bytes)
        return "a datagram has " + text(bytes) + " bytes, fewer than its " +
               text(view.items) + " item pointers";
    if (view.items > max_packet_items)
        return "a packet has " + text(view.items) + " items, more than " +
               text(max_packet_items);
    std::optional<std::uint64_t> counter, heap_length, offset, length;
    for (std::size_t i = 0; i < view.items; ++i) {
        const auto item = view.item(i);
        if (!item.is_immediate)
            continue;
        auto* const field = item.id == wire::heap_counter     ? &counter
                            : item.id == wire::heap_length    ? &heap_length
                            : item.id == wire::payload_offset ? &offset
                            : item.id == wire::payload_length ? &length
                                                              : nullptr;
        if (field)
            *field = item.value;
    }
    if (!counter)
        return "a packet has no heap counter (immediate item 0x1)";
    if (!length)
        return "a packet has no payload length (immediate item 0x4)";
    if (!offset && heap_length)
        return "a packet has a heap length but no payload offset (immediate item 0x3)";
    if (*length != bytes - begin)
        return "a packet states " + text(*length) +
               " bytes of payload (item 0x4) but has " + text(bytes - begin);
    return "a packet's payload ends at " + text(offset.value_or(0) + *length) +
           ", beyond the heap length (item 0x2) of " + text(heap_length.value_or(0));
}

} // namespace gr::spead
