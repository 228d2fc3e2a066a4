/* -*- c++ -*- */
/*
 * Copyright 2026 The gr-spead authors
 *
 * SPDX-License-Identifier: GPL-3.0-or-later
 */

#include "network/endpoint.h"
#include "support/parameter_error.h"

#include <boost/test/unit_test.hpp>

using namespace gr::spead;

BOOST_AUTO_TEST_SUITE(endpoints)

BOOST_AUTO_TEST_CASE(lists_are_parsed_in_order)
{
    const struct {
        const char* list;
        std::vector<std::string> endpoints;
    } table[] = {
        { "receiver:1", { "receiver:1" } },
        { "b:2,a:1,b:2", { "b:2", "a:1", "b:2" } },
        { " a:1 ,\tb:65535 , [::1]:3 ", { "a:1", "b:65535", "::1:3" } },
        { "[fe80::1%eth0]:7148", { "fe80::1%eth0:7148" } },
        { "239.1.2.3+0:7148", { "239.1.2.3:7148" } },
        { "239.1.2.254+2:5, a:1, 10.0.0.1+1:6",
          { "239.1.2.254:5",
            "239.1.2.255:5",
            "239.1.3.0:5",
            "a:1",
            "10.0.0.1:6",
            "10.0.0.2:6" } },
        { "255.255.255.254+1:9", { "255.255.255.254:9", "255.255.255.255:9" } },
    };
    for (const auto& row : table) {
        std::vector<std::string> parsed;
        for (const auto& endpoint :
             parse_endpoints("destinations", row.list, endpoint_use::send))
            parsed.push_back(endpoint.host + ":" + std::to_string(endpoint.port));
        BOOST_TEST(parsed == row.endpoints, boost::test_tools::per_element());
    }
    BOOST_CHECK_EQUAL(
        parse_endpoints("destinations", "239.0.0.0+4094:1,a:1", endpoint_use::send)
            .size(),
        max_endpoints);
}

BOOST_AUTO_TEST_CASE(errors_name_the_invalid_endpoint_and_its_index)
{
    const std::string single = "\"host:port\", ";
    const std::string range = "\"A.B.C.D+N:port\" for N+1 IPv4 addresses";
    const std::string too_many = "at most 4096 endpoints";
    const struct {
        const char* list;
        const char* shown;
        std::string allowed;
    } table[] = {
        { "", "\"\"", single },
        { " host ", "\"host\"", single },
        { ":7148", "\":7148\"", single },
        { "host:", "\"host:\"", single },
        { "host:0", "\"host:0\"", single },
        { "host:65536", "\"host:65536\"", single },
        { "host:99999999999", "\"host:99999999999\"", single },
        { "host:-1", "\"host:-1\"", single },
        { "host:port", "\"host:port\"", single },
        { "::1:7148", "\"::1:7148\"", single },
        { "[::1]7148", "\"[::1]7148\"", single },
        { "[]:7148", "\"[]:7148\"", single },
        { "[host]:7148x", "\"[host]:7148x\"", single },
        { "a b:1", "\"a b:1\"", single },
        { "a:1,b:0", "\"b:0\" (2 of 2)", single },
        { "a:1,, b:2", "\"\" (2 of 3)", single },
        { "a:1,", "\"\" (2 of 2)", single },
        { "a:1;b:2, b:1", "\"a:1;b:2\" (1 of 2)", single },
        { "223.255.255.254+2:1", "\"223.255.255.254+2:1\"", range },
        { "a:1,239.255.255.255+1:1", "\"239.255.255.255+1:1\" (2 of 2)", range },
        { "host+3:1", "\"host+3:1\"", range },
        { "[ff15::1+3]:1", "\"[ff15::1+3]:1\"", range },
        { "239.1.2.3+:1", "\"239.1.2.3+:1\"", range },
        { "239.1.2.3+1+1:1", "\"239.1.2.3+1+1:1\"", range },
        { "239.1.2.3+4096:1", "\"239.1.2.3+4096:1\"", range },
        { "239.1.2.3+99999999999999999999:1", "+99999999999999999999:1\"", range },
        { "255.255.255.255+1:1", "\"255.255.255.255+1:1\"", range },
        { "239.0.0.0+4095:1,a:1", "\"a:1\" (2 of 2)", too_many },
    };
    for (const auto& row : table)
        BOOST_CHECK_EXCEPTION(
            parse_endpoints("destinations", row.list, endpoint_use::send),
            parameter_error,
            [&](const parameter_error& e) {
                const std::string error = e.what();
                return error.find("destinations = ") == 0 &&
                       error.find(row.shown + std::string(" is invalid; allowed: ") +
                                  row.allowed) != error.npos;
            });
}

BOOST_AUTO_TEST_SUITE_END()
