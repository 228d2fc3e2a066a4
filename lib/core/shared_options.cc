/* -*- c++ -*- */
/*
 * Copyright 2026 The gr-spead authors
 *
 * SPDX-License-Identifier: GPL-3.0-or-later
 */

#include "shared_options.h"

#include <unistd.h>

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

sample_format read_sample_format(const std::string& type_parameter,
                                 const std::string& type,
                                 const std::string& wire_type)
{
    sample_format format;
    format.type = check_value(type_parameter, type, sample_types);
    std::string allowed;
    for (const std::string name : { "i1", ">i2", "<i2" }) {
        format.float_bits = name == "i1" ? 8 : 16;
        format.order = name == "<i2" ? byte_order::little : byte_order::big;
        if (format.bits() != format.float_bits) // integers keep their width
            continue;
        // the first one that the type allows is the default
        if (wire_type.empty() || wire_type == name)
            return format;
        allowed += quoted(name) + ", ";
    }
    throw parameter_error("wire_type",
                          quoted(wire_type),
                          allowed + "or \"\" with " + type_parameter + "=" +
                              quoted(type));
}

exact_time read_sync_time(const std::variant<std::string, std::int64_t>& time)
{
    if (const auto* text = std::get_if<std::string>(&time))
        return parse_sync_time(*text);
    return sync_time_from_nanoseconds(std::get<std::int64_t>(time));
}

std::size_t max_buffer_bytes()
{
    return static_cast<std::size_t>(sysconf(_SC_PHYS_PAGES)) / 2 *
           static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
}

} // namespace gr::spead
