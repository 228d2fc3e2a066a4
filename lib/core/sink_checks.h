/* -*- c++ -*- */
/*
 * Copyright 2026 The gr-spead authors
 *
 * SPDX-License-Identifier: GPL-3.0-or-later
 */

#ifndef INCLUDED_SPEAD_CORE_SINK_CHECKS_H
#define INCLUDED_SPEAD_CORE_SINK_CHECKS_H

#include "network/endpoint.h"
#include "pack/stream_config.h"
#include "protocol/descriptor.h"
#include "shared_options.h"
#include "time/timestamp_aligner.h"
#include <gnuradio/spead/sink_options.h>

#include <string>
#include <vector>

namespace gr::spead {

//! \name Checks of the options of a sink that need no network
//! All functions throw parameter_error.
//! \{

void check_options(const std::vector<std::string>& destinations,
                   const sink_options& options);

//! One list per input, or one for all. The hosts are not resolved yet.
std::vector<std::vector<endpoint>>
endpoints_of(const std::vector<std::string>& destinations, const sink_options& options);

double checked_rate(double rate);

//! \}

//! \name Values derived from options
//! The functions throw parameter_error for an invalid option.
//! \{

enum class descriptor_policy { none, first_heap, separate };

//! The options for packing heaps. Without axes, these are \p options. With axes, each
//! substream counts as an input, with its samples in the order of the heap.
sink_options heap_options(const sink_options& options);
sample_format format_of(const sink_options& options);
sample_converter converter_of(const sink_options& options);
wire::flavour flavour_of(const sink_options& options);
//! The largest value of a heap counter, a timestamp and an immediate item.
std::int64_t largest_value(const sink_options& options);
descriptor_policy descriptors_of(const sink_options& options);
gap_policy on_gap_of(const sink_options& options);
full_policy when_full_of(const sink_options& options);
tail_policy tail_of(const sink_options& options);

//! Lower limit of max_packet_size: a header with the items, and with their descriptors if
//! the first heap has them, and 8 bytes of samples; or the end-of-stream packet.
std::size_t smallest_packet_of(const sink_options& options);

//! Bytes in the ring of an input. The ring is larger if a heap needs more.
std::size_t ring_bytes(const sink_options& options);

//! Number of heaps that an input may be ahead of the slowest one, 0 = no limit.
std::uint64_t heaps_ahead_of(const sink_options& options);

//! \}

} // namespace gr::spead

#endif /* INCLUDED_SPEAD_CORE_SINK_CHECKS_H */
