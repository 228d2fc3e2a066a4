/* -*- c++ -*- */
/*
 * Copyright 2026 The gr-spead authors
 *
 * SPDX-License-Identifier: GPL-3.0-or-later
 */

#include "sample_format.h"

#include <byteswap.h>

namespace gr::spead {

namespace {

// Whether integers of \p target_bits hold all values of integers of \p bits, or keep
// their bits because they are as wide.
bool fits(bool is_signed, unsigned bits, bool is_target_signed, unsigned target_bits)
{
    return bits == target_bits ||
           (bits < target_bits && (is_target_signed || !is_signed));
}

bool is_supported(sample_type type, const number_format& wire)
{
    const auto real = wire.real();
    const bool is_known = real.is_packed() ? real.order == byte_order::big
                          : real.is_integer()
                              ? real.bits == 8 || real.bits == 16 || real.bits == 32
                              : real.type == 'f' && (real.bits == 32 || real.bits == 64);
    return is_known && (wire.type != 'c' || is_complex(type));
}

} // namespace

number_format number_format::real() const
{
    return type == 'c' ? number_format{ 'f', bits / 2, order } : *this;
}

double number_format::full_scale() const
{
    if (!is_integer())
        return 1;
    return static_cast<double>((std::uint64_t{ 1 } << (bits - (type == 'i'))) - 1);
}

std::uint64_t number_format::value(std::uint64_t raw) const
{
    if (!bits || bits > 64)
        return raw;
    if (order == byte_order::little)
        raw = bswap_64(raw) >> (64 - 8 * bytes());
    // spead2 pads a number on the right to whole bytes
    raw >>= 8 * bytes() - bits;
    return bits == 64 ? raw : raw & ((std::uint64_t{ 1 } << bits) - 1);
}

std::int64_t number_format::signed_value(std::uint64_t value) const
{
    const auto unused = type == 'i' && bits && bits < 64 ? 64 - bits : 0;
    return static_cast<std::int64_t>(value << unused) >> unused;
}

std::string number_format::dtype() const
{
    if (is_packed())
        return type + std::to_string(bits);
    const std::string prefix = bits <= 8 ? "" : order == byte_order::big ? ">" : "<";
    return prefix + type + std::to_string(bits / 8);
}

bool can_send(sample_type type, const number_format& wire)
{
    if (!is_supported(type, wire))
        return false;
    const auto real = wire.real();
    if (is_float(type))
        return true;
    constexpr unsigned float_digits = 24; // floats of 32 bits hold such integers
    if (real.is_packed() && bits_of(type) == 16)
        return true;
    return real.is_integer() ? fits(true, bits_of(type), real.type == 'i', real.bits)
                             : real.bits == 64 || bits_of(type) <= float_digits;
}

bool can_receive(sample_type type, const number_format& wire)
{
    if (!is_supported(type, wire))
        return false;
    return is_float(type) ||
           (wire.is_integer() && fits(wire.type == 'i', wire.bits, true, bits_of(type)));
}

} // namespace gr::spead
