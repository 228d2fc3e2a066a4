/* -*- c++ -*- */
/*
 * Copyright 2026 The gr-spead authors
 *
 * SPDX-License-Identifier: GPL-3.0-or-later
 */

#ifndef INCLUDED_SPEAD_CORE_THREAD_SETUP_H
#define INCLUDED_SPEAD_CORE_THREAD_SETUP_H

#include <functional>
#include <string>
#include <thread>

namespace gr::spead {

//! Throws std::runtime_error that says what to do if there can be no thread.
std::thread start_thread(std::function<void()> run);

//! How many CPUs this machine has, whether or not this process may use them.
int configured_cpus();

/*!
 * \brief Names the calling thread and pins it to \p cpu unless that is -1.
 *
 * Returns a warning if the kernel did not pin it as asked, otherwise "".
 */
std::string prepare_thread(const char* name, int cpu);

//! Lets the kernel run the calling thread sooner after a sleep, if it can (Linux 6.12).
void use_short_time_slices(bool is_prompt);

} // namespace gr::spead

#endif /* INCLUDED_SPEAD_CORE_THREAD_SETUP_H */
