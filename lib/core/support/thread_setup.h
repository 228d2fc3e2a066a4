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

//! Throws std::runtime_error, with advice, if the thread cannot be created.
std::thread start_thread(std::function<void()> run);

//! Number of CPUs of the machine, including those outside the affinity of this process.
int configured_cpus();

/*!
 * \brief Names the calling thread and pins it to \p cpu unless that is -1.
 *
 * Blocks the signals of failed writes. Returns a warning if the thread is not pinned as
 * requested, otherwise "".
 */
std::string prepare_thread(const char* name, int cpu);

//! If \p enable, asks the kernel to run the calling thread sooner after a sleep;
//! otherwise restores the default. Has no effect before Linux 6.12.
void set_short_time_slices(bool enable);

} // namespace gr::spead

#endif /* INCLUDED_SPEAD_CORE_THREAD_SETUP_H */
