/* -*- c++ -*- */
/*
 * Copyright 2026 The gr-spead authors
 *
 * SPDX-License-Identifier: GPL-3.0-or-later
 */

#include "frame_dissector.h"

#include <algorithm>
#include <cstdio>
#include <cstring>

namespace gr::spead {

namespace {

// Link types of pcap (https://www.tcpdump.org/linktypes.html).
enum link_type { ethernet = 1, raw_ip = 101, cooked = 113, ipv4 = 228, cooked_2 = 276 };
constexpr int raw_of_linux = 12;

enum ether_type : unsigned {
    type_ipv4 = 0x0800,
    type_vlan = 0x8100,
    type_ipv6 = 0x86dd,
    type_service_vlan = 0x88a8,
    type_old_service_vlan = 0x9100
};

enum protocol : unsigned {
    hop_by_hop = 0,
    udp = 17,
    routing = 43,
    fragment = 44,
    destination_options = 60
};

// The rest of a frame.
struct bytes_left {
    const std::byte* data;
    std::size_t size;
    bool is_cut; // the end was not captured

    // Removes the first bytes. False if there are fewer.
    bool skip(std::size_t bytes)
    {
        if (bytes > size)
            return false;
        data += bytes;
        size -= bytes;
        return true;
    }
};

unsigned byte_at(const std::byte* data) { return std::to_integer<unsigned>(*data); }
unsigned word_at(const std::byte* data) { return byte_at(data) << 8 | byte_at(data + 1); }

template <typename address>
address address_at(const std::byte* data)
{
    typename address::bytes_type bytes;
    std::memcpy(bytes.data(), data, bytes.size());
    return address(bytes);
}

captured_frame other(const char* format, unsigned number)
{
    char text[48];
    std::snprintf(text, sizeof text, format, number);
    captured_frame frame;
    frame.protocol = text;
    return frame;
}

// \p length: of the datagram with its header, according to the IP packet; 0 if the packet
// does not state it.
captured_frame read_udp(const boost::asio::ip::address& source,
                        const boost::asio::ip::address& destination,
                        bytes_left packet,
                        bool is_fragment,
                        std::size_t length)
{
    constexpr std::size_t header_bytes = 8;
    const auto* header = packet.data;
    if (!packet.skip(header_bytes))
        return {};
    // 0 with segmentation offload: the length of the frame counts
    if (const std::size_t stated_length = word_at(header + 4);
        stated_length >= header_bytes)
        length = length ? std::min(length, stated_length) : stated_length;
    captured_frame frame;
    frame.source = { source, static_cast<std::uint16_t>(word_at(header)) };
    frame.destination = { destination, static_cast<std::uint16_t>(word_at(header + 2)) };
    frame.payload = packet.data;
    frame.bytes = packet.size;
    if (length)
        frame.bytes = std::min(frame.bytes, length - header_bytes);
    const bool is_truncated =
        length ? length > packet.size + header_bytes : packet.is_cut;
    frame.content = is_fragment    ? captured_frame::content_kind::fragment
                    : is_truncated ? captured_frame::content_kind::truncated
                                   : captured_frame::content_kind::datagram;
    return frame;
}

captured_frame read_ipv4(bytes_left packet)
{
    const auto* header = packet.data;
    if (packet.size < 20 || byte_at(header) >> 4 != 4)
        return {};
    const std::size_t header_bytes = (byte_at(header) & 15) * std::size_t{ 4 };
    if (byte_at(header + 9) != udp)
        return other("IP protocol %u", byte_at(header + 9));
    const auto fragmentation = word_at(header + 6);
    if (fragmentation & 0x1fff)
        return other("a later fragment of IP protocol %u", udp);
    const std::size_t total = word_at(header + 2); // 0 with segmentation offload
    if (header_bytes < 20 || (total && total < header_bytes) ||
        !packet.skip(header_bytes))
        return {};
    if (total)
        packet.size = std::min(packet.size, total - header_bytes);
    return read_udp(address_at<boost::asio::ip::address_v4>(header + 12),
                    address_at<boost::asio::ip::address_v4>(header + 16),
                    packet,
                    fragmentation & 0x2000,
                    total ? total - header_bytes : 0);
}

captured_frame read_ipv6(bytes_left packet)
{
    const auto* header = packet.data;
    if (!packet.skip(40) || byte_at(header) >> 4 != 6)
        return {};
    std::size_t length = word_at(header + 4); // 0 with segmentation offload
    if (length)
        packet.size = std::min(packet.size, length);
    bool is_fragment = false;
    auto next_header = byte_at(header + 6);
    while (next_header != udp) {
        if (next_header != hop_by_hop && next_header != routing &&
            next_header != destination_options && next_header != fragment)
            return other("IP protocol %u", next_header);
        const auto* extension = packet.data;
        if (packet.size < 8)
            return {};
        const std::size_t bytes =
            next_header == fragment ? 8 : (byte_at(extension + 1) + 1) * std::size_t{ 8 };
        if (next_header == fragment) {
            const auto position = word_at(extension + 2);
            if (position & 0xfff8)
                return other("a later fragment of IP protocol %u", byte_at(extension));
            is_fragment |= position & 1;
        }
        if (!packet.skip(bytes) || (length && length < bytes))
            return {};
        if (length)
            length -= bytes;
        next_header = byte_at(extension);
    }
    return read_udp(address_at<boost::asio::ip::address_v6>(header + 8),
                    address_at<boost::asio::ip::address_v6>(header + 24),
                    packet,
                    is_fragment,
                    length);
}

} // namespace

bool is_link_type_supported(int link_type)
{
    return link_type == ethernet || link_type == raw_ip || link_type == raw_of_linux ||
           link_type == cooked || link_type == ipv4 || link_type == cooked_2;
}

captured_frame
dissect(int link_type, const std::byte* frame, std::size_t captured, std::size_t length)
{
    bytes_left rest{ frame, captured, captured < length };
    unsigned type = 0;
    switch (link_type) {
    case ethernet:
        if (!rest.skip(14))
            return {};
        type = word_at(frame + 12);
        break;
    case cooked:
        if (!rest.skip(16))
            return {};
        type = word_at(frame + 14);
        break;
    case cooked_2:
        if (!rest.skip(20))
            return {};
        type = word_at(frame);
        break;
    default:
        if (captured < 1)
            return {};
        type = byte_at(frame) >> 4 == 6 ? type_ipv6 : type_ipv4;
    }
    while (type == type_vlan || type == type_service_vlan ||
           type == type_old_service_vlan) {
        if (!rest.skip(4))
            return {};
        type = word_at(rest.data - 2);
    }
    if (type == type_ipv4)
        return read_ipv4(rest);
    if (type == type_ipv6)
        return read_ipv6(rest);
    return other("EtherType 0x%04x", type);
}

} // namespace gr::spead
