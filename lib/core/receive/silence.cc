/* -*- c++ -*- */
/*
 * Copyright 2026 The gr-spead authors
 *
 * SPDX-License-Identifier: GPL-3.0-or-later
 */

#include "silence.h"

#include <algorithm>
#include <cstdio>

namespace gr::spead {

namespace {

std::string hex(std::uint64_t value)
{
    std::array<char, 24> text{};
    std::snprintf(
        text.data(), text.size(), "0x%llx", static_cast<unsigned long long>(value));
    return text.data();
}

} // namespace

void silence::note(cause why)
{
    // that the first packet of a heap is late says less than any other cause
    if (d_cause == cause::none || why != cause::no_first_packet)
        d_cause = why;
}

void silence::note_not_spead(const std::byte* datagram, std::size_t bytes)
{
    note(cause::not_spead);
    d_first_bytes = 0;
    for (std::size_t i = 0; i < std::min(bytes, sizeof d_first_bytes); ++i)
        d_first_bytes = d_first_bytes << 8 | static_cast<std::uint64_t>(datagram[i]);
}

void silence::note_lacking(cause why, const packet_view& packet)
{
    note(why);
    d_id_count = 0;
    for (std::size_t i = 0; i < packet.items && d_id_count < d_ids.size(); ++i)
        if (const auto item = packet.item(i); item.id >= wire::first_free)
            d_ids[d_id_count++] = item.id;
}

void silence::note_no_output(const std::vector<std::optional<std::uint64_t>>& values)
{
    note(cause::no_output);
    d_values = values;
}

void silence::note_other_sender(std::optional<std::size_t> item)
{
    note(cause::other_sender);
    d_other_item = item;
}

std::string silence::text_of_other_sender(const stream_format& format) const
{
    const std::string what = "another sender sends to the same output, and is ignored; ";
    if (!d_other_item || *d_other_item >= format.immediates.size())
        return what + "only its source address tells it apart: give each sender a port "
                      "of its own";
    const auto& item = format.immediates[*d_other_item];
    return what + "item " + hex(item.id) + " \"" + item.name +
           "\" tells it apart: select one with its value in items";
}

std::string silence::text_of_lacking(std::uint64_t id, const char* name) const
{
    std::string ids = d_id_count ? "" : "no items";
    for (std::size_t i = 0; i < d_id_count; ++i)
        ids += (i ? ", " : "") + hex(d_ids[i]);
    return "the heaps have no item " + hex(id) + " (" + name + "): the packets have " +
           ids + "; check items";
}

std::string silence::text(const stream_format* format) const
{
    switch (d_cause) {
    case cause::none:
        break;
    case cause::not_spead:
        return "the datagrams are not SPEAD packets (version 4, 64-bit item pointers): "
               "they begin with " +
               hex(d_first_bytes) + "; check the port and the sender";
    case cause::no_descriptors:
        return "no descriptors have arrived: let the sender repeat them "
               "(descriptor_interval of spead.sink), or give items";
    case cause::partial_descriptors:
        return "a packet of the descriptors was lost: let the sender repeat them "
               "(descriptor_interval of spead.sink), or give items";
    case cause::unsuitable_descriptors:
        return d_refusal;
    case cause::no_samples:
        return text_of_lacking(format->samples_id, "the samples");
    case cause::no_timestamp:
        return text_of_lacking(*format->timestamp_id, "the timestamp");
    case cause::no_length:
        return "the heaps have neither a timestamp nor a heap length (item 0x2): give "
               "the ID of the timestamp in items";
    case cause::no_output: {
        std::string values;
        for (std::size_t i = 0; i < format->immediates.size(); ++i)
            if (const auto& item = format->immediates[i]; !item.values.empty())
                values += (values.empty() ? "" : ", ") + item.name + " = " +
                          (d_values[i] ? hex(*d_values[i]) : "none");
        return "no output is selected for the heaps (" + values +
               "); check the values in items";
    }
    case cause::no_first_packet:
        return "the first packets of the heaps, which hold their items, do not arrive";
    case cause::no_bytes:
        return "the packets hold no samples";
    case cause::nothing_new:
        return "the packets repeat samples that have been received: their timestamps do "
               "not advance; check the sender";
    case cause::different_times:
        return "the timestamps of the heaps contradict each other; check timestamp_step "
               "and the sender";
    case cause::other_sender:
        return text_of_other_sender(*format);
    }
    return {};
}

} // namespace gr::spead
