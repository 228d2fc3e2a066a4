/* -*- c++ -*- */
/*
 * Copyright 2026 The gr-spead authors
 *
 * SPDX-License-Identifier: GPL-3.0-or-later
 */

#ifndef INCLUDED_SPEAD_CORE_SAMPLE_FORMAT_H
#define INCLUDED_SPEAD_CORE_SAMPLE_FORMAT_H

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace gr::spead {

//! Types of samples in a flow graph. sc8 and sc16 are pairs of integers, complex64 is a
//! pair of floats.
enum class sample_type { int8, sc8, int16, sc16, int32, float32, complex64 };

//! Byte order of numbers on the wire, if they have more than one byte.
enum class byte_order { big, little };

constexpr auto host_order =
    __BYTE_ORDER == __BIG_ENDIAN ? byte_order::big : byte_order::little;

//! The encoding of a number in packets.
struct number_format {
    char type = 0; //!< 'i', 'u', 'f', 'c' (two floats), 'b' (boolean) or 0 (unknown)
    unsigned bits = 0;
    byte_order order = byte_order::big;

    bool operator==(const number_format& other) const
    {
        return type == other.type && bits == other.bits && order == other.order;
    }
    bool is_integer() const { return type == 'i' || type == 'u'; }
    //! Whether it is a packed integer: see packed_numbers.h.
    bool is_packed() const { return type == 'i' && (bits == 10 || bits == 12); }
    unsigned bytes() const { return (bits + 7) / 8; }
    //! The format of each component of a complex number; the format itself for others.
    number_format real() const;
    //! The scale at which the largest value is 1.0: the largest integer, or 1 for floats.
    double full_scale() const;
    //! Extracts the bits of a number whose bytes, right-aligned in \p raw, were read as
    //! big-endian. Does not extend the sign.
    std::uint64_t value(std::uint64_t raw) const;
    //! A value() with its sign, if it is a signed integer.
    std::int64_t signed_value(std::uint64_t value) const;
    //! A numpy dtype such as "i1", ">i2" or "<c8"; of packed integers, type and bits.
    std::string dtype() const;
};

/*!
 * \brief A sample type in the flow graph.
 *
 * GRC and Python take their lists from this table.
 */
struct sample_type_row {
    const char* name; //!< in options
    sample_type type;
    number_format number;   //!< of each component
    std::size_t components; //!< numbers per sample
    number_format wire; //!< default on the wire; floats are sent as most telescopes do
    const char* port;   //!< its type in GRC
    const char* label;  //!< in GRC
};

// clang-format off
inline constexpr std::array<sample_type_row, 7> sample_type_table{ {
    { "int8", sample_type::int8, { 'i', 8 }, 1, { 'i', 8 }, "byte", "Int 8" },
    { "sc8", sample_type::sc8, { 'i', 8 }, 2, { 'i', 8 }, "sc8", "Complex int 8" },
    { "int16", sample_type::int16, { 'i', 16 }, 1, { 'i', 16 }, "short", "Int 16" },
    { "sc16", sample_type::sc16, { 'i', 16 }, 2, { 'i', 16 }, "sc16", "Complex int 16" },
    { "int32", sample_type::int32, { 'i', 32 }, 1, { 'i', 32 }, "int", "Int 32" },
    { "float", sample_type::float32, { 'f', 32 }, 1, { 'i', 8 }, "float", "Float" },
    { "complex", sample_type::complex64, { 'f', 32 }, 2, { 'i', 8 }, "complex", "Complex" },
} };
// clang-format on

template <std::size_t... i>
constexpr auto names_of_sample_types(std::index_sequence<i...>)
{
    return std::array<std::pair<const char*, sample_type>, sizeof...(i)>{
        { { sample_type_table[i].name, sample_type_table[i].type }... }
    };
}

//! The names of sample types in options.
inline constexpr auto sample_types =
    names_of_sample_types(std::make_index_sequence<sample_type_table.size()>());

inline const sample_type_row& row_of(sample_type type)
{
    return sample_type_table[static_cast<std::size_t>(type)];
}

//! Numbers per sample.
inline std::size_t components_of(sample_type type) { return row_of(type).components; }
//! Bits of each number of a sample in the flow graph.
inline unsigned bits_of(sample_type type) { return row_of(type).number.bits; }
inline bool is_complex(sample_type type) { return components_of(type) == 2; }
inline bool is_float(sample_type type) { return row_of(type).number.type == 'f'; }

//! \name Possible conversions
//! Floats of the flow graph can become any format on the wire, and any format can become
//! them. Integers can also become integers of the same width, with the same bits, and any
//! format that holds all their values; integers of 16 bits are clipped to packed ones.
//! \p wire is the format of a number, or 'c' for complex samples.
//! \{
bool can_send(sample_type type, const number_format& wire);
bool can_receive(sample_type type, const number_format& wire);
//! \}

//! The format of samples in the flow graph and on the wire.
struct sample_format {
    sample_type type = sample_type::int8;  //!< in the flow graph
    number_format wire{ 'i', 8 };          //!< of a number, or 'c' for complex samples
    std::uint64_t heap_samples = 0;        //!< per heap, if the shape must be fixed
    std::vector<std::uint64_t> shape = {}; //!< of heaps with axes; else empty

    //! Whether only a numpy header, whose shape is fixed, can describe the samples.
    bool needs_numpy_header() const
    {
        return wire.type == 'c' || (wire.bits > 8 && wire.order == byte_order::little);
    }

    //! Whether descriptors give the shape of all heaps, so that none may be shorter.
    bool has_fixed_shape() const { return needs_numpy_header() || !shape.empty(); }
};

} // namespace gr::spead

#endif /* INCLUDED_SPEAD_CORE_SAMPLE_FORMAT_H */
