/* -*- c++ -*- */
/*
 * Copyright 2026 The gr-spead authors
 *
 * SPDX-License-Identifier: GPL-3.0-or-later
 */

#ifndef INCLUDED_SPEAD_CORE_HEAP_ITEMS_H
#define INCLUDED_SPEAD_CORE_HEAP_ITEMS_H

#include "protocol/packet_parser.h"
#include "stream_format.h"

#include <boost/container/flat_map.hpp>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <memory>
#include <optional>
#include <vector>

namespace gr::spead {

//! A format, with an index of its immediate items.
class indexed_format
{
public:
    indexed_format() = default;
    explicit indexed_format(std::shared_ptr<const stream_format> format)
        : d_format(std::move(format))
    {
        if (d_format)
            for (std::size_t i = 0; i < d_format->immediates.size(); ++i)
                d_immediates.emplace(d_format->immediates[i].id, i);
    }

    explicit operator bool() const { return d_format != nullptr; }
    const stream_format* get() const { return d_format.get(); }
    const stream_format& operator*() const { return *d_format; }
    const stream_format* operator->() const { return d_format.get(); }
    //! The index of an immediate item in the format.
    std::optional<std::size_t> find(std::uint64_t id) const
    {
        const auto found = d_immediates.find(id);
        return found == d_immediates.end() ? std::nullopt : std::optional(found->second);
    }

private:
    std::shared_ptr<const stream_format> d_format;
    boost::container::flat_map<std::uint64_t, std::size_t> d_immediates;
};

//! The items of a heap, merged from its packets.
struct heap_items {
    static constexpr auto unknown_end = std::numeric_limits<std::uint64_t>::max();

    //! Index and value of an item pointer that the packets with items of the heap have.
    std::size_t key_index = 0;
    std::uint64_t key_word = 0;
    bool is_key_time =
        false; //!< it is the timestamp; otherwise, the place of the samples
    // offsets in the payload of the heap
    std::optional<std::uint64_t> timestamp_address = {};
    std::uint64_t timestamp_end = 0;
    std::optional<std::uint64_t> samples_begin = {};
    std::uint64_t samples_end = unknown_end;
    //! The end of the samples or, if it is unknown, of the packet with their item.
    std::uint64_t seen_end = 0;
    //! The offset of that packet, from samples_begin.
    std::uint64_t first_byte = 0;
    std::optional<std::uint64_t> timestamp = {};
    unsigned timestamp_bits = 64;
    //! Of a timestamp in the payload: its bytes, and one bit for each that has arrived.
    std::array<std::byte, sizeof(std::uint64_t)> timestamp_content = {};
    unsigned timestamp_present = 0;
    std::vector<std::optional<std::uint64_t>> values = {}; //!< of immediate items
    bool may_lack_time = false; //!< an undescribed item may be the timestamp

    //! Forgets all items, and makes room for \p immediates values.
    void restart(std::size_t immediates);
    //! Adds the items of a packet.
    void add(const packet_view& packet, const indexed_format& format);
    //! Sets the timestamp, or its place in the payload, from an item pointer.
    void set_timestamp_item(const packet_view& packet,
                            std::size_t index,
                            const number_format& encoding);
    //! Sets the place of the samples from an item pointer.
    void set_samples_item(const packet_view& packet, std::size_t index);
    //! Adds the bytes that a packet holds of a timestamp in the payload.
    void add_timestamp(const packet_view& packet, const number_format& encoding);

    //! Whether it has the timestamp or the samples.
    bool is_any() const { return samples_begin || timestamp || timestamp_address; }
    bool has_time(const stream_format& format) const
    {
        return timestamp || (!format.timestamp_id && !may_lack_time);
    }
    bool is_complete(const stream_format& format) const
    {
        return samples_begin && has_time(format);
    }
    bool has_known_end() const { return samples_end != unknown_end; }
    enum class match { same, other, unknown };
    //! Whether a packet with items is of this heap. Unknown if its items do not tell: it
    //! has only some of those of the heap, or does not hold the timestamp.
    match compare(const packet_view& packet, const indexed_format& format) const;
    //! Whether an item differs that both have.
    bool contradict(const heap_items& other) const
    {
        const auto differ = [](const auto& a, const auto& b) { return a && b && a != b; };
        return differ(timestamp, other.timestamp) ||
               differ(timestamp_address, other.timestamp_address) ||
               differ(samples_begin, other.samples_begin);
    }
    //! None also if the descriptor of the item arrived after this heap.
    std::optional<std::uint64_t> value(std::size_t item) const
    {
        return item < values.size() ? values[item] : std::nullopt;
    }
};

} // namespace gr::spead

#endif /* INCLUDED_SPEAD_CORE_HEAP_ITEMS_H */
