/* -*- c++ -*- */
/*
 * Copyright 2026 The gr-spead authors
 *
 * SPDX-License-Identifier: GPL-3.0-or-later
 */

#ifndef INCLUDED_SPEAD_CORE_SAMPLE_CONVERTER_H
#define INCLUDED_SPEAD_CORE_SAMPLE_CONVERTER_H

#include "sample_group.h"

#include <cstddef>
#include <cstdint>

namespace gr::spead {

//! The level of samples that become integers; all members are 0 for others.
struct sample_level {
    std::uint64_t clipped = 0; //!< clipped samples; a complex one counts once
    float largest = 0;         //!< largest magnitude after scaling, ignoring NaN
};

/*!
 * \brief Converts samples to their format on the wire.
 *
 * Integers keep their value, or their bits if the wire has integers of the same width;
 * those of 16 bits are clipped to the range of packed ones. Floats that become integers
 * are multiplied by \p scale, rounded to nearest, and clipped to the range of these
 * integers. A value counts as clipped if it is out of range after rounding; with 32 bits,
 * 2^31 (unsigned: 2^32) does not count, because the largest integer is no float. NaN
 * becomes 0 and counts as clipped too. Volk rounds halves to even on x86; its kernels for
 * other machines may round them away from zero. Floats that stay floats are multiplied by
 * \p scale.
 *
 * Does not change after construction, so any number of threads may use it.
 */
class sample_converter
{
public:
    //! can_send() must allow \p format.
    explicit sample_converter(const sample_format& format, double scale = 1);

    std::size_t input_bytes() const { return d_input_bytes; } //!< per sample
    const sample_group& group() const { return d_group; }

    //! Whether bytes are copied unchanged, so that samples may be split anywhere.
    bool copies() const { return !d_convert && !d_is_swapped && !d_packed_bits; }

    //! Converts \p samples samples in whole groups. \p out may be unaligned; \p in must
    //! be aligned for its type.
    sample_level convert(std::byte* out, const std::byte* in, std::size_t samples) const;

    //! Converts samples of \p components numbers each to numbers in the host's byte
    //! order.
    using block_function = sample_level (*)(std::byte* out,
                                            const std::byte* in,
                                            std::size_t samples,
                                            std::size_t components,
                                            double scale);

private:
    block_function d_convert; // null if the numbers keep their bits
    bool d_is_swapped;
    std::size_t d_components; // numbers per sample
    std::size_t d_input_bytes;
    unsigned d_packed_bits;     // of a number; 0 if it is not packed
    std::size_t d_number_bytes; // of a number after its conversion
    sample_group d_group;
    double d_scale;
};

} // namespace gr::spead

#endif /* INCLUDED_SPEAD_CORE_SAMPLE_CONVERTER_H */
