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

namespace gr {
namespace spead {

namespace {

std::byte* map_arena(std::size_t bytes)
{
    void* arena =
        mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (arena == MAP_FAILED)
        throw std::runtime_error("no memory for a packet ring of " +
                                 std::to_string(bytes) +
                                 " bytes: " + std::strerror(errno));
    // advice only: an old kernel or a small machine goes on with small pages
    madvise(arena, bytes, MADV_HUGEPAGE);
    // touched now, so that no page fault falls into the stream
    std::memset(arena, 0, bytes);
    return static_cast<std::byte*>(arena);
}

} // namespace

packet_ring::packet_ring(std::size_t slots, std::size_t slot_bytes)
    : d_slots(slots),
      d_slot_bytes(slot_bytes),
      d_arena(map_arena(slots * slot_bytes), unmap{ slots * slot_bytes }),
      d_info(slots),
      d_limit(slots)
{
}

void packet_ring::unmap::operator()(std::byte* arena) const { munmap(arena, bytes); }

} // namespace spead
} // namespace gr
