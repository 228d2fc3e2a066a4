/* -*- c++ -*- */
/*
 * Copyright 2026 The gr-spead authors
 *
 * SPDX-License-Identifier: GPL-3.0-or-later
 */

#ifndef INCLUDED_SPEAD_CORE_RETRY_POLICY_H
#define INCLUDED_SPEAD_CORE_RETRY_POLICY_H

#include <chrono>

namespace gr::spead {

//! The failures of a message so far.
struct send_failures {
    unsigned retries = 0;   //!< at once
    unsigned back_offs = 0; //!< waits for a full queue
    std::chrono::steady_clock::time_point back_off_start{};
};

//! What to do with a message that could not be sent.
struct retry_decision {
    enum class action {
        retry,          //!< send it again at once
        wait,           //!< send it again after the delay
        await_writable, //!< send it again when the transport is ready
        split,          //!< send its packets one by one
        drop
    };
    action next_action;
    std::chrono::microseconds delay{};
    bool is_failure = true; //!< of the network: to be logged
    send_failures failures; //!< including this one
};

/*!
 * \brief Decides from the \p error of send(), not 0, and the earlier failures of the
 * message.
 *
 * An error may belong to an earlier packet: only a message that fails repeatedly is
 * dropped, since the stream must not stall behind it.
 */
retry_decision decide_retry(int error,
                            bool is_segmented,
                            const send_failures& failures,
                            std::chrono::steady_clock::time_point now);

} // namespace gr::spead

#endif /* INCLUDED_SPEAD_CORE_RETRY_POLICY_H */
