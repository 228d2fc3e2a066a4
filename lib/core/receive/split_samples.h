/* -*- c++ -*- */
/*
 * Copyright 2026 The gr-spead authors
 *
 * SPDX-License-Identifier: GPL-3.0-or-later
 */

#ifndef INCLUDED_SPEAD_CORE_SPLIT_SAMPLES_H
#define INCLUDED_SPEAD_CORE_SPLIT_SAMPLES_H

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>

namespace gr::spead {

/*!
 * \brief Samples of which a packet holds only a part of the bytes, until the rest comes.
 *
 * Keeps the newest ones. Does not allocate after its construction.
 */
class split_samples
{
public:
    static constexpr std::size_t most_sample_bytes = 16;

    //! Adds bytes from \p offset on of a sample of \p size bytes, which all come in one
    //! heap. Returns its bytes once they are all there, otherwise nullptr.
    const std::byte* add(std::size_t output,
                         std::int64_t position,
                         std::uint64_t heap,
                         std::uint64_t sender,
                         std::size_t offset,
                         const std::byte* data,
                         std::size_t bytes,
                         std::size_t size)
    {
        auto at = std::find_if(d_samples.begin(), d_samples.end(), [&](auto& each) {
            return each.present && each.position == position && each.output == output &&
                   each.heap == heap && each.sender == sender;
        });
        if (at == d_samples.end()) {
            at = d_samples.begin() + d_next++ % most;
            *at = { output, position, heap, sender, 0, {} };
        }
        for (std::size_t i = offset; i < offset + bytes; ++i) {
            const auto bit = 1u << i;
            if (!(at->present & bit))
                at->bytes[i] = data[i - offset];
            at->present |= bit;
        }
        if (at->present != (1u << size) - 1)
            return nullptr;
        at->present = 0;
        return at->bytes.data();
    }
    void clear() { d_samples.fill({}); }

private:
    static constexpr std::size_t most = 64;

    struct sample {
        std::size_t output = 0;
        std::int64_t position = 0;
        std::uint64_t heap = 0; // its counter
        std::uint64_t sender = 0;
        unsigned present = 0; // a bit for each byte
        std::array<std::byte, most_sample_bytes> bytes = {};
    };
    std::array<sample, most> d_samples;
    std::size_t d_next = 0;
};

} // namespace gr::spead

#endif /* INCLUDED_SPEAD_CORE_SPLIT_SAMPLES_H */
