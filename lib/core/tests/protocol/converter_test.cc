/* -*- c++ -*- */
/*
 * Copyright 2026 The gr-spead authors
 *
 * SPDX-License-Identifier: GPL-3.0-or-later
 */

#include "helpers/packing.h"
#include "protocol/sample_converter.h"
#include "protocol/sample_decoder.h"

#include <volk/volk.h>
#include <boost/test/unit_test.hpp>
#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>
#include <limits>
#include <random>
#include <string>
#include <utility>
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
    const std::size_t size = converter.group().bytes_of(samples);
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
                    unsigned bits = 8)
{
    const sample_converter converter({ type, { 'i', bits } }, scale);
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
        result.numbers.push_back(static_cast<std::int16_t>(byte(i) << 8 | byte(i + 1)));
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

std::vector<number_format> all_wire_formats()
{
    std::vector<number_format> all;
    for (const auto order : { byte_order::big, byte_order::little })
        for (const number_format& format :
             std::initializer_list<number_format>{ { 'i', 8 },
                                                   { 'u', 8 },
                                                   { 'i', 16 },
                                                   { 'u', 16 },
                                                   { 'i', 32 },
                                                   { 'u', 32 },
                                                   { 'f', 32 },
                                                   { 'f', 64 },
                                                   { 'c', 64 },
                                                   { 'c', 128 } })
            if (format.bits > 8 || order == byte_order::big)
                all.push_back({ format.type, format.bits, order });
    return all;
}

template <typename number>
number read_as(const std::byte* at)
{
    number value;
    std::memcpy(&value, at, sizeof value);
    return value;
}

double value_at(const std::byte* at, const number_format& format)
{
    std::array<std::byte, 8> bytes{};
    std::copy_n(at, format.bytes(), bytes.begin());
    if (format.order != host_order)
        std::reverse(bytes.begin(), bytes.begin() + format.bytes());
    const auto* from = bytes.data();
    const bool is_signed = format.type == 'i';
    if (format.type == 'f')
        return format.bits == 32 ? read_as<float>(from) : read_as<double>(from);
    switch (format.bits) {
    case 8:
        return is_signed ? read_as<std::int8_t>(from) : read_as<std::uint8_t>(from);
    case 16:
        return is_signed ? read_as<std::int16_t>(from) : read_as<std::uint16_t>(from);
    default:
        return is_signed ? static_cast<double>(read_as<std::int32_t>(from))
                         : static_cast<double>(read_as<std::uint32_t>(from));
    }
}

number_format format_in_flow_graph(sample_type type)
{
    return { is_float(type) ? 'f' : 'i', bits_of(type), host_order };
}

// Wraps around for integers that keep their width.
double wrapped(double value, const number_format& format)
{
    const double range = std::ldexp(1, static_cast<int>(format.bits));
    if (format.type == 'u' && value < 0)
        return value + range;
    if (format.type == 'i' && value >= range / 2)
        return value - range;
    return value;
}

// Samples on the aligned side and bytes on the other one, with room for an offset.
constexpr std::size_t test_samples = 3001;
constexpr std::size_t test_offset = 3;

void check_encoding(sample_type type, const number_format& wire, double scale)
{
    const auto format = format_in_flow_graph(type);
    const auto real = wire.real();
    const auto numbers = test_samples * components_of(type);
    std::vector<float> memory(numbers); // as wide as the widest type
    auto* in = reinterpret_cast<std::byte*>(memory.data());
    std::mt19937 random(1);
    if (is_float(type)) {
        std::uniform_real_distribution<double> values(-1.2, 1.2);
        for (auto& number : memory)
            number = static_cast<float>(values(random) * real.full_scale() / scale);
    } else {
        std::generate_n(
            in, numbers * format.bytes(), [&] { return std::byte(random()); });
    }
    const sample_converter converter({ type, wire }, scale);
    BOOST_REQUIRE_EQUAL(converter.group().bytes(), components_of(type) * real.bytes());
    std::vector<std::byte> out(test_offset + numbers * real.bytes());
    const auto level = converter.convert(out.data() + test_offset, in, test_samples);

    const bool quantises = is_float(type) && real.is_integer();
    const double lowest = real.type == 'i' ? -real.full_scale() - 1 : 0;
    std::size_t wrong = 0, clipped = 0;
    bool has_clipped = false;
    for (std::size_t i = 0; i < numbers; ++i) {
        double expected = value_at(in + i * format.bytes(), format);
        if (quantises) {
            const double rounded =
                std::rint(static_cast<float>(expected) * static_cast<float>(scale));
            expected = std::clamp(rounded, lowest, real.full_scale());
            // the largest integer of 32 bits stands for the float next to it
            has_clipped = has_clipped || static_cast<float>(expected) != rounded;
        } else if (is_float(type)) {
            expected *= scale;
            if (real.bits == 32)
                expected = static_cast<float>(expected);
        } else if (real.is_integer()) {
            expected = wrapped(expected, real);
        }
        wrong += value_at(out.data() + test_offset + i * real.bytes(), real) != expected;
        if ((i + 1) % components_of(type) == 0) {
            clipped += has_clipped;
            has_clipped = false;
        }
    }
    BOOST_TEST(wrong == 0u);
    BOOST_TEST(level.clipped == clipped);
}

void check_decoding(sample_type type, const number_format& wire, double scale)
{
    const auto format = format_in_flow_graph(type);
    const auto real = wire.real();
    const auto numbers = test_samples * components_of(type);
    std::vector<std::byte> in(test_offset + numbers * real.bytes());
    std::mt19937 random(2);
    std::generate(in.begin(), in.end(), [&] { return std::byte(random()); });
    std::vector<float> memory(numbers);
    auto* out = reinterpret_cast<std::byte*>(memory.data());
    const sample_decoder decoder({ type, wire }, scale);
    BOOST_REQUIRE_EQUAL(decoder.group().bytes(), components_of(type) * real.bytes());
    BOOST_REQUIRE_EQUAL(decoder.output_bytes(), components_of(type) * format.bytes());
    decoder.decode(out, in.data() + test_offset, 0, test_samples);

    std::size_t wrong = 0;
    for (std::size_t i = 0; i < numbers; ++i) {
        const double sent = value_at(in.data() + test_offset + i * real.bytes(), real);
        const double is = value_at(out + i * format.bytes(), format);
        if (std::isnan(sent))
            wrong += !std::isnan(is);
        else if (!is_float(type))
            wrong += is != wrapped(sent, format);
        else if (const auto expected = static_cast<float>(sent / scale);
                 static_cast<double>(expected) != is) // the factor is rounded too
            wrong += !(std::abs(is - static_cast<double>(expected)) <=
                       2e-7 * std::abs(static_cast<double>(expected)));
    }
    BOOST_TEST(wrong == 0u);
}

// The number at an index of packed integers.
int packed_at(const std::vector<std::byte>& bytes, std::size_t index, unsigned bits)
{
    int number = 0;
    for (std::size_t bit = index * bits; bit < (index + 1) * bits; ++bit)
        number = number << 1 |
                 static_cast<int>(bytes[bit / 8] >> (7 - bit % 8) & std::byte{ 1 });
    return number >> (bits - 1) ? number - (1 << bits) : number;
}

template <typename number>
void check_packing(sample_type type,
                   unsigned bits,
                   std::vector<number> numbers,
                   double scale)
{
    const sample_converter converter({ type, { 'i', bits } }, scale);
    const auto components = components_of(type);
    const auto samples = numbers.size() / components;
    sample_level level;
    const auto packed = convert_at(3, converter, numbers, samples, level);
    BOOST_TEST(packed.size() == numbers.size() * bits / 8);
    const int highest = (1 << (bits - 1)) - 1;
    std::size_t wrong = 0, clipped = 0;
    bool is_clipped = false;
    for (std::size_t i = 0; i < numbers.size(); ++i) {
        const auto value =
            is_float(type)
                ? std::rint(static_cast<float>(numbers[i]) * static_cast<float>(scale))
                : static_cast<float>(numbers[i]);
        const auto expected = std::isnan(value)
                                  ? 0
                                  : std::clamp<float>(value,
                                                      static_cast<float>(-highest - 1),
                                                      static_cast<float>(highest));
        is_clipped = is_clipped || expected != value;
        wrong += static_cast<float>(packed_at(packed, i, bits)) != expected;
        if ((i + 1) % components == 0)
            clipped += std::exchange(is_clipped, false);
    }
    BOOST_TEST(wrong == 0u);
    BOOST_TEST(level.clipped == clipped);
}

} // namespace

