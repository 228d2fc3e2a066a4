/* -*- c++ -*- */
/*
 * Copyright 2026 The gr-spead authors
 *
 * SPDX-License-Identifier: GPL-3.0-or-later
 */

#include "network/transport.h"
#include "retry_policy.h"

#include <algorithm>
#include <cerrno>

namespace gr::spead {

namespace {

// The kernel reports the error of an earlier packet once, to a later send. That send has
// then sent nothing.
constexpr unsigned max_retries = 3;
// Retry interval after error_retry_later.
constexpr std::chrono::milliseconds retry_later_interval{ 1 };
constexpr std::chrono::microseconds min_back_off{ 50 };
constexpr std::chrono::microseconds max_back_off{ 10000 };
// Give up on local ENOBUFS after this long.
constexpr std::chrono::seconds enobufs_timeout{ 1 };

bool may_refuse_segmentation(int error)
{
    return error == EIO || error == EINVAL || error == EOPNOTSUPP || error == EMSGSIZE;
}

} // namespace

retry_decision decide_retry(int error,
                            bool is_segmented,
                            const send_failures& failures,
                            std::chrono::steady_clock::time_point now)
{
    using action = retry_decision::action;
    auto counted = failures;
    if (error == EINTR)
        return { action::retry, {}, false, counted };
    if (error == transport::error_retry_later)
        return { action::wait, retry_later_interval, false, counted };
    if (error == EAGAIN)
        return { action::await_writable, {}, false, counted };
    if (is_segmented && may_refuse_segmentation(error))
        return { action::split, {}, false, counted };
    if (error == ENOBUFS || error == ENOMEM) {
        if (!failures.back_offs)
            counted.back_off_start = now;
        if (now - counted.back_off_start >= enobufs_timeout)
            return { action::drop, {}, true, {} };
        const auto delay = min_back_off * (1 << std::min(counted.back_offs, 8u));
        ++counted.back_offs;
        return { action::wait, std::min(delay, max_back_off), true, counted };
    }
    if (failures.retries == max_retries)
        return { action::drop, {}, true, {} };
    ++counted.retries;
    return { action::retry, {}, true, counted };
}

} // namespace gr::spead
