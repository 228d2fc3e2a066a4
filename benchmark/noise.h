/* -*- c++ -*- */
/*
 * Copyright 2026 The gr-spead authors
 *
 * SPDX-License-Identifier: GPL-3.0-or-later
 */

#ifndef INCLUDED_SPEAD_BENCHMARK_NOISE_H
#define INCLUDED_SPEAD_BENCHMARK_NOISE_H

#include <cstddef>
#include <random>
#include <vector>

//! Reproducible Gaussian noise with a standard deviation of 1.
inline std::vector<float> gaussian_noise(std::size_t n)
{
    std::mt19937 generator;
    std::normal_distribution<float> distribution;
    std::vector<float> noise(n);
    for (auto& number : noise)
        number = distribution(generator);
    return noise;
}

#endif /* INCLUDED_SPEAD_BENCHMARK_NOISE_H */
