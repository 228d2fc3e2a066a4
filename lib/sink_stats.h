/* -*- c++ -*- */
/*
 * Copyright 2026 The gr-spead authors
 *
 * SPDX-License-Identifier: GPL-3.0-or-later
 */

#ifndef INCLUDED_SPEAD_SINK_STATS_H
#define INCLUDED_SPEAD_SINK_STATS_H

#include "core/engine.h"
#include <gnuradio/spead/sink.h>

namespace gr::spead {

//! What an engine has counted so far, balanced at any moment and from any thread.
//! \p unsendable are samples that came in and were dropped before they got to it.
sink_stats read_stats(const engine& counts, std::uint64_t unsendable);

} // namespace gr::spead

#endif /* INCLUDED_SPEAD_SINK_STATS_H */
