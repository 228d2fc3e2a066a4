/* -*- c++ -*- */
/*
 * Copyright 2026 The gr-spead authors
 *
 * SPDX-License-Identifier: GPL-3.0-or-later
 */

#include "capture_file.h"

#include <poll.h>

#include <stdexcept>

#ifdef SPEAD_HAVE_LIBPCAP

#include "capture_pipe.h"
#include "frame_dissector.h"
#include "protocol/packet_parser.h"

#include <fcntl.h>
#include <pcap/pcap.h>
#include <sys/stat.h>
#include <unistd.h>

#include <string_view>
#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <functional>
#include <utility>

namespace gr::spead {

namespace {

using namespace std::string_view_literals;

struct compression {
    std::string_view magic;
    const char* program;
};
constexpr std::array compressions{ compression{ "\x1f\x8b"sv, "gzip" },
                                   compression{ "\x28\xb5\x2f\xfd"sv, "zstd" },
                                   compression{ "\xfd\x37\x7a\x58\x5a"sv, "xz" },
                                   compression{ "BZh"sv, "bzip2" } };
constexpr std::size_t max_magic_bytes = 5;

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
    capture_file(const std::string& path, const std::string& filter)
        : d_path(path), d_filter(filter)
    {
        const int fd = open(path.c_str(), O_RDONLY | O_NONBLOCK | O_CLOEXEC);
        if (fd < 0)
            refuse(std::strerror(errno));
        d_file.reset(fdopen(fd, "rb"));
        if (!d_file)
            refuse(std::strerror(errno));
        struct stat status {
        };
        if (fstat(fd, &status) == 0 && S_ISFIFO(status.st_mode)) {
            d_pipe = std::make_unique<capture_pipe>(fd);
            return;
        }
        std::array<char, max_magic_bytes> begin{};
        const auto bytes = pread(fd, begin.data(), begin.size(), 0);
        open_stream(
            { begin.data(), static_cast<std::size_t>(std::max<ssize_t>(bytes, 0)) },
            std::move(d_file));
    }

    received_datagrams receive(std::byte* buffer) noexcept override
    {
        received_datagrams result;
        if (!d_next) {
            result.error = EAGAIN;
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
    int native_handle() const override { return d_file ? fileno(d_file.get()) : -1; }
    bool is_capture() const override { return true; }

    std::optional<std::chrono::nanoseconds> next_time() override
    {
        while (!d_next && !d_has_ended)
            if (!read_frame() && !continue_at_end())
                break;
        return d_next ? std::optional(d_time) : std::nullopt;
    }

    bool is_waiting() const override { return d_pipe && !d_next && !d_has_ended; }
    std::string failure() const override { return d_failure; }

private:
    struct stream_closer {
        void operator()(std::FILE* stream) const { std::fclose(stream); }
    };
    using owned_stream = std::unique_ptr<std::FILE, stream_closer>;

    [[noreturn]] void refuse(const std::string& why) const
    {
        throw std::runtime_error("endpoints = \"" + d_path + "\": " + why);
    }

    // \p begin: the first bytes of the stream
    void open_stream(std::string_view begin, owned_stream stream)
    {
        for (const auto& format : compressions)
            if (begin.substr(0, format.magic.size()) == format.magic)
                refuse("the file is compressed; decompress it first, with \"" +
                       std::string(format.program) + " -dk\"");
        if (!stream)
            refuse(std::strerror(errno));
        std::array<char, PCAP_ERRBUF_SIZE> reason{};
        d_pcap.reset(pcap_fopen_offline_with_tstamp_precision(
            stream.get(), PCAP_TSTAMP_PRECISION_NANO, reason.data()));
        if (!d_pcap)
            refuse(reason.data());
        [[maybe_unused]] const auto* owned = stream.release(); // by d_pcap
        const auto type = pcap_datalink(d_pcap.get());
        if (!frame_dissector::supports(type))
            refuse("its link type " + std::to_string(type) +
                   " is none of Ethernet, Linux cooked and IP");
        d_dissector = frame_dissector(type);
        if (d_filter.empty())
            return;
        bpf_program filter{};
        if (pcap_compile(
                d_pcap.get(), &filter, d_filter.c_str(), 1, PCAP_NETMASK_UNKNOWN) != 0)
            refuse("the filter \"" + d_filter + "\": " + pcap_geterr(d_pcap.get()));
        pcap_setfilter(d_pcap.get(), &filter);
        pcap_freecode(&filter);
    }

    // Reads a frame, which need not hold a datagram. False at the end.
    bool read_frame()
    {
        if (!d_pcap)
            return false;
        pcap_pkthdr* header = nullptr;
        const u_char* frame = nullptr;
        const int got = pcap_next_ex(d_pcap.get(), &header, &frame);
        if (got == PCAP_ERROR)
            end_with(d_path + " is damaged: its end is ignored");
        if (got != 1)
            return false;
        d_time = std::chrono::seconds(header->ts.tv_sec) +
                 std::chrono::nanoseconds(header->ts.tv_usec);
        d_next = d_dissector.dissect(reinterpret_cast<const std::byte*>(frame),
                                     header->caplen);
        return true;
    }

    // Makes the stream continue with what has arrived in the pipe. False if that is
    // nothing, or without a pipe.
    bool continue_at_end()
    {
        const bool has_more = d_pipe && d_pipe->fill();
        const bool may_continue = d_pipe && !d_pipe->is_closed();
        if (!d_pcap && (has_more || !may_continue)) {
            try {
                open_stream(d_pipe->unread(), owned_stream(d_pipe->open_stream()));
            } catch (const std::runtime_error& error) {
                end_with(error.what());
            }
        } else if (has_more) {
            clearerr(pcap_file(d_pcap.get()));
        } else if (!may_continue) {
            d_has_ended = true;
        }
        return has_more;
    }

    void end_with(const std::string& failure)
    {
        d_failure = failure;
        d_has_ended = true;
    }

    struct pcap_closer {
        void operator()(pcap_t* pcap) const { pcap_close(pcap); }
    };

    const std::string d_path;
    const std::string d_filter;
    owned_stream d_file; // of a pipe
    std::unique_ptr<capture_pipe> d_pipe;
    std::unique_ptr<pcap_t, pcap_closer> d_pcap; // nullptr: nothing has arrived yet
    frame_dissector d_dissector{ 0 };
    std::optional<captured_datagram> d_next;
    std::chrono::nanoseconds d_time{};
    bool d_has_ended = false;
    std::string d_failure;
};

} // namespace

std::unique_ptr<datagram_source> open_capture(const std::string& path,
                                              const std::string& filter)
{
    return std::make_unique<capture_file>(path, filter);
}

#else

namespace gr::spead {

std::unique_ptr<datagram_source> open_capture(const std::string& path,
                                              const std::string& /* filter */)
{
    throw std::runtime_error("endpoints = \"" + path +
                             "\": gr-spead was built without libpcap");
}

#endif

void wait_for_captures(const std::vector<std::unique_ptr<datagram_source>>& captures,
                       std::chrono::milliseconds timeout)
{
    std::vector<pollfd> polled;
    for (const auto& capture : captures)
        if (capture->is_waiting())
            polled.push_back({ capture->native_handle(), POLLIN, 0 });
    if (!polled.empty())
        poll(polled.data(), polled.size(), static_cast<int>(timeout.count()));
}

} // namespace gr::spead
