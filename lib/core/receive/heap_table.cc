/* -*- c++ -*- */
/*
 * Copyright 2026 The gr-spead authors
 *
 * SPDX-License-Identifier: GPL-3.0-or-later
 */

#include "heap_table.h"

#include <algorithm>
#include <cstring>

namespace gr::spead {

namespace {

// More heaps than any sender interleaves.
constexpr std::size_t max_placed = 256;
constexpr std::size_t max_others = 64;

} // namespace

heap_table::heap_table()
    : d_heaps(max_placed + max_others),
      d_tags(d_heaps.size()),
      d_placed{ 0, max_placed },
      d_others{ max_placed, max_others }
{
}

received_heap* heap_table::find(const heap_id& heap)
{
    const auto is_it = [&](const received_heap& each) {
        return each == heap && each.status != received_heap::state::none;
    };
    if (is_it(d_heaps[d_last]))
        return &d_heaps[d_last];
    if (d_absent == heap)
        return nullptr;
    const auto *begin = d_tags.data(), *end = begin + d_tags.size();
    const auto* at = begin;
    while ((at = static_cast<const unsigned char*>(
                std::memchr(at, tag_of(heap.counter), end - at)))) {
        const auto i = static_cast<std::size_t>(at++ - begin);
        if (is_it(d_heaps[i])) {
            d_last = i;
            return &d_heaps[i];
        }
    }
    d_absent = heap;
    return nullptr;
}

const received_heap* heap_table::overlapping(const received_heap& heap) const
{
    const auto found = std::find_if(d_heaps.begin(), d_heaps.end(), [&](auto& each) {
        return each.status == received_heap::state::placed &&
               each.output == heap.output && each.position < heap.range().end &&
               heap.position < each.range().end;
    });
    return found == d_heaps.end() ? nullptr : &*found;
}

bool heap_table::has_gap_after(const received_heap& heap) const
{
    if (heap.samples_end != received_heap::unknown_end)
        return false;
    const auto end = heap.range().end;
    bool is_followed = false;
    for (const auto& each : d_heaps)
        if (each.status == received_heap::state::placed && each.output == heap.output) {
            if (each.position == end)
                return false;
            is_followed |= each.position > end;
        }
    return is_followed;
}

} // namespace gr::spead
