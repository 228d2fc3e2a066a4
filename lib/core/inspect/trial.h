/* -*- c++ -*- */
/*
 * Copyright 2026 The gr-spead authors
 *
 * SPDX-License-Identifier: GPL-3.0-or-later
 */

#ifndef INCLUDED_SPEAD_CORE_TRIAL_H
#define INCLUDED_SPEAD_CORE_TRIAL_H

#include "packet_store.h"
#include "stream_inspector.h"
#include <gnuradio/spead/source_options.h>
#include <gnuradio/spead/source_stats.h>

#include <cstdint>
#include <string>
#include <vector>

namespace gr::spead {

//! The streams of these packets alone.
stream_inspector::streams_by_key streams_of(const packet_store::selection& packets);

//! What a source has made of packets.
struct trial_result {
    std::uint64_t heaps = 0; //!< complete heaps with samples among the packets
    source_stats stats;
    std::vector<std::string> log;
    std::string ignored_reason; //!< why the latest ignored packets were; may be empty
};

//! Passes the packets of \p stored to a source with these options, except those that its
//! sender sent before its descriptors if the options need them. \p endpoints are those
//! of the packets. Throws parameter_error.
trial_result try_source(const packet_store& stored,
                        const std::vector<std::string>& endpoints,
                        const source_options& options);

} // namespace gr::spead

#endif /* INCLUDED_SPEAD_CORE_TRIAL_H */
