/* -*- c++ -*- */
/*
 * Copyright 2026 The gr-spead authors
 *
 * SPDX-License-Identifier: GPL-3.0-or-later
 */

#include "thread_setup.h"

#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <sys/prctl.h>
#include <cstdint>
#include <cstring>

#include <system_error>
#include <memory>
#include <new>
#include <stdexcept>
#include <utility>

namespace gr::spead {

int configured_cpus() { return static_cast<int>(sysconf(_SC_NPROCESSORS_CONF)); }

std::thread start_thread(std::function<void()> run)
{
    try {
        return std::thread(std::move(run));
    } catch (const std::system_error& error) {
        throw std::runtime_error("no thread (" + error.code().message() +
                                 "); raise the limits of processes (ulimit -u) and of "
                                 "memory (ulimit -v)");
    }
}

std::string prepare_thread(const char* name, int cpu)
{
    pthread_setname_np(pthread_self(), name);
    // write() also reports a closed pipe or a file size limit by these signals, which end
    // the process by default
    sigset_t write_signals;
    sigemptyset(&write_signals);
    sigaddset(&write_signals, SIGPIPE);
    sigaddset(&write_signals, SIGXFSZ);
    pthread_sigmask(SIG_BLOCK, &write_signals, nullptr);
    // the default timer slack of 50 us is long for threads that sleep for 100s of us
    prctl(PR_SET_TIMERSLACK, 1);
    if (cpu < 0)
        return "";

    const auto cpus = static_cast<std::size_t>(configured_cpus());
    const auto bytes = CPU_ALLOC_SIZE(cpus);
    const std::unique_ptr<cpu_set_t, void (*)(cpu_set_t*)> set(
        CPU_ALLOC(cpus), [](cpu_set_t* s) { CPU_FREE(s); });
    if (!set)
        throw std::bad_alloc();
    const auto cpu_index = static_cast<std::size_t>(cpu);
    CPU_ZERO_S(bytes, set.get());
    CPU_SET_S(cpu_index, bytes, set.get());
    const int error = pthread_setaffinity_np(pthread_self(), bytes, set.get());
    // read it back: the kernel may not apply the requested affinity
    const bool is_read_back =
        pthread_getaffinity_np(pthread_self(), bytes, set.get()) == 0;
    if (!error && is_read_back && CPU_COUNT_S(bytes, set.get()) == 1 &&
        CPU_ISSET_S(cpu_index, bytes, set.get()))
        return "";
    return "thread " + std::string(name) + " is not pinned to CPU " +
           std::to_string(cpu) + (error ? std::string(": ") + std::strerror(error) : "");
}

// Since Linux 6.12, a SCHED_OTHER thread that requests short slices is scheduled sooner
// after a sleep. Its share of the CPU stays the same. The C library has no wrapper.
void set_short_time_slices(bool enable)
{
    struct {
        std::uint32_t size, policy;
        std::uint64_t flags;
        std::int32_t nice;
        std::uint32_t priority;
        std::uint64_t runtime, deadline, period; // nanoseconds
    } attributes{};
    attributes.size = sizeof attributes;
    if (syscall(SYS_sched_getattr, 0, &attributes, sizeof attributes, 0) != 0 ||
        attributes.policy != SCHED_OTHER)
        return;
    attributes.runtime = enable ? 100'000 : 0; // 0: default
    syscall(SYS_sched_setattr, 0, &attributes, 0);
}

} // namespace gr::spead
