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

//! \name Checks of the options of a source that need no network
//! All functions throw parameter_error.
//! \{

void check_options(const std::vector<std::string>& endpoints,
                   const source_options& options);

//! One list per output, or one for all. The hosts are not resolved yet.
std::vector<std::vector<endpoint>> endpoints_of(const std::vector<std::string>& endpoints,
                                                const source_options& options);

//! \}

//! \name Values derived from options
//! The functions throw parameter_error for an invalid option.
//! \{

sample_format format_of(const source_options& options);
//! The options for receiving heaps. Without axes, these are \p options. With axes, each
//! substream counts as an output, with its samples in the order of the heap.
source_options heap_options(const source_options& options);
missing_policy on_missing_of(const source_options& options);
stream_format format_from_items(const source_options& options); //!< only if items are set
//! Bytes per output. Throws parameter_error if all outputs would take more than half of
//! the memory of this host.
std::size_t window_bytes_of(const source_options& options);

//! \}

} // namespace gr::spead

#endif /* INCLUDED_SPEAD_CORE_SOURCE_CHECKS_H */
