/* -*- c++ -*- */
/*
 * Copyright 2026 The gr-spead authors
 *
 * SPDX-License-Identifier: GPL-3.0-or-later
 */

#include "helpers/packing.h"
#include "protocol/sample_converter.h"

#include <volk/volk.h>
#include <boost/test/unit_test.hpp>
#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <random>
#include <string>
#include <vector>

using namespace gr::spead;

namespace {

constexpr float infinity = std::numeric_limits<float>::infinity();
constexpr float not_a_number = std::numeric_limits<float>::quiet_NaN();

struct converted {
    std::vector<int> numbers;
    std::uint64_t clipped;
};

bool operator==(const converted& a, const converted& b)
{
    return a.numbers == b.numbers && a.clipped == b.clipped;
}

std::ostream& operator<<(std::ostream& to, const converted& c)
{
    for (const int number : c.numbers)
        to << number << " ";
    return to << "with " << c.clipped << " clipped";
}

// numpy.clip(numpy.rint(numbers * scale), -128, 127), and how many samples that changes
converted expected(const std::vector<float>& numbers,
                   std::size_t parts,
                   float scale,
                   unsigned bits = 8)
{
    const float lowest = bits == 8 ? INT8_MIN : INT16_MIN;
    const float highest = bits == 8 ? INT8_MAX : INT16_MAX;
    converted all{ {}, 0 };
    bool clips = false;
    for (const float number : numbers) {
        const float rounded = std::rint(number * scale);
        const bool fits = rounded >= lowest && rounded <= highest;
        const float result =
            std::isnan(rounded) ? 0 : std::clamp(rounded, lowest, highest);
        all.numbers.push_back(static_cast<int>(result));
        clips = clips || !fits;
        if (all.numbers.size() % parts == 0) {
            all.clipped += clips;
            clips = false;
        }
    }
    return all;
}

// Somewhere in memory, and nothing must be written around it.
template <typename number>
std::vector<std::byte> convert_at(std::size_t offset,
                                  const sample_converter& converter,
                                  const std::vector<number>& numbers,
                                  std::size_t samples,
                                  sample_level& level)
{
    const auto* in = reinterpret_cast<const std::byte*>(numbers.data());
    const std::byte untouched{ 0x5a };
    const std::size_t size = samples * converter.output_bytes();
    std::vector<std::byte> out(offset + size + 64, untouched);
    level = converter.convert(out.data() + offset, in, samples);
    const auto begin = out.begin() + static_cast<std::ptrdiff_t>(offset);
    const auto end = begin + static_cast<std::ptrdiff_t>(size);
    const auto is_untouched = [&](std::byte b) { return b == untouched; };
    BOOST_CHECK(std::all_of(out.begin(), begin, is_untouched));
    BOOST_CHECK(std::all_of(end, out.end(), is_untouched));
    return { begin, end };
}

converted quantised(const std::vector<float>& numbers,
                    float scale = 1,
                    sample_type type = sample_type::float32,
                    std::size_t offset = 0,
                    unsigned bits = 8,
                    byte_order order = byte_order::big)
{
    const sample_converter converter(type, order, scale, bits);
    const std::size_t samples = numbers.size() * sizeof(float) / converter.input_bytes();
    sample_level level;
    const auto out = convert_at(offset, converter, numbers, samples, level);
    converted result{ {}, level.clipped };
    const auto byte = [&](std::size_t i) { return std::to_integer<int>(out[i]); };
    for (std::size_t i = 0; i < out.size(); i += bits / 8) {
        if (bits == 8) {
            result.numbers.push_back(static_cast<std::int8_t>(byte(i)));
            continue;
        }
        const bool is_big = order == byte_order::big;
        const int high = byte(is_big ? i : i + 1);
        const int low = byte(is_big ? i + 1 : i);
        result.numbers.push_back(static_cast<std::int16_t>(high << 8 | low));
    }
    return result;
}

// Numbers of which about one in \p rarity is no ordinary one.
std::vector<float>
mixed_numbers(std::size_t n, unsigned rarity, unsigned seed, unsigned bits)
{
    static const float special[] = { -0.5f,     0.5f,         1.5f,         127.4999f,
                                     127.5f,    -128.5f,      -128.50002f,  1e10f,
                                     32767.f,   32767.496f,   32767.5f,     32768.f,
                                     -32768.5f, -32768.504f,  -32769.f,     -32768.f,
                                     -3e38f,    1e-40f,       -0.0f,        infinity,
                                     -infinity, not_a_number, -not_a_number };
    std::mt19937 random(seed);
    std::vector<float> numbers(n);
    for (auto& number : numbers) {
        if (random() % rarity == 0)
            number = special[random() % std::size(special)];
        else // quarters, so that many are ties
            number = bits == 8 ? static_cast<float>(random() % 1017) / 4 - 127
                               : static_cast<float>(random() % 262100) / 4 - 32760;
    }
    return numbers;
}

void check_quantised(unsigned bits, float scale = 1)
{
    for (const unsigned rarity : { 2u, 100u, 100000u })
        for (unsigned samples = 0; samples < 2000; samples += samples < 100 ? 1 : 61)
            for (const unsigned parts : { 1u, 2u }) {
                const auto numbers =
                    mixed_numbers(samples * parts, rarity, samples, bits);
                const auto type =
                    parts == 2 ? sample_type::complex64 : sample_type::float32;
                BOOST_TEST_CONTEXT(samples << " samples of " << parts << ", " << bits)
                BOOST_CHECK_EQUAL(quantised(numbers, scale, type, samples % 70, bits),
                                  expected(numbers, parts, scale, bits));
            }
}

// Makes Volk's dispatcher take a kernel of our choice.
template <typename kernel>
class chosen_kernel
{
public:
    chosen_kernel(kernel& dispatcher, kernel chosen)
        : d_dispatcher(dispatcher), d_before(dispatcher)
    {
        dispatcher = chosen;
    }
    ~chosen_kernel() { d_dispatcher = d_before; }

private:
    kernel& d_dispatcher;
    const kernel d_before;
};

struct {
    const char* name;
    bool wants_alignment;
} volk_kernel;

} // namespace

