/* -*- c++ -*- */
/*
 * Copyright 2026 The gr-spead authors
 *
 * SPDX-License-Identifier: GPL-3.0-or-later
 */

#ifndef INCLUDED_SPEAD_CORE_TESTS_WRITTEN_LOG_H
#define INCLUDED_SPEAD_CORE_TESTS_WRITTEN_LOG_H

#include "support/rate_limited_log.h"

#include <boost/test/unit_test.hpp>

#include <chrono>
#include <string>
#include <vector>

namespace gr::spead {

//! A log, the lines that it has written, and a clock.
struct written_log {
    std::vector<std::string> written;
    rate_limited_log lines{ [this](const std::string& line) {
        written.push_back(line);
    } };
    rate_limited_log::clock::time_point now{ std::chrono::seconds(1000) };

    void check(const std::vector<std::string>& expected) const
    {
        BOOST_TEST(written == expected, boost::test_tools::per_element());
    }
};

} // namespace gr::spead

#endif /* INCLUDED_SPEAD_CORE_TESTS_WRITTEN_LOG_H */
