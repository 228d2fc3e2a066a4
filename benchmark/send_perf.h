/* -*- c++ -*- */
/*
 * Copyright 2026 The gr-spead authors
 *
 * SPDX-License-Identifier: GPL-3.0-or-later
 */

#ifndef INCLUDED_SPEAD_BENCHMARK_SEND_PERF_H
#define INCLUDED_SPEAD_BENCHMARK_SEND_PERF_H

#include <cstddef>
#include <cstdint>
#include <string>

struct options {
    std::uint64_t heaps = 1000; // of all inputs together
    std::size_t heap_samples = 1 << 20;
    int packet_bytes = 1472;
    double rate = 0; // bytes per second
    int cpu = -1;
    int inputs = 1;
    std::string type = "int8";
    bool engine = false;
    std::string to;

    std::uint64_t samples() const { return heaps * heap_samples; }
};

// Send what the options say; samples per second.
double measure_flow_graph(const options& chosen);
double measure_engine(const options& chosen);

#endif /* INCLUDED_SPEAD_BENCHMARK_SEND_PERF_H */
