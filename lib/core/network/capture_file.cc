/* -*- c++ -*- */
/*
 * Copyright 2026 The gr-spead authors
 *
 * SPDX-License-Identifier: GPL-3.0-or-later
 */

#include "capture_file.h"
#include "frame_dissector.h"
#include "protocol/packet_parser.h"

#include <stdexcept>

#ifdef SPEAD_HAVE_LIBPCAP

#include <pcap/pcap.h>

#include <string_view>
#include <array>
#include <cerrno>
#include <cstring>
#include <functional>

namespace gr::spead {

namespace {

// On the sending host, captures show a segmented send (UDP_SEGMENT) as one datagram.
std::size_t first_packet_bytes(const std::byte* datagram, std::size_t bytes)
{
    packet_view packet;
    if (parse_packet(datagram, bytes, packet, true) != packet_error::none)
        return bytes;
    return static_cast<std::size_t>(packet.payload - datagram) + packet.payload_bytes;
}

class capture_file : public datagram_source
{
public:
    explicit capture_file(const std::string& text)
        : d_path(text.substr(0, text.find('?')))
    {
        std::array<char, PCAP_ERRBUF_SIZE> reason{};
        d_pcap.reset(pcap_open_offline_with_tstamp_precision(
            d_path.c_str(), PCAP_TSTAMP_PRECISION_NANO, reason.data()));
        if (!d_pcap)
            refuse(reason.data());
        const auto type = pcap_datalink(d_pcap.get());
        if (!frame_dissector::supports(type))
            refuse("its link type " + std::to_string(type) +
                   " is none of Ethernet, Linux cooked and IP");
        d_dissector = frame_dissector(type);
        if (const auto mark = text.find('?'); mark != std::string::npos) {
            bpf_program filter{};
            const auto expression = text.substr(mark + 1);
            if (pcap_compile(
                    d_pcap.get(), &filter, expression.c_str(), 1, PCAP_NETMASK_UNKNOWN) !=
                0)
                refuse("the filter \"" + expression + "\": " + pcap_geterr(d_pcap.get()));
            pcap_setfilter(d_pcap.get(), &filter);
            pcap_freecode(&filter);
        }
    }

    received_datagrams receive(std::byte* buffer) noexcept override
    {
        received_datagrams result;
        find_next();
        if (!d_next) {
            result.error = d_is_damaged ? EIO : EAGAIN;
            d_is_damaged = false;
            return result;
        }
        const std::string_view sender(reinterpret_cast<const char*>(d_next->from.data()),
                                      d_next->from.size());
        result.from = d_next->from;
        result.to = d_next->to;
        result.sender = std::hash<std::string_view>()(sender) | 1;
        result.data = buffer;
        result.bytes = std::min(d_next->bytes, batch_buffer_bytes);
        std::memcpy(buffer, d_next->payload, result.bytes);
        result.datagram_bytes = first_packet_bytes(buffer, result.bytes);
        d_next.reset();
        return result;
    }

    std::string name() const override { return d_path; }
    bool is_capture() const override { return true; }

    std::optional<std::chrono::nanoseconds> next_time() override
    {
        find_next();
        return d_next ? std::optional(d_time) : std::nullopt;
    }

private:
    [[noreturn]] void refuse(const std::string& why) const
    {
        throw std::runtime_error("endpoints = \"" + d_path + "\": " + why);
    }

    void find_next() noexcept
    {
        while (!d_next && !d_has_ended) {
            pcap_pkthdr* header = nullptr;
            const u_char* frame = nullptr;
            const int got = pcap_next_ex(d_pcap.get(), &header, &frame);
            if (got != 1) {
                d_has_ended = true;
                d_is_damaged = got == PCAP_ERROR;
                return;
            }
            d_time = std::chrono::seconds(header->ts.tv_sec) +
                     std::chrono::nanoseconds(header->ts.tv_usec);
            d_next = d_dissector.dissect(reinterpret_cast<const std::byte*>(frame),
                                         header->caplen);
        }
    }

    struct closer {
        void operator()(pcap_t* file) const { pcap_close(file); }
    };

    std::string d_path;
    std::unique_ptr<pcap_t, closer> d_pcap;
    frame_dissector d_dissector{ 0 };
    std::optional<captured_datagram> d_next;
    std::chrono::nanoseconds d_time{};
    bool d_has_ended = false;
    bool d_is_damaged = false; // not reported yet
};

} // namespace

std::unique_ptr<datagram_source> open_capture(const std::string& text)
{
    return std::make_unique<capture_file>(text);
}

} // namespace gr::spead

#else

namespace gr::spead {

std::unique_ptr<datagram_source> open_capture(const std::string& text)
{
    throw std::runtime_error("endpoints = \"" + text +
                             "\": gr-spead was built without libpcap");
}

} // namespace gr::spead

#endif
