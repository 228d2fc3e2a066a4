/* -*- c++ -*- */
/*
 * Copyright 2026 The gr-spead authors
 *
 * SPDX-License-Identifier: GPL-3.0-or-later
 */

// Runs a fuzz target on the files of a corpus and on NUMBER random inputs:
// <target>-replay FOLDER NUMBER

#include "fuzz_input.h"

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <iterator>
#include <random>
#include <string>
#include <vector>

int main(int argc, char** argv)
{
    if (argc != 3) {
        std::cerr << "usage: " << argv[0] << " FOLDER NUMBER\n";
        return 2;
    }
    std::vector<std::filesystem::path> files;
    for (const auto& entry : std::filesystem::directory_iterator(argv[1]))
        files.push_back(entry.path());
    std::sort(files.begin(), files.end());
    if (files.empty()) {
        std::cerr << "no files in " << argv[1] << '\n';
        return 1;
    }
    for (const auto& file : files) {
        // no newline: stays visible if the target aborts the program
        std::cout << '\r' << file.filename().string() << std::flush;
        std::ifstream stream(file, std::ios::binary);
        const std::vector<char> bytes((std::istreambuf_iterator<char>(stream)), {});
        LLVMFuzzerTestOneInput(reinterpret_cast<const std::uint8_t*>(bytes.data()),
                               bytes.size());
    }
    const auto number = std::stoul(argv[2]);
    for (std::size_t seed = 0; seed < number; ++seed) {
        std::cout << "\rseed " << seed << std::flush;
        std::mt19937 random(static_cast<unsigned>(seed));
        std::vector<std::uint8_t> bytes(random() % 2000);
        std::generate(bytes.begin(), bytes.end(), [&] {
            return static_cast<std::uint8_t>(random());
        });
        LLVMFuzzerTestOneInput(bytes.data(), bytes.size());
    }
    std::cout << '\r' << files.size() << " files and " << number
              << " random inputs passed\n";
}
