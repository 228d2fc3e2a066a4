/* -*- c++ -*- */
/*
 * Copyright 2026 The gr-spead authors
 *
 * SPDX-License-Identifier: GPL-3.0-or-later
 */

// Measures the upper limit for a sink of float samples: Volk's conversion to int8 on one
// core. Input and output exceed the cache, as in a flow graph: the source runs on another
// core, and the sink has a large buffer.

#include "noise.h"
#include "number.h"

#include <volk/volk.h>
#include <volk/volk_alloc.hh>

#include <chrono>
#include <cstdint>
#include <cstdio>
#include <exception>

namespace {

constexpr unsigned piece = 1 << 18; // samples; with float 1 MiB
constexpr unsigned pieces_in = 128;
constexpr unsigned pieces_out = 32;
constexpr float scale = 25; // does not clip the noise

double measure(double seconds)
{
    const auto noise = gaussian_noise(piece);
    volk::vector<float> in;
    for (unsigned i = 0; i < pieces_in; ++i)
        in.insert(in.end(), noise.begin(), noise.end());
    volk::vector<std::int8_t> out(piece * pieces_out);
    const auto start = std::chrono::steady_clock::now();
    std::chrono::duration<double> passed{};
    std::uint64_t n = 0;
    do {
        volk_32f_s32f_convert_8i(out.data() + n % pieces_out * piece,
                                 in.data() + n % pieces_in * piece,
                                 scale,
                                 piece);
        ++n;
        passed = std::chrono::steady_clock::now() - start;
    } while (passed.count() < seconds);
    return static_cast<double>(n) * piece / passed.count();
}

} // namespace

int main(int argc, char** argv)
{
    if (argc != 2) {
        std::fprintf(stderr, "Usage: %s seconds\n", argv[0]);
        return 2;
    }
    try {
        std::printf("%.2f MB/s\n", measure(number("seconds", argv[1], 0.01, 1e6)) / 1e6);
    } catch (const std::exception& e) {
        std::fprintf(stderr, "%s: %s\n", argv[0], e.what());
        return 1;
    }
}
