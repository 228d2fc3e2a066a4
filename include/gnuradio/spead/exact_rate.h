/* -*- c++ -*- */
/*
 * Copyright 2026 The gr-spead authors
 *
 * SPDX-License-Identifier: GPL-3.0-or-later
 */

#ifndef INCLUDED_SPEAD_EXACT_RATE_H
#define INCLUDED_SPEAD_EXACT_RATE_H

#include <cstdint>

namespace gr::spead {

//! A rate that need not be a whole number of Hz, such as 8000000/7.
struct exact_rate {
    std::int64_t numerator; //!< Hz
    std::int64_t denominator = 1;
};

} // namespace gr::spead

#endif /* INCLUDED_SPEAD_EXACT_RATE_H */
