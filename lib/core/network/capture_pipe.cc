/* -*- c++ -*- */
/*
 * Copyright 2026 The gr-spead authors
 *
 * SPDX-License-Identifier: GPL-3.0-or-later
 */

#include "capture_pipe.h"

#include <endian.h>
#include <poll.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdint>
#include <cstring>

namespace gr::spead {

namespace {

using namespace std::string_view_literals;

constexpr std::size_t read_bytes = 65536; // the usual capacity of a pipe

// The formats of pcap (https://www.ietf.org/archive/id/draft-ietf-opsawg-pcap-04.html)
// and pcapng (https://www.ietf.org/archive/id/draft-ietf-opsawg-pcapng-02.html).
constexpr std::array pcap_magic{ "\xd4\xc3\xb2\xa1"sv, "\x4d\x3c\xb2\xa1"sv };
constexpr std::array pcap_magic_big_endian{ "\xa1\xb2\xc3\xd4"sv, "\xa1\xb2\x3c\x4d"sv };
constexpr std::size_t pcap_file_header = 24;
constexpr std::size_t pcap_record_header = 16;
constexpr std::size_t pcap_captured_bytes = 8; // offset in a record
constexpr auto section_header = "\n\r\r\n"sv;
constexpr auto section_magic_big_endian = "\x1a\x2b\x3c\x4d"sv;
constexpr std::size_t section_magic_offset = 8;
constexpr std::size_t interface_description = 1; // type of a block
constexpr std::size_t block_bytes = 4;           // offset in a block
constexpr std::size_t min_block_bytes = 12;
// libpcap reads no larger block.
constexpr std::size_t max_record_bytes = 16 << 20;

template <std::size_t n>
bool contains(const std::array<std::string_view, n>& texts, std::string_view text)
{
    return std::find(texts.begin(), texts.end(), text) != texts.end();
}

} // namespace

bool capture_pipe::fill()
{
    if (d_begin < d_end)
        return true;
    d_data.erase(0, d_begin);
    d_scanned -= std::min(d_scanned, d_begin);
    d_begin = d_end = 0;
    const auto size = d_data.size();
    d_data.resize(size + read_bytes);
    const auto n_read = ::read(d_fd, &d_data[size], read_bytes);
    const int error = errno;
    d_data.resize(size + static_cast<std::size_t>(std::max<ssize_t>(n_read, 0)));
    if (n_read == 0) {
        // without POLLHUP, no program has opened the pipe for writing yet
        pollfd state{ d_fd, POLLIN, 0 };
        d_is_closed = poll(&state, 1, 0) > 0 && (state.revents & POLLHUP);
    } else if (n_read < 0) {
        d_is_closed = error != EAGAIN && error != EINTR;
    }
    if (d_is_closed)
        d_end = d_data.size();
    else
        find_records();
    return d_begin < d_end;
}

std::FILE* capture_pipe::open_stream()
{
    cookie_io_functions_t functions{};
    functions.read = [](void* pipe, char* buffer, std::size_t bytes) {
        return static_cast<ssize_t>(
            static_cast<capture_pipe*>(pipe)->read_stream(buffer, bytes));
    };
    return fopencookie(this, "r", functions);
}

std::size_t capture_pipe::read_stream(char* buffer, std::size_t bytes)
{
    bytes = d_data.copy(buffer, std::min(bytes, d_end - d_begin), d_begin);
    d_begin += bytes;
    return bytes;
}

void capture_pipe::find_records()
{
    if (d_format == file_format::unknown && !find_format())
        return;
    while (const auto bytes = record_bytes()) {
        if (bytes > d_data.size() - d_scanned)
            return;
        if (d_format == file_format::pcapng &&
            word_at(d_scanned) == interface_description)
            d_has_link_type = true;
        d_scanned += bytes;
        if (d_has_link_type)
            d_end = d_scanned;
    }
}

bool capture_pipe::find_format()
{
    if (d_data.size() < pcap_file_header)
        return false;
    const auto magic = std::string_view(d_data).substr(0, section_header.size());
    if (magic == section_header) {
        d_format = file_format::pcapng;
        return true;
    }
    d_is_big_endian = contains(pcap_magic_big_endian, magic);
    if (!d_is_big_endian && !contains(pcap_magic, magic)) {
        d_end = d_data.size(); // libpcap gives the reason
        return false;
    }
    d_format = file_format::pcap;
    d_has_link_type = true;
    d_end = d_scanned = pcap_file_header;
    return true;
}

// Bytes of the record or block at d_scanned; 0: not known yet.
std::size_t capture_pipe::record_bytes()
{
    const auto available = d_data.size() - d_scanned;
    if (available < pcap_record_header)
        return 0;
    std::size_t bytes = 0;
    if (d_format == file_format::pcap) {
        bytes = pcap_record_header + word_at(d_scanned + pcap_captured_bytes);
    } else {
        if (d_data.compare(d_scanned, section_header.size(), section_header) == 0)
            d_is_big_endian = d_data.compare(d_scanned + section_magic_offset,
                                             section_magic_big_endian.size(),
                                             section_magic_big_endian) == 0;
        bytes = std::max(word_at(d_scanned + block_bytes), min_block_bytes);
    }
    return bytes > max_record_bytes ? available : bytes; // libpcap reports the damage
}

std::size_t capture_pipe::word_at(std::size_t offset) const
{
    std::uint32_t raw = 0;
    std::memcpy(&raw, &d_data[offset], sizeof raw);
    return d_is_big_endian ? be32toh(raw) : le32toh(raw);
}

} // namespace gr::spead
