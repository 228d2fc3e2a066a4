/* -*- c++ -*- */
/*
 * Copyright 2026 The gr-spead authors
 *
 * SPDX-License-Identifier: GPL-3.0-or-later
 */

#include "shared_options.h"
#include "support/checks.h"

#include <limits>

namespace gr::spead {

std::vector<std::vector<endpoint>> read_endpoints(const std::string& parameter,
                                                  const std::vector<std::string>& texts,
                                                  std::int64_t streams,
                                                  const std::string& what,
                                                  std::uint16_t first_port)
{
    const auto expected = static_cast<std::size_t>(streams);
    if (texts.size() != 1 && texts.size() != expected)
        throw parameter_error(parameter,
                              to_text(texts.size()) + " strings",
                              expected == 1 ? "one string, as num_" + what + "s is 1"
                                            : "one string, or one for each of " +
                                                  to_text(expected) + " " + what + "s");
    std::vector<std::vector<endpoint>> all;
    std::size_t count = 0;
    for (const auto& text : texts) {
        all.push_back(parse_endpoints(parameter, text, first_port));
        count += all.back().size();
    }
    if (count > max_endpoints)
        throw parameter_error(parameter,
                              to_text(count) + " endpoints",
                              "at most " + to_text(max_endpoints) + " in all");
    return all;
}

sample_type read_sample_type(const std::string& parameter, const std::string& text)
{
    return check_choice<sample_type>(parameter,
                                     text,
                                     { { "int8", sample_type::int8 },
                                       { "sc8", sample_type::sc8 },
                                       { "int16", sample_type::int16 },
                                       { "sc16", sample_type::sc16 },
                                       { "float", sample_type::float32 },
                                       { "complex", sample_type::complex64 } });
}

byte_order read_byte_order(const std::string& text)
{
    return check_choice<byte_order>(
        "byte_order",
        text,
        { { "big", byte_order::big }, { "little", byte_order::little } });
}

void check_float_options(const std::string& type_parameter,
                         const std::string& type,
                         std::optional<std::int64_t> sample_bits,
                         std::optional<double> scale)
{
    const bool takes_them = is_float(read_sample_type(type_parameter, type));
    const std::string only_floats = "None with " + type_parameter + "=" + quoted(type) +
                                    "; it is for \"float\" and \"complex\"";
    if (sample_bits && !takes_them)
        throw parameter_error("sample_bits", to_text(*sample_bits), only_floats);
    if (sample_bits && sample_bits != 8 && sample_bits != 16)
        throw parameter_error("sample_bits", to_text(*sample_bits), "8 or 16");
    if (scale && !takes_them)
        throw parameter_error("scale", to_text(*scale), only_floats);
    using limits = std::numeric_limits<float>;
    if (scale && !(*scale >= limits::min() && *scale <= limits::max()))
        throw parameter_error(
            "scale", to_text(*scale), "above 0, from 1.18e-38 to 3.40e+38");
}

exact_time read_sync_time(const std::variant<std::string, std::int64_t>& time)
{
    if (const auto* text = std::get_if<std::string>(&time))
        return parse_sync_time(*text);
    return sync_time_from_nanoseconds(std::get<std::int64_t>(time));
}

std::string to_text(const std::variant<std::string, std::int64_t>& time)
{
    const auto* text = std::get_if<std::string>(&time);
    return text ? quoted(*text) : to_text(std::get<std::int64_t>(time));
}

} // namespace gr::spead
