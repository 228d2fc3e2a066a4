/* -*- c++ -*- */
/*
 * Copyright 2026 The gr-spead authors
 *
 * SPDX-License-Identifier: GPL-3.0-or-later
 */

#include "failing_memory.h"

#include <atomic>
#include <cstddef>
#include <cstdlib>
#include <new>

namespace {

std::atomic<bool> short_here{ false }, short_elsewhere{ false };
std::atomic<std::uint64_t> first_failure{ 0 }, end_of_failures{ 0 }, allocations{ 0 };
std::atomic<std::int64_t> objects{ 0 };
thread_local bool is_here = false;

bool fails()
{
    if (!(is_here ? short_here : short_elsewhere))
        return false;
    const auto number = allocations++;
    return number >= first_failure && number < end_of_failures;
}

void* allocate(std::size_t bytes, std::size_t alignment)
{
    void* memory = nullptr;
    if (fails() || posix_memalign(&memory, alignment, bytes) != 0)
        throw std::bad_alloc();
    ++objects;
    return memory;
}

void release(void* memory) noexcept
{
    if (memory)
        --objects;
    std::free(memory);
}

} // namespace

// The other forms of new and delete call these. Libraries use them, too.
#define VISIBLE __attribute__((visibility("default")))

VISIBLE void* operator new(std::size_t bytes)
{
    return allocate(bytes, alignof(std::max_align_t));
}
VISIBLE void* operator new(std::size_t bytes, std::align_val_t alignment)
{
    return allocate(bytes, static_cast<std::size_t>(alignment));
}
VISIBLE void operator delete(void* memory) noexcept { release(memory); }
VISIBLE void operator delete(void* memory, std::size_t) noexcept { release(memory); }
VISIBLE void operator delete(void* memory, std::align_val_t) noexcept { release(memory); }
VISIBLE void operator delete(void* memory, std::size_t, std::align_val_t) noexcept
{
    release(memory);
}

memory_shortage::memory_shortage(const plan& which)
{
    is_here = true;
    allocations = 0;
    first_failure = which.first;
    end_of_failures = which.first + which.failures;
    (which.on == where::here ? short_here : short_elsewhere) = true;
}

memory_shortage::~memory_shortage() { short_here = short_elsewhere = is_here = false; }

bool memory_shortage::has_struck() const { return allocations > first_failure; }

std::int64_t objects_in_memory() { return objects; }
