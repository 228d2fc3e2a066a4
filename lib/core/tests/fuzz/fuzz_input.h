/* -*- c++ -*- */
/*
 * Copyright 2026 The gr-spead authors
 *
 * SPDX-License-Identifier: GPL-3.0-or-later
 */

#ifndef INCLUDED_SPEAD_CORE_TESTS_FUZZ_INPUT_H
#define INCLUDED_SPEAD_CORE_TESTS_FUZZ_INPUT_H

#include <initializer_list>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <limits>

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size);

namespace gr::spead {

/*!
 * \brief Turns the bytes of an input into choices. These are 0 once it is used up.
 *
 * clang's FuzzedDataProvider is not available with g++, which replays the corpus and must
 * make the same choices.
 */
class fuzz_input
{
public:
    fuzz_input(const std::uint8_t* data, std::size_t size) : d_at(data), d_left(size) {}

    bool empty() const { return d_left == 0; }
    std::size_t left() const { return d_left; }

    std::uint8_t byte()
    {
        if (!d_left)
            return 0;
        --d_left;
        return *d_at++;
    }
    //! A number of \p bytes bytes.
    std::uint64_t number(std::size_t bytes = 8)
    {
        std::uint64_t value = 0;
        while (bytes-- > 0)
            value = value << 8 | byte();
        return value;
    }
    //! 0 to \p max.
    std::uint64_t up_to(std::uint64_t max)
    {
        const auto value = number(max < 256 ? 1 : max < 1 << 24 ? 3 : 8);
        return max + 1 ? value % (max + 1) : value;
    }
    //! \p min to \p max; \p min if the input is used up.
    std::int64_t between(std::int64_t min, std::int64_t max)
    {
        const auto from = static_cast<std::uint64_t>(min);
        return static_cast<std::int64_t>(from +
                                         up_to(static_cast<std::uint64_t>(max) - from));
    }
    //! Any number, often one near 0, a power of two or the limits of the type.
    std::int64_t edge_value()
    {
        using limits = std::numeric_limits<std::int64_t>;
        const auto near = static_cast<std::uint64_t>(between(-2, 2));
        switch (up_to(6)) {
        case 0:
            return static_cast<std::int64_t>(near);
        case 1:
            return static_cast<std::int64_t>(static_cast<std::uint64_t>(limits::max()) +
                                             near);
        case 2:
            return static_cast<std::int64_t>((std::uint64_t{ 1 } << up_to(63)) + near);
        case 3:
            return -static_cast<std::int64_t>((std::uint64_t{ 1 } << up_to(62)) + near);
        case 4:
            return static_cast<std::int64_t>(up_to(0xffff));
        case 5:
            return static_cast<std::int64_t>(number(5));
        default:
            return static_cast<std::int64_t>(number());
        }
    }
    //! True with probability 1 / \p n; false if the input is used up.
    bool once_in(std::size_t n) { return up_to(n - 1) == n - 1; }

    template <typename value>
    value one_of(std::initializer_list<value> values)
    {
        return values.begin()[up_to(values.size() - 1)];
    }

private:
    const std::uint8_t* d_at;
    std::size_t d_left;
};

//! Aborts the program if a property does not hold.
inline void check(bool holds, const char* property)
{
    if (holds)
        return;
    std::fprintf(stderr, "property violated: %s\n", property);
    std::abort();
}

} // namespace gr::spead

#endif /* INCLUDED_SPEAD_CORE_TESTS_FUZZ_INPUT_H */
