/* -*- c++ -*- */
/*
 * Copyright 2026 The gr-spead authors
 *
 * SPDX-License-Identifier: GPL-3.0-or-later
 */

#ifndef INCLUDED_SPEAD_CORE_HEAP_DESCRIPTORS_H
#define INCLUDED_SPEAD_CORE_HEAP_DESCRIPTORS_H

#include "missing_ranges.h"
#include "protocol/descriptor_reader.h"
#include "protocol/packet_parser.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace gr::spead {

/*!
 * \brief Tells when the descriptors of a heap have arrived, and reads them from its
 * packets, which the caller keeps.
 */
class heap_descriptors
{
public:
    //! Finds the descriptors to which a packet has item pointers, if none are known yet.
    //! Returns whether there are any.
    bool find(const packet_view& packet);
    //! Whether find() has found any.
    bool were_found() const { return !d_ranges.empty(); }
    //! Records a packet, also those that arrived before find().
    void add(const packet_view& packet);
    //! Whether all of them have arrived.
    bool have_arrived() const { return were_found() && d_missing.empty(); }
    //! Whether they arrive in so many pieces that they cannot be read.
    bool are_unusable() const { return were_found() && d_missing.is_full(); }

    //! Whether a packet holds bytes of one.
    bool have_bytes_in(const packet_view& packet) const
    {
        bool is_found = false;
        for_each_subrange(packet, [&](auto...) { is_found = true; });
        return is_found;
    }

    //! The bytes of those that have arrived. \p for_each_packet(visit) must call
    //! visit(packet_view) for each recorded packet.
    template <typename iteration>
    std::vector<std::byte> content(iteration&& for_each_packet) const
    {
        std::vector<std::byte> content(d_bytes);
        for_each_packet([&](const packet_view& packet) {
            for_each_subrange(
                packet, [&](std::size_t offset, const std::byte* data, auto bytes) {
                    std::copy_n(data, bytes, content.begin() + std::ptrdiff_t(offset));
                });
        });
        return content;
    }
    //! Reads content(). Leaves out those that are invalid or have not arrived.
    std::vector<item_description> parse(const std::vector<std::byte>& content) const;
    void clear() { *this = {}; }

private:
    struct extent {
        std::uint64_t begin, end; // offsets in the heap
        std::size_t content_offset;
    };

    // Calls visit(offset in the content, data, bytes) for the bytes of each descriptor
    // that a packet holds.
    template <typename visitor>
    void for_each_subrange(const packet_view& packet, visitor&& visit) const
    {
        for (const auto& range : d_ranges) {
            const auto begin = std::max(range.begin, packet.payload_offset);
            const auto end = std::min(range.end, packet.payload_end());
            if (begin < end)
                visit(range.content_offset + (begin - range.begin),
                      packet.payload + (begin - packet.payload_offset),
                      static_cast<std::size_t>(end - begin));
        }
    }

    std::vector<extent> d_ranges;
    std::size_t d_bytes = 0;
    missing_ranges d_missing{ 0 }; // offsets in the content
};

} // namespace gr::spead

#endif /* INCLUDED_SPEAD_CORE_HEAP_DESCRIPTORS_H */
