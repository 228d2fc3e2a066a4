/* -*- c++ -*- */
/*
 * Copyright 2026 The gr-spead authors
 *
 * SPDX-License-Identifier: GPL-3.0-or-later
 */

#ifndef INCLUDED_SPEAD_CORE_SAMPLE_DECODER_H
#define INCLUDED_SPEAD_CORE_SAMPLE_DECODER_H

#include "sample_converter.h"

#include <cstddef>

namespace gr::spead {

/*!
 * \brief Converts samples from their format on the wire: the reverse of sample_converter.
 *
 * Integers keep their value. float32 and complex64 are integers of \p bits bits, 8 or 16,
 * divided by \p scale.
 *
 * Does not change after construction, so any number of threads may use it.
 */
class sample_decoder
{
public:
    explicit sample_decoder(sample_type type,
                            byte_order order = byte_order::big,
                            float scale = 1,
                            unsigned bits = 8);

    //! \name Size of a sample
    //! \{
    std::size_t wire_bytes() const { return std::size_t{ 1 } << d_wire_bytes_log2; }
    unsigned wire_bytes_log2() const { return d_wire_bytes_log2; }
    std::size_t output_bytes() const { return d_output_bytes; }
    //! \}

    //! Converts a number of samples. \p out must be aligned for its type; \p in may be
    //! unaligned.
    void decode(std::byte* out, const std::byte* in, std::size_t samples) const;

private:
    void to_floats(float* out, const std::byte* in, std::size_t numbers) const;

    bool d_is_float;
    bool d_swaps;        // 16-bit integers arrive in the other order
    std::size_t d_parts; // numbers per sample
    unsigned d_bits;
    unsigned d_wire_bytes_log2;
    std::size_t d_output_bytes;
    float d_scale;
};

} // namespace gr::spead

#endif /* INCLUDED_SPEAD_CORE_SAMPLE_DECODER_H */