BOOST_AUTO_TEST_SUITE(converter)

BOOST_AUTO_TEST_CASE(bytes_are_copied)
{
    const auto in = noise(200);
    for (const auto type : { sample_type::int8, sample_type::sc8 })
        for (std::size_t samples = 0; samples <= 100; ++samples) {
            const sample_converter converter(type);
            BOOST_CHECK(converter.copies());
            sample_level level;
            const auto out = convert_at(samples % 7, converter, in, samples, level);
            const auto* as_it_was = reinterpret_cast<const std::byte*>(in.data());
            BOOST_CHECK(std::equal(out.begin(), out.end(), as_it_was));
            BOOST_CHECK_EQUAL(out.size(), samples * converter.input_bytes());
            BOOST_CHECK_EQUAL(level.clipped, 0u);
            BOOST_CHECK_EQUAL(level.largest, 0);
        }
}

BOOST_AUTO_TEST_CASE(words_have_the_requested_order)
{
    const auto in = noise(400);
    for (const auto type : { sample_type::int16, sample_type::sc16 })
        for (const auto order : { byte_order::big, byte_order::little })
            for (std::size_t samples = 0; samples <= 100; ++samples) {
                const sample_converter converter(type, order);
                sample_level level;
                const auto out = convert_at(samples % 7, converter, in, samples, level);
                BOOST_REQUIRE_EQUAL(out.size(), samples * converter.input_bytes());
                for (std::size_t i = 0; i < out.size(); i += 2) {
                    std::uint16_t word;
                    std::memcpy(&word, in.data() + i, sizeof word);
                    const std::byte high{ static_cast<std::uint8_t>(word >> 8) };
                    const std::byte low{ static_cast<std::uint8_t>(word & 0xff) };
                    BOOST_CHECK(out[i] == (order == byte_order::big ? high : low));
                    BOOST_CHECK(out[i + 1] == (order == byte_order::big ? low : high));
                }
                BOOST_CHECK_EQUAL(level.clipped, 0u);
                BOOST_CHECK_EQUAL(level.largest, 0);
            }
}

