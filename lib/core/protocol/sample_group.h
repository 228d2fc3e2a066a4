/* -*- c++ -*- */
/*
 * Copyright 2026 The gr-spead authors
 *
 * SPDX-License-Identifier: GPL-3.0-or-later
 */

#ifndef INCLUDED_SPEAD_CORE_SAMPLE_GROUP_H
#define INCLUDED_SPEAD_CORE_SAMPLE_GROUP_H

#include "sample_format.h"

#include <cstddef>
#include <cstdint>

namespace gr::spead {

/*!
 * \brief The smallest number of samples that fills whole bytes in packets: several packed
 * samples, or else one.
 *
 * Packets may split a group, but it is converted as a whole.
 */
class sample_group
{
public:
    //! Maximum size of a group, both in packets and in the flow graph.
    static constexpr std::size_t max_bytes = 16;

    explicit sample_group(const sample_format& format)
    {
        const std::size_t bits = components_of(format.type) * format.wire.real().bits;
        while ((bits << d_samples_log2) % 8)
            ++d_samples_log2;
        const auto bytes = (bits << d_samples_log2) / 8;
        for (d_factor = bytes; d_factor % 2 == 0; d_factor /= 2)
            ++d_bytes_log2;
    }

    std::size_t samples() const { return std::size_t{ 1 } << d_samples_log2; }
    std::size_t bytes() const { return d_factor << d_bytes_log2; }

    //! Whether its samples are packed.
    bool is_packed() const { return d_factor != 1; }

    //! Samples in the whole groups of this many bytes, which must not be negative.
    template <typename integer>
    integer samples_of(integer bytes) const
    {
        return divide(bytes >> d_bytes_log2) << d_samples_log2;
    }
    //! Samples in the whole and partial groups of this many bytes.
    template <typename integer>
    integer touched_samples(integer bytes) const
    {
        return samples_of(bytes + static_cast<integer>(this->bytes()) - 1);
    }
    //! Samples without those of a partial group at the end.
    template <typename integer>
    integer whole(integer samples) const
    {
        return samples >> d_samples_log2 << d_samples_log2;
    }
    //! Bytes of the whole groups of these samples.
    template <typename integer>
    integer bytes_of(integer samples) const
    {
        return (samples >> d_samples_log2) * static_cast<integer>(d_factor)
               << d_bytes_log2;
    }

private:
    // the factors of possible sizes: divisions by constants are multiplications
    template <typename integer>
    integer divide(integer number) const
    {
        return d_factor == 1 ? number : d_factor == 3 ? number / 3 : number / 5;
    }

    unsigned d_samples_log2 = 0;
    // bytes of a group: d_factor << d_bytes_log2
    unsigned d_bytes_log2 = 0;
    std::size_t d_factor = 1;
};

} // namespace gr::spead

#endif /* INCLUDED_SPEAD_CORE_SAMPLE_GROUP_H */
