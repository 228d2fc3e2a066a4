/* -*- c++ -*- */
/*
 * Copyright 2026 The gr-spead authors
 *
 * SPDX-License-Identifier: GPL-3.0-or-later
 */

#ifndef INCLUDED_SPEAD_CORE_SOURCE_CHECKS_H
#define INCLUDED_SPEAD_CORE_SOURCE_CHECKS_H

#include "network/endpoint.h"
#include "protocol/descriptor.h"
#include "receive/output_window.h"
#include "receive/stream_format.h"
#include "shared_options.h"
#include "time/tick_clock.h"
#include <gnuradio/spead/source_options.h>

#include <string>
#include <vector>

namespace gr::spead {

//! \name The options of a source, checked as far as that goes without a network
//! All throw parameter_error.
//! \{

void check_options(const std::vector<std::string>& endpoints,
                   const source_options& options);

//! One list for each output, or one for all; the hosts are not looked up yet.
std::vector<std::vector<endpoint>> endpoints_of(const std::vector<std::string>& endpoints,
                                                const source_options& options);

//! \}

//! \name What options mean that are text, or that follow from others
//! Throw parameter_error for an invalid text.
//! \{

sample_format format_of(const source_options& options);
missing_policy on_missing_of(const source_options& options);
stream_format given_format(const source_options& options); //!< with items
//! Throws parameter_error for more than half of the memory of this host.
std::size_t window_bytes_of(const source_options& options);

//! \}

} // namespace gr::spead

#endif /* INCLUDED_SPEAD_CORE_SOURCE_CHECKS_H */
