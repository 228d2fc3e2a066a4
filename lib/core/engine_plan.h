/* -*- c++ -*- */
/*
 * Copyright 2026 The gr-spead authors
 *
 * SPDX-License-Identifier: GPL-3.0-or-later
 */

#ifndef INCLUDED_SPEAD_CORE_ENGINE_PLAN_H
#define INCLUDED_SPEAD_CORE_ENGINE_PLAN_H

#include "engine_options.h"
#include "pack/stream_plan.h"

#include <vector>

namespace gr::spead {

//! All endpoints of all inputs, in the order in which their numbers run.
std::vector<endpoint> all_endpoints(const engine_options& options);

//! What the inputs send, one after the other. \p possible_packet_bytes is what all paths
//! take; throws parameter_error where that does not do.
std::vector<stream_plan> make_plans(const engine_options& options,
                                    std::size_t possible_packet_bytes);

//! What the ring of an input is to hold; more, if a heap takes more.
std::size_t ring_bytes(const engine_options& options);

//! How many slots the ring of an input has; throws parameter_error where that cannot be.
std::size_t ring_slots(const engine_options& options, const stream_plan& plan);

} // namespace gr::spead

#endif /* INCLUDED_SPEAD_CORE_ENGINE_PLAN_H */
