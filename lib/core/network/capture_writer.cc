/* -*- c++ -*- */
/*
 * Copyright 2026 The gr-spead authors
 *
 * SPDX-License-Identifier: GPL-3.0-or-later
 */

#include "addresses.h"
#include "capture_writer.h"

#include <arpa/inet.h>
#include <fcntl.h>
#include <net/ethernet.h>
#include <netinet/ip.h>
#include <netinet/ip6.h>
#include <netinet/udp.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstring>
#include <stdexcept>
#include <utility>

namespace gr::spead {

namespace {

using udp = boost::asio::ip::udp;

// The format of pcap (https://www.ietf.org/archive/id/draft-ietf-opsawg-pcap-04.html).
struct file_header {
    std::uint32_t magic = 0xa1b23c4d; // times in nanoseconds
    std::uint16_t version_major = 2;
    std::uint16_t version_minor = 4;
    std::uint32_t reserved_1 = 0;
    std::uint32_t reserved_2 = 0;
    std::uint32_t max_frame_bytes = 262144;
    std::uint32_t link_type = 1; // Ethernet
};

struct frame_header {
    std::uint32_t seconds; // since 1970
    std::uint32_t nanoseconds;
    std::uint32_t captured_bytes;
    std::uint32_t bytes;
};

constexpr std::size_t max_headers_bytes =
    sizeof(frame_header) + sizeof(ether_header) + sizeof(ip6_hdr) + sizeof(udphdr);

constexpr std::uint16_t source_port = 50000; // tcpdump decodes some ephemeral ports
constexpr std::uint8_t hop_limit = 64;

// The sum of the 16-bit words, as in checksums of IP (RFC 1071).
std::uint64_t sum_words(const void* data, std::size_t bytes, std::uint64_t sum = 0)
{
    const auto* words = static_cast<const std::byte*>(data);
    for (std::size_t i = 0; i < bytes; i += 2) {
        std::uint16_t word = 0;
        std::memcpy(&word, words + i, i + 1 < bytes ? 2 : 1);
        sum += word;
    }
    return sum;
}

std::uint16_t checksum(std::uint64_t sum)
{
    while (sum >> 16)
        sum = (sum & 0xffff) + (sum >> 16);
    return static_cast<std::uint16_t>(~sum);
}

// Writes headers from the inside out: each call puts one in front of the others.
class frame_builder
{
public:
    frame_builder(std::byte* payload, std::size_t bytes)
        : d_begin(payload), d_bytes(bytes)
    {
    }

    template <typename header_type>
    void prepend(const header_type& header)
    {
        d_begin -= sizeof header;
        d_bytes += sizeof header;
        std::memcpy(d_begin, &header, sizeof header);
    }