BOOST_AUTO_TEST_SUITE(converter)

BOOST_AUTO_TEST_CASE(packed_integers_match_arithmetic_on_bits)
{
    std::mt19937 random(10);
    for (const unsigned bits : { 10u, 12u })
        for (const std::size_t groups : { 1, 3, 7, 8, 9, 16, 33, 3001 }) {
            std::vector<std::int16_t> integers(groups * 4), mostly_in_range;
            std::vector<float> floats;
            std::vector<std::int8_t> narrow;
            for (auto& number : integers) {
                number = static_cast<std::int16_t>(random());
                mostly_in_range.push_back(
                    random() % 100 ? static_cast<std::int16_t>(number >> (16 - bits))
                                   : number);
                floats.push_back(random() % 1000 == 0 ? not_a_number
                                 : random() % 1000 == 0
                                     ? -infinity
                                     : static_cast<float>(number) /
                                           (random() % 2 ? 28000.0f : 1e-9f));
                narrow.push_back(static_cast<std::int8_t>(number));
            }
            const double scale = (1 << (bits - 1)) - 1;
            for (const auto& numbers : { integers, mostly_in_range }) {
                check_packing(sample_type::int16, bits, numbers, 1);
                check_packing(sample_type::sc16, bits, numbers, 1);
            }
            check_packing(sample_type::int8, bits, narrow, 1);
            check_packing(sample_type::float32, bits, floats, scale);
            check_packing(sample_type::complex64, bits, floats, scale);
        }
}

