/* -*- c++ -*- */
/*
 * Copyright 2026 The gr-spead authors
 *
 * SPDX-License-Identifier: GPL-3.0-or-later
 */

#ifndef INCLUDED_SPEAD_CORE_HANDLER_MEMORY_H
#define INCLUDED_SPEAD_CORE_HANDLER_MEMORY_H

#include <array>
#include <cstddef>
#include <memory>
#include <new>
#include <utility>

namespace gr::spead {

/*!
 * \brief Memory for handlers of Boost.Asio, so that no wait allocates.
 *
 * By itself Asio allocates for each wait; what it recycles is not enough when waits of
 * several kinds take turns. There is room for two: a timer that is set anew and the wait
 * that this ends, or both kinds of waits for a socket. One thread.
 */
class handler_memory
{
public:
    handler_memory() = default;
    handler_memory(const handler_memory&) = delete;
    handler_memory& operator=(const handler_memory&) = delete;

    void* allocate(std::size_t bytes)
    {
        if (bytes <= sizeof(room::bytes))
            for (auto& r : d_rooms)
                if (!std::exchange(r.used, true))
                    return r.bytes;
        return ::operator new(bytes);
    }
    void deallocate(void* memory) noexcept
    {
        for (auto& r : d_rooms)
            if (memory == r.bytes) {
                r.used = false;
                return;
            }
        ::operator delete(memory);
    }

private:
    struct room {
        alignas(std::max_align_t) std::byte bytes[256];
        bool used = false;
    };
    std::array<room, 2> d_rooms;
};

//! Shares the memory: an io_context may know of a wait for longer than who waited is
//! there.
template <typename T>
struct handler_allocator {
    using value_type = T;
    std::shared_ptr<handler_memory> memory;

    explicit handler_allocator(std::shared_ptr<handler_memory> from)
        : memory(std::move(from))
    {
    }
    template <typename U>
    handler_allocator(const handler_allocator<U>& other) noexcept : memory(other.memory)
    {
    }
    T* allocate(std::size_t n) const
    {
        return static_cast<T*>(memory->allocate(n * sizeof(T)));
    }
    void deallocate(T* at, std::size_t) const noexcept { memory->deallocate(at); }

    template <typename U>
    bool operator==(const handler_allocator<U>& other) const noexcept
    {
        return memory == other.memory;
    }
    template <typename U>
    bool operator!=(const handler_allocator<U>& other) const noexcept
    {
        return memory != other.memory;
    }
};

//! A handler that waits in memory of its own. Asio asks it for its allocator.
template <typename function>
class handler_in
{
public:
    using allocator_type = handler_allocator<std::byte>;

    handler_in(std::shared_ptr<handler_memory> memory, function handler)
        : d_memory(std::move(memory)), d_handler(std::move(handler))
    {
    }
    allocator_type get_allocator() const noexcept { return d_memory; }

    template <typename... arguments>
    void operator()(arguments&&... about)
    {
        d_handler(std::forward<arguments>(about)...);
    }

private:
    // const, so that a move leaves it in place: when a wait cannot begin, Asio asks the
    // handler that it has moved from
    const allocator_type d_memory;
    function d_handler;
};

} // namespace gr::spead

#endif /* INCLUDED_SPEAD_CORE_HANDLER_MEMORY_H */