BOOST_AUTO_TEST_CASE(floats_are_rounded_half_to_even)
{
    BOOST_CHECK_EQUAL(
        quantised({ 0.5f, -0.5f, 1.5f, 2.5f, -2.5f, 126.5f, -127.5f, 3.6f }),
        (converted{ { 0, 0, 2, 2, -2, 126, -128, 4 }, 0 }));
}

BOOST_AUTO_TEST_CASE(floats_are_scaled_in_single_precision)
{
    for (const float scale : { 1.0f, 0.1f, 3.0f, 127.0f, 1e-38f, 1e38f })
        for (const unsigned bits : { 8u, 16u })
            BOOST_TEST_CONTEXT("scale " << scale) { check_quantised(bits, scale); }
}

BOOST_AUTO_TEST_CASE(largest_magnitude_is_before_clipping)
{
    for (const unsigned bits : { 8u, 16u })
        for (const unsigned rarity : { 2u, 1000u, 100000u })
            for (const float scale : { 0.1f, 1.0f, 127.0f }) {
                const auto numbers = mixed_numbers(5000, rarity, rarity, bits);
                float largest = 0;
                for (const float number : numbers)
                    largest = std::fmax(largest, std::fabs(number * scale));
                const sample_converter converter(
                    sample_type::complex64, byte_order::big, scale, bits);
                sample_level level;
                convert_at(0, converter, numbers, numbers.size() / 2, level);
                BOOST_CHECK_EQUAL(level.largest, largest);
            }
}

BOOST_AUTO_TEST_CASE(float_words_have_the_requested_order)
{
    const auto numbers = mixed_numbers(1000, 100, 1, 16);
    for (const auto order : { byte_order::big, byte_order::little })
        BOOST_CHECK_EQUAL(quantised(numbers, 1, sample_type::float32, 3, 16, order),
                          expected(numbers, 1, 1, 16));
}

BOOST_AUTO_TEST_CASE(all_volk_kernels_agree)
{
    auto kernels = volk_32f_s32f_convert_8i_get_func_desc();
    for (std::size_t i = 0; i < kernels.n_impls; ++i) {
        volk_kernel = { kernels.impl_names[i], kernels.impl_alignment[i] };
        const chosen_kernel<p_32f_s32f_convert_8i> chosen(
            volk_32f_s32f_convert_8i,
            [](std::int8_t* out, const float* in, float scale, unsigned n) {
                const bool fits =
                    !volk_kernel.wants_alignment || volk_is_aligned(VOLK_OR_PTR(out, in));
                volk_32f_s32f_convert_8i_manual(
                    out, in, scale, n, fits ? volk_kernel.name : "generic");
            });
        BOOST_TEST_CONTEXT(volk_kernel.name) { check_quantised(8); }
    }
    kernels = volk_32f_s32f_convert_16i_get_func_desc();
    for (std::size_t i = 0; i < kernels.n_impls; ++i) {
        volk_kernel = { kernels.impl_names[i], kernels.impl_alignment[i] };
        const chosen_kernel<p_32f_s32f_convert_16i> chosen(
            volk_32f_s32f_convert_16i,
            [](std::int16_t* out, const float* in, float scale, unsigned n) {
                const bool fits =
                    !volk_kernel.wants_alignment || volk_is_aligned(VOLK_OR_PTR(out, in));
                volk_32f_s32f_convert_16i_manual(
                    out, in, scale, n, fits ? volk_kernel.name : "generic");
            });
        BOOST_TEST_CONTEXT(volk_kernel.name) { check_quantised(16); }
    }
}

BOOST_AUTO_TEST_SUITE_END()
