/* -*- c++ -*- */
/*
 * Copyright 2026 The gr-spead authors
 *
 * SPDX-License-Identifier: GPL-3.0-or-later
 */

#ifndef INCLUDED_SPEAD_CORE_SELECTION_COUNTERS_H
#define INCLUDED_SPEAD_CORE_SELECTION_COUNTERS_H

#include "stream_format.h"
#include "support/counter.h"

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace gr::spead {

//! Heaps by the values of the items that select heaps. One thread counts, any thread
//! reads.
class selection_counters
{
public:
    static constexpr std::size_t max_unselected = 64;

    //! \p format: with the values that are selected; nullptr: no item selects heaps.
    explicit selection_counters(const stream_format* format);

    //! Counts a heap by \p values, of the immediate items of the format.
    void count(const std::vector<std::optional<std::uint64_t>>& values);

    //! Selected values, such as "frequency=64"; 0: no heap has had this value.
    std::map<std::string, std::uint64_t> selected() const;
    //! The first other values, and "more" for all further ones.
    std::map<std::string, std::uint64_t> unselected() const;

private:
    struct selecting_item {
        std::size_t index; // in the format
        std::string name;
        std::vector<std::uint64_t> values;
        std::vector<counter> heaps; // by value
    };
    struct unselected_value {
        const selecting_item* item = nullptr;
        std::optional<std::uint64_t> value;
        counter heaps;
    };

    void count_unselected(const selecting_item& item, std::optional<std::uint64_t> value);

    std::vector<selecting_item> d_items;
    std::array<unselected_value, max_unselected> d_unselected;
    std::atomic<std::size_t> d_unselected_values{ 0 };
    counter d_more;
};

} // namespace gr::spead

#endif /* INCLUDED_SPEAD_CORE_SELECTION_COUNTERS_H */
