/* -*- c++ -*- */
/*
 * Copyright 2026 The gr-spead authors
 *
 * SPDX-License-Identifier: GPL-3.0-or-later
 */

#ifndef INCLUDED_SPEAD_CORE_SAMPLE_CONVERTER_H
#define INCLUDED_SPEAD_CORE_SAMPLE_CONVERTER_H

#include <cstddef>
#include <cstdint>

namespace gr::spead {

//! Types of samples in a flow graph. sc8 and sc16 are pairs of integers, complex64 is a
//! pair of floats.
enum class sample_type { int8, sc8, int16, sc16, float32, complex64 };

//! Byte order of integers on the wire, if they have more than one byte.
enum class byte_order { big, little };

inline bool is_complex(sample_type type)
{
    return type == sample_type::sc8 || type == sample_type::sc16 ||
           type == sample_type::complex64;
}

inline bool is_float(sample_type type)
{
    return type == sample_type::float32 || type == sample_type::complex64;
}

//! Width of the integers in a packet. Floats become integers of \p float_bits.
inline unsigned bits_of(sample_type type, unsigned float_bits)
{
    if (is_float(type))
        return float_bits;
    return type == sample_type::int16 || type == sample_type::sc16 ? 16 : 8;
}

//! The level of converted samples; all members are 0 for integers.
struct sample_level {
    std::uint64_t clipped = 0; //!< clipped samples; a complex one counts once
    float largest = 0;         //!< largest magnitude of a number times scale, except NaN
};

/*!
 * \brief Converts samples to their format on the wire.
 *
 * Integers keep their value. float32 and complex64 are sent as integers of \p bits bits,
 * 8 or 16: multiplied by \p scale, rounded to nearest, and clipped to the range of these
 * integers. A value counts as clipped if it is out of range after rounding. NaN becomes 0
 * and counts as clipped too. Volk rounds halves to even on x86; its kernels for other
 * machines may round them away from zero.
 *
 * Does not change after construction, so any number of threads may use it.
 */
class sample_converter
{
public:
    //! Maximum bytes of a sample on the wire, for samples split between packets.
    static constexpr std::size_t max_output_bytes = 4;

    explicit sample_converter(sample_type type,
                              byte_order order = byte_order::big,
                              float scale = 1,
                              unsigned bits = 8);

    std::size_t input_bytes() const { return d_input_bytes; }   //!< per sample
    std::size_t output_bytes() const { return d_output_bytes; } //!< per sample

    //! Whether bytes are copied unchanged, so that samples may be split anywhere.
    bool copies() const { return d_step == step::copy; }

    //! Converts a number of samples. \p out may be unaligned; \p in must be aligned for
    //! its type.
    sample_level convert(std::byte* out, const std::byte* in, std::size_t samples) const;

private:
    enum class step { copy, swap, quantise };

    step d_step;
    bool d_swaps; // 16-bit integers are sent in the other order
    std::size_t d_input_bytes;
    std::size_t d_output_bytes;
    std::size_t d_parts; // numbers per sample
    float d_scale;
};

} // namespace gr::spead

#endif /* INCLUDED_SPEAD_CORE_SAMPLE_CONVERTER_H */
