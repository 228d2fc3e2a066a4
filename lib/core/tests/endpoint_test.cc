/* -*- c++ -*- */
/*
 * Copyright 2026 The gr-spead authors
 *
 * SPDX-License-Identifier: GPL-3.0-or-later
 */

#include "endpoint.h"
#include "parameter_error.h"

#include <boost/test/unit_test.hpp>

using namespace gr::spead;

BOOST_AUTO_TEST_SUITE(endpoints)

BOOST_AUTO_TEST_CASE(hosts_and_addresses_are_read)
{
    const struct {
        const char* text;
        const char* host;
        std::uint16_t port;
    } table[] = { { "127.0.0.1:7148", "127.0.0.1", 7148 },
                  { " receiver.example:1 ", "receiver.example", 1 },
                  { "[::1]:65535", "::1", 65535 },
                  { "[fe80::1%eth0]:7148", "fe80::1%eth0", 7148 },
                  { "239.1.2.3:7148", "239.1.2.3", 7148 } };
    for (const auto& row : table) {
        const auto read = parse_endpoint(row.text);
        BOOST_CHECK_EQUAL(read.host, row.host);
        BOOST_CHECK_EQUAL(read.port, row.port);
    }
}

BOOST_AUTO_TEST_CASE(mistakes_are_refused_with_what_was_written)
{
    for (const std::string text : { "",
                                    "host",
                                    ":7148",
                                    "host:",
                                    "host:0",
                                    "host:65536",
                                    "host:99999999999",
                                    "host:-1",
                                    "host:port",
                                    "::1:7148",
                                    "[::1]7148",
                                    "[]:7148",
                                    "[host]:7148x",
                                    "a:1,b:2",
                                    "a b:1" })
        BOOST_CHECK_EXCEPTION(
            parse_endpoint(text), parameter_error, [&](const parameter_error& e) {
                return std::string(e.what()).find("destinations = \"" + text + "\"") !=
                       std::string::npos;
            });
}

BOOST_AUTO_TEST_SUITE_END()
