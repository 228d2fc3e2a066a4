/* -*- c++ -*- */
/*
 * Copyright 2026 The gr-spead authors
 *
 * SPDX-License-Identifier: GPL-3.0-or-later
 */

#include "frame_dissector.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <utility>

namespace gr::spead {

namespace {

// Link types of pcap (https://www.tcpdump.org/linktypes.html).
enum link_type { ethernet = 1, raw_ip = 101, cooked = 113, ipv4 = 228, cooked_2 = 276 };
constexpr int raw_of_linux = 12;

enum ether_type : unsigned {
    type_ipv4 = 0x0800,
    type_vlan = 0x8100,
    type_ipv6 = 0x86dd,
    type_service_vlan = 0x88a8
};

enum protocol : unsigned {
    hop_by_hop = 0,
    udp = 17,
    routing = 43,
    fragment = 44,
    destination_options = 60
};

constexpr std::size_t max_fragmented = 64;
constexpr std::size_t max_content = 65535;

unsigned byte_at(const std::byte* data) { return std::to_integer<unsigned>(*data); }
unsigned word_at(const std::byte* data) { return byte_at(data) << 8 | byte_at(data + 1); }

template <typename address>
address address_at(const std::byte* data)
{
    typename address::bytes_type bytes;
    std::memcpy(bytes.data(), data, bytes.size());
    return address(bytes);
}

} // namespace

bool frame_dissector::supports(int link_type)
{
    return link_type == ethernet || link_type == raw_ip || link_type == raw_of_linux ||
           link_type == cooked || link_type == ipv4 || link_type == cooked_2;
}

std::optional<captured_datagram> frame_dissector::dissect(const std::byte* frame,
                                                          std::size_t bytes)
{
    bytes_left rest{ frame, bytes };
    const auto skip = [&rest](std::size_t n) {
        n = std::min(n, rest.size);
        rest = { rest.data + n, rest.size - n };
    };
    unsigned type = 0;
    switch (d_link_type) {
    case ethernet:
        if (bytes < 14)
            return std::nullopt;
        type = word_at(frame + 12);
        skip(14);
        break;
    case cooked:
        if (bytes < 16)
            return std::nullopt;
        type = word_at(frame + 14);
        skip(16);
        break;
    case cooked_2:
        if (bytes < 20)
            return std::nullopt;
        type = word_at(frame);
        skip(20);
        break;
    default:
        if (bytes < 1)
            return std::nullopt;
        type = byte_at(frame) >> 4 == 6 ? type_ipv6 : type_ipv4;
    }
    while ((type == type_vlan || type == type_service_vlan) && rest.size >= 4) {
        type = word_at(rest.data + 2);
        skip(4);
    }
    if (type == type_ipv4)
        return read_ipv4(rest);
    if (type == type_ipv6)
        return read_ipv6(rest);
    return std::nullopt;
}

std::optional<captured_datagram> frame_dissector::read_ipv4(bytes_left packet)
{
    if (packet.size < 20 || byte_at(packet.data) >> 4 != 4)
        return std::nullopt;
    const auto* header = packet.data;
    const std::size_t header_bytes = (byte_at(header) & 15) * std::size_t{ 4 };
    // 0 with segmentation offload: the length of the frame counts
    std::size_t total = word_at(header + 2);
    if (total == 0 || total > packet.size)
        total = packet.size;
    if (header_bytes < 20 || header_bytes > total || byte_at(header + 9) != udp)
        return std::nullopt;
    bytes_left content{ header + header_bytes, total - header_bytes };
    const auto flags = word_at(header + 6);
    const bool has_more = flags & 0x2000;
    const std::size_t offset = (flags & 0x1fff) * std::size_t{ 8 };
    if (has_more || offset) {
        std::vector<std::byte> key(header + 12, header + 20);
        key.insert(key.end(), header + 4, header + 6);
        const auto whole = add_fragment(std::move(key), offset, !has_more, content);
        if (!whole)
            return std::nullopt;
        content = *whole;
    }
    return read_udp(address_at<boost::asio::ip::address_v4>(header + 12),
                    address_at<boost::asio::ip::address_v4>(header + 16),
                    content);
}

std::optional<captured_datagram> frame_dissector::read_ipv6(bytes_left packet)
{
    if (packet.size < 40 || byte_at(packet.data) >> 4 != 6)
        return std::nullopt;
    const auto* header = packet.data;
    std::size_t length = word_at(header + 4);
    if (length == 0 || length > packet.size - 40)
        length = packet.size - 40;
    bytes_left content{ header + 40, length };
    auto next = byte_at(header + 6);
    while (next != udp) {
        if (content.size < 8)
            return std::nullopt;
        if (next == fragment) {
            const auto position = word_at(content.data + 2);
            std::vector<std::byte> key(header + 8, header + 40);
            key.insert(key.end(), content.data + 4, content.data + 8);
            next = byte_at(content.data);
            const auto whole = add_fragment(std::move(key),
                                            position & 0xfff8,
                                            !(position & 1),
                                            { content.data + 8, content.size - 8 });
            if (!whole)
                return std::nullopt;
            content = *whole;
            continue;
        }
        if (next != hop_by_hop && next != routing && next != destination_options)
            return std::nullopt;
        const std::size_t bytes = (byte_at(content.data + 1) + 1) * std::size_t{ 8 };
        if (bytes > content.size)
            return std::nullopt;
        next = byte_at(content.data);
        content = { content.data + bytes, content.size - bytes };
    }
    return read_udp(address_at<boost::asio::ip::address_v6>(header + 8),
                    address_at<boost::asio::ip::address_v6>(header + 24),
                    content);
}

std::optional<captured_datagram>
frame_dissector::read_udp(const boost::asio::ip::address& from,
                          const boost::asio::ip::address& to,
                          bytes_left packet) const
{
    constexpr std::size_t header_bytes = 8;
    if (packet.size < header_bytes)
        return std::nullopt;
    std::size_t length = word_at(packet.data + 4);
    if (length < header_bytes || length > packet.size) // cut by the capture
        length = packet.size;
    return captured_datagram{ { from, static_cast<std::uint16_t>(word_at(packet.data)) },
                              { to,
                                static_cast<std::uint16_t>(word_at(packet.data + 2)) },
                              packet.data + header_bytes,
                              length - header_bytes };
}

std::optional<frame_dissector::bytes_left> frame_dissector::add_fragment(
    std::vector<std::byte> key, std::size_t offset, bool is_last, bytes_left piece)
{
    const auto end = offset + piece.size;
    if (end > max_content)
        return std::nullopt;
    auto found = std::find_if(d_fragmented.begin(),
                              d_fragmented.end(),
                              [&](const auto& each) { return each.key == key; });
    if (found == d_fragmented.end()) {
        if (d_fragmented.size() == max_fragmented)
            d_fragmented.pop_front();
        found = d_fragmented.insert(d_fragmented.end(), { std::move(key), {}, 0, 0 });
    }
    if (found->content.size() < end)
        found->content.resize(end);
    std::copy_n(piece.data,
                piece.size,
                found->content.begin() + static_cast<std::ptrdiff_t>(offset));
    found->received += piece.size;
    if (is_last)
        found->end = end;
    if (!found->end || found->received < found->end)
        return std::nullopt;
    d_whole = std::move(found->content);
    d_fragmented.erase(found);
    return bytes_left{ d_whole.data(), d_whole.size() };
}

} // namespace gr::spead
