/* -*- c++ -*- */
/*
 * Copyright 2026 The gr-spead authors
 *
 * SPDX-License-Identifier: GPL-3.0-or-later
 */

#ifndef INCLUDED_SPEAD_CORE_TESTS_REPLAYED_STREAM_H
#define INCLUDED_SPEAD_CORE_TESTS_REPLAYED_STREAM_H

#include "helpers/random_stream.h"
#include "source_config.h"
#include "source_engine.h"

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <stdexcept>
#include <string>
#include <vector>

namespace gr::spead {

//! Writes pcap files, one per socket, in a temporary folder.
class capture_writer_of_tests
{
public:
    explicit capture_writer_of_tests(std::size_t sockets)
    {
        d_folder = std::filesystem::temp_directory_path() / "spead-truth-XXXXXX";
        if (!mkdtemp(d_folder.data()))
            throw std::runtime_error("no temporary folder");
        for (std::size_t i = 0; i < sockets; ++i) {
            d_files.emplace_back(path(i), std::ios::binary);
            for (const std::uint32_t word :
                 { 0xa1b23c4du, 4u << 16 | 2, 0u, 0u, 1u << 18 })
                append(d_files[i], word);
            append(d_files[i], 101); // raw IP
        }
    }
    ~capture_writer_of_tests()
    {
        for (std::size_t i = 0; i < d_files.size(); ++i)
            std::remove(path(i).c_str());
        std::remove(d_folder.c_str());
    }
    capture_writer_of_tests(const capture_writer_of_tests&) = delete;

    std::string path(std::size_t socket) const
    {
        return d_folder + "/" + std::to_string(socket) + ".pcap";
    }

    void add(const event& packet, std::chrono::nanoseconds time)
    {
        constexpr std::size_t header_bytes = 28;
        const auto bytes = header_bytes + packet.packet.size();
        packet_bytes frame(header_bytes);
        const auto set = [&](std::size_t at, std::uint64_t value) {
            frame[at] = static_cast<std::byte>(value >> 8 & 0xff);
            frame[at + 1] = static_cast<std::byte>(value & 0xff);
        };
        set(0, 0x4500);
        set(2, bytes);
        set(8, 64 << 8 | 17); // TTL, UDP
        set(12, 10 << 8);
        set(14, 1);
        set(16, 10 << 8);
        set(18, 2);
        set(20, packet.sender);
        set(22, 7148);
        set(24, bytes - 20);
        frame.insert(frame.end(), packet.packet.begin(), packet.packet.end());
        auto& file = d_files[packet.socket];
        constexpr std::int64_t second = 1000000000;
        append(file, static_cast<std::uint32_t>(time.count() / second));
        append(file, static_cast<std::uint32_t>(time.count() % second));
        append(file, static_cast<std::uint32_t>(bytes));
        append(file, static_cast<std::uint32_t>(bytes));
        file.write(reinterpret_cast<const char*>(frame.data()),
                   static_cast<std::streamsize>(frame.size()));
    }
    void flush()
    {
        for (auto& file : d_files)
            file.flush();
    }

private:
    static void append(std::ofstream& file, std::uint32_t word)
    {
        file.write(reinterpret_cast<const char*>(&word), sizeof word);
    }

    std::string d_folder;
    std::vector<std::ofstream> d_files;
};

//! The samples and tags of captures, as the source outputs them.
struct replayed_stream {
    std::vector<std::vector<std::byte>> out;
    std::vector<sample_tag> tags; // offsets from the first sample of the output
    std::vector<source_stats> stats;

    replayed_stream(const std::vector<std::string>& endpoints,
                    const source_options& options,
                    std::int64_t window_samples)
        : out(static_cast<std::size_t>(options.num_outputs))
    {
        const auto config = parse_options(endpoints, options);
        const auto sample_bytes = config.sample_bytes();
        source_engine engine(config, [](const auto&) {});
        std::vector<std::vector<std::byte>> buffers(
            out.size(),
            packet_bytes(static_cast<std::size_t>(window_samples) * sample_bytes));
        std::vector<std::byte*> addresses;
        for (auto& buffer : buffers)
            addresses.push_back(buffer.data());
        engine.start();
        while (!engine.is_at_end()) {
            engine.receive(addresses, window_samples);
            std::vector<sample_tag> produced;
            const auto n = engine.produce(produced) * sample_bytes;
            for (auto tag : produced) {
                tag.offset += out[tag.output].size() / sample_bytes;
                tags.push_back(tag);
            }
            for (std::size_t i = 0; i < out.size(); ++i) {
                auto& buffer = buffers[i];
                const auto end = buffer.begin() + static_cast<std::ptrdiff_t>(n);
                out[i].insert(out[i].end(), buffer.begin(), end);
                std::memmove(buffer.data(), buffer.data() + n, buffer.size() - n);
            }
        }
        engine.stop();
        for (std::size_t i = 0; i < out.size(); ++i)
            stats.push_back(engine.stats(static_cast<std::int64_t>(i)));
    }

    std::vector<std::pair<std::size_t, std::uint64_t>>
    tags_of(sample_tag::kind kind, std::size_t output = 0) const
    {
        std::vector<std::pair<std::size_t, std::uint64_t>> found;
        for (const auto& tag : tags)
            if (tag.type == kind && tag.output == output)
                found.emplace_back(tag.offset, tag.value);
        return found;
    }
};

} // namespace gr::spead

#endif /* INCLUDED_SPEAD_CORE_TESTS_REPLAYED_STREAM_H */
