/* -*- c++ -*- */
/*
 * Copyright 2026 The gr-spead authors
 *
 * SPDX-License-Identifier: GPL-3.0-or-later
 */

#include "cost_watch.h"

#include <pthread.h>

#include <atomic>
#include <cerrno>
#include <cstdlib>

// The internal names of the C library's functions. The functions below replace malloc and
// its relatives everywhere, including operator new and libraries, and forward to these.
extern "C" {
void* __libc_malloc(std::size_t bytes);
void* __libc_calloc(std::size_t n, std::size_t bytes);
void* __libc_realloc(void* old, std::size_t bytes);
void* __libc_memalign(std::size_t alignment, std::size_t bytes);
// The linker option --wrap requires these names.
int __real_pthread_mutex_lock(pthread_mutex_t* mutex);
int __wrap_pthread_mutex_lock(pthread_mutex_t* mutex);
void cost_watch_breakpoint();
}

namespace {

struct counts {
    std::atomic<std::uint64_t> allocations{ 0 };
    std::atomic<std::uint64_t> locks{ 0 };

    void reset() { allocations = locks = 0; }
    cost_watch::tally get() const { return { allocations, locks }; }
};
std::atomic<bool> watching{ false };
counts on_the_watching_thread;
counts on_other_threads;
thread_local bool is_the_watching_thread = false;

void count(std::atomic<std::uint64_t> counts::*counter)
{
    if (!watching.load(std::memory_order_relaxed))
        return;
    auto& counted = is_the_watching_thread ? on_the_watching_thread : on_other_threads;
    (counted.*counter).fetch_add(1, std::memory_order_relaxed);
    cost_watch_breakpoint();
}

} // namespace

#define VISIBLE __attribute__((visibility("default")))

extern "C" {

__attribute__((noinline)) void cost_watch_breakpoint() { asm volatile(""); }

VISIBLE void* malloc(std::size_t bytes) noexcept
{
    count(&counts::allocations);
    return __libc_malloc(bytes);
}

VISIBLE void* calloc(std::size_t n, std::size_t bytes) noexcept
{
    count(&counts::allocations);
    return __libc_calloc(n, bytes);
}

VISIBLE void* realloc(void* old, std::size_t bytes) noexcept
{
    count(&counts::allocations);
    return __libc_realloc(old, bytes);
}

VISIBLE void* memalign(std::size_t alignment, std::size_t bytes) noexcept
{
    count(&counts::allocations);
    return __libc_memalign(alignment, bytes);
}

VISIBLE void* aligned_alloc(std::size_t alignment, std::size_t bytes) noexcept
{
    return memalign(alignment, bytes);
}

VISIBLE int
posix_memalign(void** result, std::size_t alignment, std::size_t bytes) noexcept
{
    void* const memory = memalign(alignment, bytes);
    if (!memory)
        return ENOMEM;
    *result = memory;
    return 0;
}

int __wrap_pthread_mutex_lock(pthread_mutex_t* mutex)
{
    count(&counts::locks);
    return __real_pthread_mutex_lock(mutex);
}

} // extern "C"

cost_watch::cost_watch()
{
    on_the_watching_thread.reset();
    on_other_threads.reset();
    is_the_watching_thread = true;
    watching = true;
}

cost_watch::~cost_watch()
{
    watching = false;
    is_the_watching_thread = false;
}

cost_watch::tally cost_watch::here() const { return on_the_watching_thread.get(); }

cost_watch::tally cost_watch::elsewhere() const { return on_other_threads.get(); }