    const std::byte* data() const { return d_begin; }
    std::size_t bytes() const { return d_bytes; }

private:
    std::byte* d_begin;
    std::size_t d_bytes;
};

// The source is the address of the loopback interface.
template <typename address>
void prepend_udp(frame_builder& frame, const address& destination, std::uint16_t port)
{
    const auto source_bytes = address::loopback().to_bytes();
    const auto destination_bytes = destination.to_bytes();
    const auto bytes = frame.bytes() + sizeof(udphdr);
    udphdr header{};
    header.source = htons(source_port);
    header.dest = htons(port);
    header.len = htons(static_cast<std::uint16_t>(bytes));
    // the pseudo-header of RFC 768 and RFC 8200
    std::uint64_t sum = sum_words(source_bytes.data(), source_bytes.size());
    sum = sum_words(destination_bytes.data(), destination_bytes.size(), sum);
    sum += htons(IPPROTO_UDP);
    sum += header.len;
    sum = sum_words(&header, sizeof header, sum);
    const auto check = checksum(sum_words(frame.data(), frame.bytes(), sum));
    header.check = check ? check : 0xffff; // 0: no checksum
    frame.prepend(header);
}

void prepend_ip(frame_builder& frame, const boost::asio::ip::address_v4& destination)
{
    ip header{};
    header.ip_v = IPVERSION;
    header.ip_hl = sizeof header / 4;
    header.ip_len = htons(static_cast<std::uint16_t>(frame.bytes() + sizeof header));
    header.ip_off = htons(IP_DF);
    header.ip_ttl = hop_limit;
    header.ip_p = IPPROTO_UDP;
    header.ip_src.s_addr = htonl(INADDR_LOOPBACK);
    header.ip_dst.s_addr = htonl(destination.to_uint());
    header.ip_sum = checksum(sum_words(&header, sizeof header));
    frame.prepend(header);
}

void prepend_ip(frame_builder& frame, const boost::asio::ip::address_v6& destination)
{
    ip6_hdr header{};
    header.ip6_vfc = 6 << 4;
    header.ip6_plen = htons(static_cast<std::uint16_t>(frame.bytes()));
    header.ip6_nxt = IPPROTO_UDP;
    header.ip6_hlim = hop_limit;
    header.ip6_src = in6addr_loopback;
    const auto bytes = destination.to_bytes();
    std::memcpy(&header.ip6_dst, bytes.data(), bytes.size());
    frame.prepend(header);
}

// Locally administered addresses, or that of the multicast group (RFC 1112, RFC 2464).
void prepend_ethernet(frame_builder& frame, const boost::asio::ip::address& destination)
{
    ether_header header{ { 2, 0, 0, 0, 0, 2 }, { 2, 0, 0, 0, 0, 1 }, 0 };
    header.ether_type = htons(destination.is_v4() ? ETHERTYPE_IP : ETHERTYPE_IPV6);
    if (destination.is_multicast() && destination.is_v4()) {
        const auto group = destination.to_v4().to_bytes();
        const std::array<std::uint8_t, 6> mac{
            0x01,     0x00,    0x5e, static_cast<std::uint8_t>(group[1] & 0x7f),
            group[2], group[3]
        };
        std::copy(mac.begin(), mac.end(), header.ether_dhost);
    } else if (destination.is_multicast()) {
        const auto group = destination.to_v6().to_bytes();
        const std::array<std::uint8_t, 6> mac{ 0x33,      0x33,      group[12],
                                               group[13], group[14], group[15] };
        std::copy(mac.begin(), mac.end(), header.ether_dhost);
    }
    frame.prepend(header);
}

} // namespace

capture_writer::capture_writer(boost::asio::io_context& io,
                               const std::vector<endpoint>& destinations)
    : d_path(destinations.front().capture),
      d_file(io),
      d_buffer(max_headers_bytes + wire::max_datagram_bytes),
      d_time(std::chrono::system_clock::now().time_since_epoch())
{
    for (const auto& destination : destinations)
        d_addresses.push_back(resolve(io, destination, "destinations"));
    int error = open_file();
    if (!error)
        error = write_frame();
    if (error && error != EAGAIN && error != error_retry_later)
        throw std::runtime_error("destinations = \"" + d_path +
                                 "\": " + std::strerror(error));
}

// Opens the file, or a pipe if another program reads it, and prepares the file header as
// the first frame. Returns 0 or an errno.
// NOLINTNEXTLINE(bugprone-exception-escape): assign() throws only without memory
int capture_writer::open_file() noexcept
{
    constexpr mode_t permissions = 0666; // less those of the umask
    const int fd = open(d_path.c_str(),
                        O_WRONLY | O_CREAT | O_TRUNC | O_APPEND | O_NONBLOCK | O_CLOEXEC,
                        permissions);
    if (fd < 0) {
        const int error = errno;
        struct stat status {
        };
        const bool is_pipe =
            stat(d_path.c_str(), &status) == 0 && S_ISFIFO(status.st_mode);
        if (error != ENXIO || !is_pipe)
            return error;
        return d_has_lost_reader ? EPIPE : error_retry_later;
    }
    boost::system::error_code assign_error;
    d_file.assign(fd, assign_error);
    if (assign_error) {
        close(fd);
        return assign_error.value();
    }
    const file_header header;
    std::memcpy(d_buffer.data(), &header, sizeof header);
    d_frame = d_buffer.data();
    d_frame_bytes = sizeof header;
    return 0;
}

send_result capture_writer::send(const message* messages, std::size_t n) noexcept
{
    for (std::size_t i = 0; i < n; ++i)
        if (const int error = write(messages[i]))
            return { i, error };
    return { n, 0 };
}

// Continues with a packet of which a part has been written. Returns 0 or an errno.
int capture_writer::write(const message& packet) noexcept
{
    if (!d_file.is_open()) {
        if (const int error = open_file())
            return error;
        d_position = no_position; // begin the packet anew
    }
    if (packet.position != d_position || packet.ring_index != d_ring_index) {
        // first the file header, or the rest of a packet that was dropped since
        if (d_written || !d_file_bytes)
            if (const int error = write_frame())
                return error;
        build_frame(packet);
    }
    return write_frame();
}

// Writes the rest of the frame. Returns 0 or an errno. After a failure, a file ends with
// the frame before; a pipe keeps what was written.
int capture_writer::write_frame() noexcept
{
    while (d_written < d_frame_bytes) {
        const auto bytes = ::write(
            d_file.native_handle(), d_frame + d_written, d_frame_bytes - d_written);
        const int error = bytes < 0 ? errno : 0;
        if (error == EPIPE)
            close_pipe();
        else if (error && error != EAGAIN &&
                 ftruncate(d_file.native_handle(), d_file_bytes) == 0)
            d_written = 0;
        if (error)
            return error;
        d_written += static_cast<std::size_t>(bytes);
    }
    d_file_bytes += static_cast<off_t>(std::exchange(d_frame_bytes, 0));
    d_written = 0;
    return 0;
}

// Packets are lost until another program reads the pipe, from the file header on.
void capture_writer::close_pipe() noexcept
{
    boost::system::error_code ignored;
    d_file.close(ignored);
    d_file_bytes = 0;
    d_written = 0;
    d_has_lost_reader = true;
}

void capture_writer::async_wait_writable(std::function<void()> handler)
{
    auto ready = [handler = std::move(handler)](const auto&) { handler(); };
    d_file.async_wait(boost::asio::posix::stream_descriptor::wait_write,
                      std::move(ready));
}

// NOLINTNEXTLINE(bugprone-exception-escape): to_v4() throws for IPv6 only
void capture_writer::build_frame(const message& packet) noexcept
{
    auto* const payload = d_buffer.data() + max_headers_bytes;
    auto* end = payload;
    for (std::size_t i = 0; i < packet.n_pieces; ++i) {
        std::memcpy(end, packet.pieces[i].iov_base, packet.pieces[i].iov_len);
        end += packet.pieces[i].iov_len;
    }
    const auto& destination = d_addresses[packet.destination];
    frame_builder frame(payload, packet.bytes);
    if (destination.address().is_v4()) {
        prepend_udp(frame, destination.address().to_v4(), destination.port());
        prepend_ip(frame, destination.address().to_v4());
    } else {
        prepend_udp(frame, destination.address().to_v6(), destination.port());
        prepend_ip(frame, destination.address().to_v6());
    }
    prepend_ethernet(frame, destination.address());
    const auto time = next_time(packet.bytes).count();
    const auto frame_bytes = static_cast<std::uint32_t>(frame.bytes());
    frame.prepend(frame_header{ static_cast<std::uint32_t>(time / 1'000'000'000),
                                static_cast<std::uint32_t>(time % 1'000'000'000),
                                frame_bytes,
                                frame_bytes });
    d_frame = frame.data();
    d_frame_bytes = frame.bytes();
    d_ring_index = packet.ring_index;
    d_position = packet.position;
}

// The time of the next packet. The one after it follows when its bytes have been sent.
std::chrono::nanoseconds capture_writer::next_time(std::size_t bytes) noexcept
{
    const double rate = d_rate;
    if (rate == 0) {
        const std::chrono::nanoseconds now =
            std::chrono::system_clock::now().time_since_epoch();
        return d_time = std::max(d_time, now);
    }
    const auto time = d_time;
    d_time_fraction += 1e9 * static_cast<double>(bytes) / rate;
    const auto nanoseconds = static_cast<std::int64_t>(d_time_fraction);
    d_time_fraction -= static_cast<double>(nanoseconds);
    d_time += std::chrono::nanoseconds(nanoseconds);
    return time;
}

} // namespace gr::spead
