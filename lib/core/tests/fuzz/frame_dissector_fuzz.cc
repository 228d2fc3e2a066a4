/* -*- c++ -*- */
/*
 * Copyright 2026 The gr-spead authors
 *
 * SPDX-License-Identifier: GPL-3.0-or-later
 */

// Dissects frames of arbitrary bytes behind plausible Ethernet and IP headers.

#include "fuzz_input.h"
#include "network/frame_dissector.h"

#include <vector>

using namespace gr::spead;

namespace {

using bytes = std::vector<std::byte>;

void append(bytes& frame, std::uint64_t value, std::size_t count)
{
    while (count-- > 0)
        frame.push_back(static_cast<std::byte>(count < 8 ? value >> 8 * count : 0));
}

void append_any(bytes& frame, fuzz_input& input, std::size_t count)
{
    while (count-- > 0)
        frame.push_back(static_cast<std::byte>(input.byte()));
}

void append_ip(bytes& frame, fuzz_input& input, bool is_v6)
{
    const auto length = input.up_to(100);
    if (is_v6) {
        append(frame, 6ull << 28, 4);
        append(frame, length, 2);
        append(frame, input.one_of({ 17, 44, 0, 43, 60 }), 1); // next header
        append(frame, 64, 1);
        append(frame, input.up_to(1), 32); // addresses
    } else {
        append(frame, 0x40 | input.between(5, 7), 1);
        append(frame, 0, 1);
        append(frame, length, 2);
        append(frame, input.up_to(1), 2); // identification
        append(frame, input.one_of<std::uint64_t>({ 0, 0x2000, input.up_to(0xffff) }), 2);
        append(frame, 64, 1);
        append(frame, input.one_of({ 17, 17, 6 }), 1);
        append(frame, input.up_to(1), 10); // checksum and addresses
    }
}

bytes make_frame(fuzz_input& input, int link_type)
{
    bytes frame;
    const bool is_v6 = input.once_in(2);
    const auto type = input.one_of<std::uint64_t>(
        { is_v6 ? 0x86ddu : 0x0800u, 0x8100, 0x88a8, input.up_to(0xffff) });
    if (link_type == 1)
        append(frame, 0, 12);
    else if (link_type == 113)
        append(frame, 0, 14);
    if (link_type == 1 || link_type == 113 || link_type == 276)
        append(frame, type, 2);
    if (type == 0x8100 || type == 0x88a8) {
        append(frame, 5, 2);
        append(frame, is_v6 ? 0x86dd : 0x0800, 2);
    }
    if (link_type == 276)
        append(frame, 0, 18);
    append_ip(frame, input, is_v6);
    append_any(frame, input, input.up_to(100));
    frame.resize(frame.size() - (input.once_in(4) ? input.up_to(frame.size()) : 0));
    return frame;
}

} // namespace

int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size)
{
    fuzz_input input(data, size);
    const auto link_type = input.one_of({ 1, 12, 101, 113, 228, 276 });
    std::uint64_t sum = 0;
    while (!input.empty()) {
        // a copy of exactly this size lets a sanitizer detect reads beyond the end
        const auto frame = make_frame(input, link_type);
        const auto found =
            dissect(link_type, frame.data(), frame.size(), frame.size() + input.up_to(1));
        check(found.bytes <= frame.size(), "a datagram is a part of its frame");
        for (std::size_t i = 0; i < found.bytes; ++i)
            sum += std::to_integer<unsigned>(found.payload[i]);
    }
    check(sum < ~std::uint64_t{ 0 }, "all payloads can be read");
    return 0;
}
