/* -*- c++ -*- */
/*
 * Copyright 2026 The gr-spead authors
 *
 * SPDX-License-Identifier: GPL-3.0-or-later
 */

#ifndef INCLUDED_SPEAD_CORE_SHARED_OPTIONS_H
#define INCLUDED_SPEAD_CORE_SHARED_OPTIONS_H

#include "network/endpoint.h"
#include "protocol/descriptor.h"
#include "time/tick_clock.h"

#include <cstdint>
#include <optional>
#include <string>
#include <variant>
#include <vector>

namespace gr::spead {

//! \name Options that sink and source have in common, with their values
//! All throw parameter_error.
//! \{

//! The endpoints of each of \p streams, or one list for all of them. \p what: "input" or
//! "output".
std::vector<std::vector<endpoint>> read_endpoints(const std::string& parameter,
                                                  const std::vector<std::string>& texts,
                                                  std::int64_t streams,
                                                  const std::string& what,
                                                  std::uint16_t first_port = 1);

//! \p type_parameter is "input_type" or "output_type". The heap_samples are left open.
sample_format read_sample_format(const std::string& type_parameter,
                                 const std::string& type,
                                 const std::string& wire_type);

void check_scale(const std::string& type_parameter,
                 const std::string& type,
                 std::optional<double> scale);

exact_time read_sync_time(const std::variant<std::string, std::int64_t>& time);
//! As the user wrote it.
std::string to_text(const std::variant<std::string, std::int64_t>& time);

template <typename options>
std::int64_t timestamp_step_of(const options& of)
{
    return of.timestamp_step.value_or(of.heap_samples);
}

//! With sample_rate.
template <typename options>
tick_clock clock_of(const options& of)
{
    return tick_clock(of.sample_rate.value_or(exact_rate{ 1 }),
                      read_sync_time(of.sync_time));
}

//! Bytes. Buffers are touched when they are made: more could cost the process its life.
std::size_t half_of_memory();

//! \}

} // namespace gr::spead

#endif /* INCLUDED_SPEAD_CORE_SHARED_OPTIONS_H */
