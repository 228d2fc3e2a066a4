/* -*- c++ -*- */
/*
 * Copyright 2026 The gr-spead authors
 *
 * SPDX-License-Identifier: GPL-3.0-or-later
 */

#include "packet_ring.h"

#include <sys/mman.h>

#include <cstdlib>
#include <cstring>
#include <stdexcept>
#include <string>

namespace gr {
namespace spead {

namespace {

constexpr std::size_t huge_page = 2 << 20;

std::byte* allocate(std::size_t bytes)
{
    // whole huge pages, or the kernel would not use them
    const std::size_t page = bytes > huge_page / 2 ? huge_page : 4096;
    const std::size_t whole = (bytes + page - 1) / page * page;
    void* arena = std::aligned_alloc(page, whole);
    if (!arena)
        throw std::runtime_error("spead.sink: no memory for a packet ring of " +
                                 std::to_string(bytes) + " bytes");
    // advice only: a kernel without huge pages goes on with small ones
    madvise(arena, whole, MADV_HUGEPAGE);
    // touched now, so that no page fault falls into the stream
    std::memset(arena, 0, bytes);
    return static_cast<std::byte*>(arena);
}

} // namespace

packet_ring::packet_ring(std::size_t slots, std::size_t slot_bytes)
    : d_slots(slots),
      d_slot_bytes(slot_bytes),
      d_arena(allocate(slots * slot_bytes)),
      d_info(slots),
      d_limit(slots)
{
}

void packet_ring::release_memory::operator()(std::byte* arena) const { std::free(arena); }

} // namespace spead
} // namespace gr
