/* -*- c++ -*- */
/*
 * Copyright 2026 The gr-spead authors
 *
 * SPDX-License-Identifier: GPL-3.0-or-later
 */

#ifndef INCLUDED_SPEAD_RX_TIME_TAG_H
#define INCLUDED_SPEAD_RX_TIME_TAG_H

#include "core/pack/rx_time_packer.h"
#include <gnuradio/tags.h>

namespace gr::spead {

//! Parses an rx_time tag: a tuple, vector or pair of whole seconds and the fraction of a
//! second. gr-timing_utils adds the position of the tag and the sample rate.
rx_time_tag read_rx_time(const gr::tag_t& tag);

} // namespace gr::spead

#endif /* INCLUDED_SPEAD_RX_TIME_TAG_H */
