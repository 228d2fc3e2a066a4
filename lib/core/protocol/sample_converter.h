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

//! What samples come in as; sc8 and sc16 are pairs of integers, complex64 of floats.
enum class sample_type { int8, sc8, int16, sc16, float32, complex64 };

//! Of integers of more than one byte, as they go on the wire.
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

//! Bits of the integers in a packet, where floats become integers of \p float_bits.
inline unsigned bits_of(sample_type type, unsigned float_bits)
{
    if (is_float(type))
        return float_bits;
    return type == sample_type::int16 || type == sample_type::sc16 ? 16 : 8;
}

//! The level of samples that were converted; all is 0 for integers.
struct sample_level {
    std::uint64_t clipped = 0; //!< samples that were clipped; a complex one counts once
    float largest = 0;         //!< largest magnitude of a number times scale, but for NaN
};

/*!
 * \brief Writes samples into packets, in the form in which they go on the wire.
 *
 * Integers keep their value. float32 and complex64 are sent as integers of \p bits bits,
 * 8 or 16: times \p scale, rounded to nearest, and clipped to the range of these
 * integers. What is outside that range when it is rounded is clipped; so is NaN, which
 * becomes 0. Volk rounds halves to even on x86; its kernels for other machines may round
 * them away from zero.
 *
 * Does not change after its construction: any number of threads.
 */
class sample_converter
{
public:
    //! The room that one sample takes at most, for those that are cut in two.
    static constexpr std::size_t max_output_bytes = 4;

    explicit sample_converter(sample_type type,
                              byte_order order = byte_order::big,
                              float scale = 1,
                              unsigned bits = 8);

    std::size_t input_bytes() const { return d_input_bytes; }   //!< of a sample
    std::size_t output_bytes() const { return d_output_bytes; } //!< of a sample

    //! Whether bytes go as they come, so that samples may be cut anywhere.
    bool copies() const { return d_step == step::copy; }

    //! Writes \p samples to \p out, aligned or not. \p in is aligned as its type asks
    //! for.
    sample_level convert(std::byte* out, const std::byte* in, std::size_t samples) const;

private:
    enum class step { copy, swap, quantise };

    step d_step;
    bool d_swaps; // integers of two bytes, to the other order
    std::size_t d_input_bytes;
    std::size_t d_output_bytes;
    std::size_t d_parts; // numbers in a sample
    float d_scale;
};

} // namespace gr::spead

#endif /* INCLUDED_SPEAD_CORE_SAMPLE_CONVERTER_H */
