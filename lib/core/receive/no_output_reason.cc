/* -*- c++ -*- */
/*
 * Copyright 2026 The gr-spead authors
 *
 * SPDX-License-Identifier: GPL-3.0-or-later
 */

#include "no_output_reason.h"
#include "protocol/item_text.h"

#include <boost/algorithm/hex.hpp>

#include <algorithm>

namespace gr::spead {

namespace {

std::string hex(std::uint64_t value)
{
    return hexadecimal(static_cast<std::int64_t>(value));
}

// Whether it has items that are not reserved by SPEAD.
bool has_free_items(const packet_view& packet)
{
    for (std::size_t i = 0; i < packet.items; ++i)
        if (packet.item(i).id >= wire::first_free)
            return true;
    return false;
}

// The IDs of the first of these items.
std::string ids_of(const packet_view& packet)
{
    constexpr int max_ids = 8;
    std::string ids;
    int count = 0;
    for (std::size_t i = 0; i < packet.items && count < max_ids; ++i)
        if (const auto id = packet.item(i).id; id >= wire::first_free)
            ids += (count++ ? ", " : "") + hex(id);
    return ids;
}

} // namespace

void no_output_reason::note(std::string_view text)
{
    // any other cause is more specific
    if (d_text.empty() || text != cause::no_first_packet)
        d_text = text;
}

void no_output_reason::note_rejected(packet_error error,
                                     const std::byte* datagram,
                                     std::size_t bytes)
{
    if (error == packet_error::fragment)
        return note(cause::fragments);
    if (error == packet_error::truncated)
        return note(cause::truncated);
    const bool has_header = bytes >= wire::header_bytes && error != packet_error::magic &&
                            error != packet_error::version &&
                            error != packet_error::flavour;
    if (has_header)
        return note("packets are rejected: ", [&] {
            return contradiction_of(datagram, bytes) + "; check the sender";
        });
    note("the datagrams are not SPEAD packets (version 4, 64-bit item pointers): they "
         "begin with ",
         [&] {
             const std::string begin(reinterpret_cast<const char*>(datagram),
                                     std::min<std::size_t>(bytes, 8));
             return "0x" + boost::algorithm::hex_lower(begin) +
                    "; check the port and the sender";
         });
}

void no_output_reason::note_lacking(std::uint64_t id,
                                    const char* name,
                                    const packet_view& packet)
{
    if (has_free_items(packet))
        note("the heaps have no item ", [&] {
            return hex(id) + " (" + name + "): the packets have " + ids_of(packet) +
                   "; check items";
        });
    else if (packet.has_descriptors)
        note(cause::only_descriptors);
}

void no_output_reason::note_undescribed(const packet_view& packet)
{
    note("an item without a descriptor may be the timestamp: the packets have ", [&] {
        return ids_of(packet) + "; have the sender repeat its descriptors, or set items";
    });
}

void no_output_reason::note_wrong_length(std::int64_t samples, std::size_t expected)
{
    note("the heaps have ", [&] {
        return std::to_string(samples) + " samples, but axes mean " +
               std::to_string(expected) + "; check axes";
    });
}

void no_output_reason::note_partial_group(std::uint64_t bytes, const sample_group& group)
{
    note("packed samples do not fill the heaps: they have ", [&] {
        return std::to_string(bytes) + " bytes, and " + std::to_string(group.samples()) +
               " samples take " + std::to_string(group.bytes()) +
               "; check the number of samples in the heaps of the sender";
    });
}

void no_output_reason::note_early(std::int64_t samples, std::uint64_t start)
{
    note("the output begins at timestamp_start: ", [&] {
        return "the source waits for tick " + std::to_string(start) +
               ", and the stream was " + std::to_string(samples) +
               " samples before it when this began";
    });
}

void no_output_reason::note_no_output(
    const stream_format& format, const std::vector<std::optional<std::uint64_t>>& values)
{
    note("no output is selected for the heaps (", [&] {
        std::string text;
        for (std::size_t i = 0; i < values.size(); ++i)
            if (const auto& item = format.immediates[i]; !item.values.empty())
                text += (text.empty() ? "" : ", ") + item.name + " = " +
                        (values[i] ? hex(*values[i]) : "none");
        return text + "); check the values in items";
    });
}

void no_output_reason::note_other_sender(const stream_format& format,
                                         std::optional<std::size_t> item)
{
    note("another sender to the same output is ignored; ", [&] {
        if (!item || *item >= format.immediates.size())
            return std::string("only its source address distinguishes it: give each "
                               "sender its own port");
        const auto& immediate = format.immediates[*item];
        return "item " + hex(immediate.id) + " \"" + immediate.name +
               "\" distinguishes it: select one by its value in items" +
               (format.axes_hint.empty() ? ""
                                         : ", or if it is a part of an axis, set axes "
                                           "with the size of the whole axis, such as \"" +
                                               immediate.name + "=64/1024\"");
    });
}

} // namespace gr::spead
