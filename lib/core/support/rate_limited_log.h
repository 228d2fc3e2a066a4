/* -*- c++ -*- */
/*
 * Copyright 2026 The gr-spead authors
 *
 * SPDX-License-Identifier: GPL-3.0-or-later
 */

#ifndef INCLUDED_SPEAD_CORE_RATE_LIMITED_LOG_H
#define INCLUDED_SPEAD_CORE_RATE_LIMITED_LOG_H

#include <type_traits>
#include <cstddef>
#include <exception>
#include <functional>
#include <memory>
#include <mutex>
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

    //! The parts, texts and integers, make one text. It is lost if there is no memory
    //! for it.
    template <typename... types>
    void add(const types&... parts) noexcept
    {
        try {
            std::string news;
            (append(news, parts), ...);
            add_text(news);
        } catch (const std::exception&) {
        }
    }
    //! Of one of several inputs. Those that wait with the same news are named together.
    void add_of_input(std::size_t input, const std::string& news);

private:
    struct state;

    template <typename type>
    static void append(std::string& news, const type& part)
    {
        if constexpr (std::is_arithmetic_v<type>)
            news += std::to_string(part);
        else
            news += part;
    }
    void add_text(const std::string& news);
    void wake_writer(std::unique_lock<std::mutex> lock);

    const std::shared_ptr<state> d_state; // with the thread, which may stay behind
    std::thread d_writer;                 // since there has been something to say
};

} // namespace gr::spead

#endif /* INCLUDED_SPEAD_CORE_RATE_LIMITED_LOG_H */
