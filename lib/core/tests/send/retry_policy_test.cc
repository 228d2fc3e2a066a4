/* -*- c++ -*- */
/*
 * Copyright 2026 The gr-spead authors
 *
 * SPDX-License-Identifier: GPL-3.0-or-later
 */

#include "network/transport.h"
#include "send/retry_policy.h"

#include <boost/test/unit_test.hpp>

#include <cerrno>
#include <string>
#include <vector>

using namespace gr::spead;
using std::chrono::microseconds;

namespace {

// The decisions about a message that fails with these errors, at this interval.
std::string decisions(const std::vector<int>& errors,
                      microseconds interval = microseconds(0),
                      bool is_segmented = false)
{
    static constexpr const char* names[] = {
        "retry", "wait", "writable", "split", "drop"
    };
    std::string text;
    send_failures failures;
    std::chrono::steady_clock::time_point now{ std::chrono::hours(1) };
    for (const auto error : errors) {
        const auto decision = decide_retry(error, is_segmented, failures, now);
        failures = decision.failures;
        now += interval;
        text += (text.empty() ? "" : " ") +
                std::string(names[static_cast<int>(decision.next_action)]);
        if (decision.delay.count())
            text += ":" + std::to_string(decision.delay.count());
    }
    return text;
}

} // namespace

BOOST_AUTO_TEST_SUITE(retries)

BOOST_AUTO_TEST_CASE(decisions_depend_on_the_error_and_on_earlier_ones)
{
    using errors = std::vector<int>;
    const struct {
        errors failures;
        std::string expected;
    } cases[] = {
        { errors(5, EINTR), "retry retry retry retry retry" },
        { errors(5, EAGAIN), "writable writable writable writable writable" },
        { errors(2, transport::error_retry_later), "wait:1000 wait:1000" },
        { errors(4, ENETUNREACH), "retry retry retry drop" },
        { { EPERM, EAGAIN, EPERM, EPERM, EPERM }, "retry writable retry retry drop" },
        { errors(3, ENOBUFS), "wait:50 wait:100 wait:200" },
        { { ENOMEM, EPERM, ENOMEM }, "wait:50 retry wait:100" },
    };
    for (const auto& [failures, expected] : cases)
        BOOST_TEST(decisions(failures) == expected);
}

BOOST_AUTO_TEST_CASE(a_full_queue_is_given_up_after_a_second)
{
    const auto text = decisions(std::vector<int>(6, ENOBUFS), microseconds(250000));
    BOOST_TEST(text == "wait:50 wait:100 wait:200 wait:400 drop wait:50");
    const auto later = decisions(std::vector<int>(12, ENOBUFS), microseconds(1));
    BOOST_TEST(later.substr(later.size() - 10) == "wait:10000");
}

BOOST_AUTO_TEST_CASE(only_segmented_messages_are_split)
{
    for (const int error : { EIO, EINVAL, EOPNOTSUPP, EMSGSIZE }) {
        BOOST_TEST(decisions({ error }, microseconds(0), true) == "split");
        BOOST_TEST(decisions({ error }) == "retry");
    }
    BOOST_TEST(decisions({ ENETUNREACH }, microseconds(0), true) == "retry");
}

BOOST_AUTO_TEST_SUITE_END()
