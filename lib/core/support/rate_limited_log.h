/* -*- c++ -*- */
/*
 * Copyright 2026 The gr-spead authors
 *
 * SPDX-License-Identifier: GPL-3.0-or-later
 */

#ifndef INCLUDED_SPEAD_CORE_RATE_LIMITED_LOG_H
#define INCLUDED_SPEAD_CORE_RATE_LIMITED_LOG_H

#include <cstddef>
#include <functional>
#include <memory>
#include <string>
#include <thread>

namespace gr::spead {

/*!
 * \brief Writes at most one line a second, on a thread of its own.
 *
 * Texts that are added sooner, or while the terminal has no room, are collected into one
 * line. add() never waits. Any thread.
 */
class rate_limited_log
{
public:
    using output = std::function<void(const std::string&)>;

    //! \p out owns what it uses: if the log is stuck, it is called for longer than this
    //! object lives.
    explicit rate_limited_log(output out);
    //! Writes what was collected at once. Waits for a terminal without room, but not
    //! long.
    ~rate_limited_log();

    void add(const std::string& news);
    //! Of one of several inputs. Those that wait with the same news are named together.
    void add_of_input(std::size_t input, const std::string& news);

private:
    struct state;

    void wake_writer();

    const std::shared_ptr<state> d_state; // with the thread, which may stay behind
    std::thread d_writer;                 // since there has been something to say
};

} // namespace gr::spead

#endif /* INCLUDED_SPEAD_CORE_RATE_LIMITED_LOG_H */
