/* -*- c++ -*- */
/*
 * Copyright 2026 The gr-spead authors
 *
 * SPDX-License-Identifier: GPL-3.0-or-later
 */

#ifndef INCLUDED_SPEAD_CORE_SPLIT_GROUPS_H
#define INCLUDED_SPEAD_CORE_SPLIT_GROUPS_H

#include "heap_slot.h"
#include "protocol/sample_group.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>

namespace gr::spead {

/*!
 * \brief Holds groups of samples that are split over packets until all of their bytes
 * arrive.
 *
 * The oldest group makes room for a new one.
 */
class split_groups
{
public:
    struct group_place {
        std::size_t output;
        std::int64_t position;
        std::uint64_t heap; //!< its order of arrival

        bool operator==(const group_place& other) const
        {
            return output == other.output && position == other.position &&
                   heap == other.heap;
        }
    };

    //! Adds bytes of a group of \p size bytes, from \p offset on. Returns the group once
    //! it is complete, otherwise nullptr.
    const std::byte* add(const group_place& place,
                         const std::byte* data,
                         std::size_t offset,
                         std::size_t bytes,
                         std::size_t size)
    {
        auto found = std::find_if(d_groups.begin(), d_groups.end(), [&](auto& candidate) {
            return candidate.present && candidate.place == place;
        });
        if (found == d_groups.end()) {
            found = std::min_element(d_groups.begin(), d_groups.end(), is_older);
            *found = { place, ++d_last_number };
        }
        for (std::size_t i = 0; i < bytes; ++i) {
            found->bytes[offset + i] = data[i];
            found->present |= 1u << (offset + i);
        }
        if (found->present != (1u << size) - 1)
            return nullptr;
        found->present = 0;
        return found->bytes.data();
    }

private:
    static constexpr std::size_t max_groups = 64;

    struct group {
        group_place place = {};
        std::uint64_t number = 0; // in order of arrival
        unsigned present = 0;     // one bit per byte
        std::array<std::byte, sample_group::max_bytes> bytes = {};
    };
    // Complete groups come first.
    static bool is_older(const group& a, const group& b)
    {
        return (a.present ? a.number : 0) < (b.present ? b.number : 0);
    }

    std::array<group, max_groups> d_groups;
    std::uint64_t d_last_number = 0;
};

} // namespace gr::spead

#endif /* INCLUDED_SPEAD_CORE_SPLIT_GROUPS_H */
