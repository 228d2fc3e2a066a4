/* -*- c++ -*- */
/*
 * Copyright 2026 The gr-spead authors
 *
 * SPDX-License-Identifier: GPL-3.0-or-later
 */

#include "packet_ring.h"

#include <sys/mman.h>

#include <cstring>
#include <stdexcept>
#include <string>

namespace gr::spead {

namespace {

constexpr std::size_t huge_page_bytes = 2 << 20;

std::size_t round_up(std::size_t value, std::size_t multiple)
{
    return (value + multiple - 1) / multiple * multiple;
}

} // namespace

packet_ring::memory packet_ring::map(std::size_t bytes)
{
    // huge pages need aligned memory of whole huge pages
    const std::size_t page_bytes = bytes > huge_page_bytes / 2 ? huge_page_bytes : 4096;
    const std::size_t arena_bytes = round_up(bytes, page_bytes);
    const std::size_t mapped_bytes = arena_bytes + page_bytes;
    void* mapping = mmap(nullptr,
                         mapped_bytes,
                         PROT_READ | PROT_WRITE,
                         MAP_PRIVATE | MAP_ANONYMOUS,
                         -1,
                         0);
    if (mapping == MAP_FAILED)
        throw std::runtime_error("cannot allocate a packet ring of " +
                                 std::to_string(bytes) +
                                 " bytes; reduce buffer_size or heap_samples");
    auto* begin = static_cast<std::byte*>(mapping);
    const std::size_t leading_bytes =
        round_up(reinterpret_cast<std::uintptr_t>(begin), page_bytes) -
        reinterpret_cast<std::uintptr_t>(begin);
    if (leading_bytes)
        munmap(begin, leading_bytes);
    if (leading_bytes < page_bytes)
        munmap(begin + leading_bytes + arena_bytes, page_bytes - leading_bytes);
    memory arena(begin + leading_bytes, { arena_bytes });
    // only a hint: a kernel without huge pages uses small ones
    madvise(arena.get(), arena_bytes, MADV_HUGEPAGE);
    // avoids page faults while streaming
    std::memset(arena.get(), 0, bytes);
    return arena;
}

packet_ring::packet_ring(std::size_t slots, std::size_t slot_bytes)
    : d_slots(slots),
      d_slot_bytes(slot_bytes),
      d_arena(map(slots * slot_bytes)),
      d_info(slots),
      d_limit(slots),
      d_wake_threshold(slots - slots / 4)
{
}

void packet_ring::unmap::operator()(std::byte* arena) const { munmap(arena, bytes); }

} // namespace gr::spead
