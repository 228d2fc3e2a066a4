/* -*- c++ -*- */
/*
 * Copyright 2026 The gr-spead authors
 *
 * SPDX-License-Identifier: GPL-3.0-or-later
 */

#include "heap_stage.h"

#include <algorithm>
#include <cstring>

namespace gr::spead {

heap_stage::heap_stage(const heap_axes& axes, std::size_t sample_bytes, std::size_t bytes)
    : d_axes(axes),
      d_transposer(axes, sample_bytes),
      d_heap_bytes(axes.samples() * sample_bytes),
      d_heaps(std::max(bytes / d_heap_bytes, min_heaps)),
      d_memory(axes.substreams(), std::vector<std::byte>(d_heaps * d_heap_bytes)),
      d_next_item(axes.times())
{
    for (auto& buffer : d_memory)
        d_addresses.push_back(buffer.data());
}

void heap_stage::start_run()
{
    d_next_item = d_axes.times();
    make_room(0);
}

void heap_stage::make_room(std::int64_t used)
{
    // Uses the same memory again, which is in the cache. Never moves more than was output
    // since the last time.
    const auto samples = static_cast<std::size_t>(used);
    if (samples > d_front * d_axes.samples())
        return;
    const auto bytes = samples * (d_heap_bytes / d_axes.samples());
    for (std::size_t i = 0; i < d_memory.size(); ++i) {
        std::memmove(d_memory[i].data(), d_addresses[i], bytes);
        d_addresses[i] = d_memory[i].data();
    }
    d_front = 0;
}

std::int64_t heap_stage::room() const
{
    return static_cast<std::int64_t>((d_heaps - d_front) * d_axes.samples());
}

void heap_stage::advance_front()
{
    for (auto& address : d_addresses)
        address += d_heap_bytes;
    ++d_front;
    d_next_item = 0;
}

std::size_t heap_stage::copy_items(const std::vector<std::byte*>& ports,
                                   std::size_t limit)
{
    const auto items = std::min(items_left(), limit);
    for (std::size_t i = 0; i < d_memory.size(); ++i)
        d_transposer.to_ports(
            ports, d_addresses[i] - d_heap_bytes, i, d_next_item, d_next_item + items);
    d_next_item += items;
    return items;
}

} // namespace gr::spead