// The window may have room or gaps from any sample on, not only from whole groups.
BOOST_AUTO_TEST_CASE(packed_integers_are_decoded_from_any_sample_on)
{
    std::mt19937 random(11);
    for (const auto type : { sample_type::int16,
                             sample_type::int32,
                             sample_type::sc16,
                             sample_type::float32,
                             sample_type::complex64 })
        for (const unsigned bits : { 10u, 12u }) {
            const sample_decoder decoder({ type, { 'i', bits } });
            const auto components = components_of(type);
            std::vector<std::byte> packed(15 * 1000);
            std::generate(
                packed.begin(), packed.end(), [&] { return std::byte(random()); });
            const auto samples = packed.size() * 8 / bits / components;
            const auto format = format_in_flow_graph(type);
            std::vector<float> memory((samples + 1) * components, 77);
            auto* out = reinterpret_cast<std::byte*>(memory.data());
            for (int i = 0; i < 100; ++i) {
                const auto first = i % 10 + random() % 100;
                const auto n = i < 50 ? random() % 40 : random() % (samples - first);
                std::fill(memory.begin(), memory.end(), 77.0f);
                const auto unchanged = memory;
                decoder.decode(out, packed.data(), first, n);
                std::size_t wrong = 0;
                for (std::size_t j = 0; j < n * components; ++j)
                    wrong += value_at(out + j * format.bytes(), format) !=
                             packed_at(packed, first * components + j, bits);
                BOOST_TEST(wrong == 0u);
                const auto size = n * components * format.bytes();
                BOOST_TEST(std::equal(
                    reinterpret_cast<const std::byte*>(unchanged.data()) + size,
                    reinterpret_cast<const std::byte*>(unchanged.data() +
                                                       unchanged.size()),
                    out + size));
            }
        }
}

BOOST_AUTO_TEST_CASE(every_conversion_matches_plain_arithmetic)
{
    std::size_t conversions = 0;
    for (const auto& [name, type] : sample_types)
        for (const auto& wire : all_wire_formats())
            for (const double scale : { 1.0, wire.full_scale() })
                if (can_send(type, wire)) {
                    BOOST_TEST_CONTEXT(name << " as " << wire.dtype() << ", scale "
                                            << scale)
                    {
                        check_encoding(type, wire, scale);
                    }
                    ++conversions;
                }
    BOOST_TEST(conversions > 100u);
}

BOOST_AUTO_TEST_CASE(every_decoding_matches_plain_arithmetic)
{
    for (const auto& [name, type] : sample_types)
        for (const auto& wire : all_wire_formats())
            for (const double scale : { 1.0, wire.full_scale() })
                if (can_receive(type, wire))
                    BOOST_TEST_CONTEXT(name << " from " << wire.dtype())
                    {
                        check_decoding(type, wire, scale);
                    }
}

BOOST_AUTO_TEST_CASE(conversions_that_lose_values_are_refused)
{
    BOOST_TEST(!can_send(sample_type::int16, { 'i', 8 }));
    BOOST_TEST(!can_send(sample_type::int8, { 'u', 16 }));
    BOOST_TEST(!can_send(sample_type::int32, { 'f', 32 }));
    BOOST_TEST(!can_send(sample_type::float32, { 'c', 64 }));
    BOOST_TEST(!can_receive(sample_type::int16, { 'i', 32 }));
    BOOST_TEST(!can_receive(sample_type::int16, { 'f', 32 }));
    BOOST_TEST(can_receive(sample_type::int8, { 'u', 8 }));
    BOOST_TEST(can_receive(sample_type::int16, { 'u', 8 }));
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
                    { sample_type::complex64, { 'i', bits } }, scale);
                sample_level level;
                convert_at(0, converter, numbers, numbers.size() / 2, level);
                BOOST_CHECK_EQUAL(level.largest, largest);
            }
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
