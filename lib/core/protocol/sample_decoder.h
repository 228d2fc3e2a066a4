/* -*- c++ -*- */
/*
 * Copyright 2026 The gr-spead authors
 *
 * SPDX-License-Identifier: GPL-3.0-or-later
 */

#ifndef INCLUDED_SPEAD_CORE_SAMPLE_DECODER_H
#define INCLUDED_SPEAD_CORE_SAMPLE_DECODER_H

#include "sample_group.h"

#include <cstddef>

namespace gr::spead {

/*!
 * \brief Converts samples from their format on the wire: the reverse of sample_converter.
 *
 * Integers keep their value, or their bits if the output has integers of the same width.
 * For outputs of floats, numbers are divided by \p scale.
 *
 * Does not change after construction, so any number of threads may use it.
 */
class sample_decoder
{
public:
    //! can_receive() must allow \p format.
    explicit sample_decoder(const sample_format& format, double scale = 1);

    const sample_group& group() const { return d_group; }
    std::size_t output_bytes() const { return d_output_bytes; } //!< per sample

    //! Converts samples from the one at index \p first on. \p in has whole groups and may
    //! be unaligned; \p out must be aligned for its type.
    void decode(std::byte* out,
                const std::byte* in,
                std::size_t first,
                std::size_t samples) const;

    //! Converts \p n numbers that are in the host's byte order and aligned.
    using block_function = void (*)(std::byte* out,
                                    const std::byte* in,
                                    std::size_t n,
                                    double scale);

private:
    block_function d_convert; // null if the numbers keep their bits
    bool d_is_swapped;
    std::size_t d_components; // numbers per sample
    unsigned d_packed_bits;   // of a number; 0 if it is not packed
    unsigned d_number_bytes;  // of a number before its conversion
    sample_group d_group;
    std::size_t d_output_bytes;
    double d_scale;
};

} // namespace gr::spead

#endif /* INCLUDED_SPEAD_CORE_SAMPLE_DECODER_H */
