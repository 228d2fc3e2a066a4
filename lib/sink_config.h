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

namespace gr {
namespace spead {

//! Checks what can be checked without a network; throws parameter_error.
engine_options checked(const std::string& destinations, const sink_options& options);

//! Throws parameter_error unless \p rate can be a pace.
double checked_rate(double rate);

} // namespace spead
} // namespace gr

#endif /* INCLUDED_SPEAD_SINK_CONFIG_H */
