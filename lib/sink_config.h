/* -*- c++ -*- */
/*
 * Copyright 2026 The gr-spead authors
 *
 * SPDX-License-Identifier: GPL-3.0-or-later
 */

#ifndef INCLUDED_SPEAD_SINK_CONFIG_H
#define INCLUDED_SPEAD_SINK_CONFIG_H

#include "core/engine.h"
#include <gnuradio/spead/sink.h>

#include <string>
#include <vector>

namespace gr::spead {

//! The options of a sink, checked as far as that goes without a network.
struct sink_config {
    engine_options engine;
    std::string destinations;  //!< as written, to name the sink in messages
    double stats_interval = 0; //!< seconds, 0 = never
    //! heaps that an input may be ahead of the slowest, 0 = no bound
    std::uint64_t max_skew = 0;
};

//! Throws parameter_error.
sink_config checked(const std::vector<std::string>& destinations,
                    const sink_options& options);

//! Throws parameter_error unless \p rate can be a pace.
double checked_rate(double rate);

} // namespace gr::spead

#endif /* INCLUDED_SPEAD_SINK_CONFIG_H */
