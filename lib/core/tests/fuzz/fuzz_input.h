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
 * \brief The choices that the bytes of an input stand for. 0 when they are used up.
 *
 * Not clang's FuzzedDataProvider: the same bytes must mean the same for g++, which
 * replays the corpus.
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
    //! A number of so many bytes.
    std::uint64_t number(std::size_t bytes = 8)
    {
        std::uint64_t value = 0;
        while (bytes-- > 0)
            value = value << 8 | byte();
        return value;
    }
    //! 0 to \p most.
    std::uint64_t upto(std::uint64_t most)
    {
        const auto value = number(most < 256 ? 1 : most < 1 << 24 ? 3 : 8);
        return most + 1 ? value % (most + 1) : value;
    }
    //! \p least if the input is used up.
    std::int64_t between(std::int64_t least, std::int64_t most)
    {
        const auto from = static_cast<std::uint64_t>(least);
        return static_cast<std::int64_t>(from +
                                         upto(static_cast<std::uint64_t>(most) - from));
    }
    //! Any number, often one at the edge of a range or a power of two.
    std::int64_t edgy()
    {
        using limits = std::numeric_limits<std::int64_t>;
        const auto near = static_cast<std::uint64_t>(between(-2, 2));
        switch (upto(6)) {
        case 0:
            return static_cast<std::int64_t>(near);
        case 1:
            return static_cast<std::int64_t>(static_cast<std::uint64_t>(limits::max()) +
                                             near);
        case 2:
            return static_cast<std::int64_t>((std::uint64_t{ 1 } << upto(63)) + near);
        case 3:
            return -static_cast<std::int64_t>((std::uint64_t{ 1 } << upto(62)) + near);
        case 4:
            return static_cast<std::int64_t>(upto(0xffff));
        case 5:
            return static_cast<std::int64_t>(number(5));
        default:
            return static_cast<std::int64_t>(number());
        }
    }
    //! True once in \p n, and not if the input is used up.
    bool once_in(std::size_t n) { return upto(n - 1) == n - 1; }

    template <typename value>
    value one_of(std::initializer_list<value> values)
    {
        return values.begin()[upto(values.size() - 1)];
    }

private:
    const std::uint8_t* d_at;
    std::size_t d_left;
};

//! Ends the program if a property does not hold.
inline void check(bool holds, const char* property)
{
    if (holds)
        return;
    std::fprintf(stderr, "does not hold: %s\n", property);
    std::abort();
}

} // namespace gr::spead

#endif /* INCLUDED_SPEAD_CORE_TESTS_FUZZ_INPUT_H */
