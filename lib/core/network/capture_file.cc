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

#include "capture_clock.h"
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
#include <optional>
#include <utility>
#include <vector>

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
    const auto size =
        static_cast<std::size_t>(packet.payload - datagram) + packet.payload_bytes;
    // all segments but the last one have this size, and begin with the same header
    constexpr std::size_t equal_bytes = 4;
    for (auto begin = size; begin < bytes; begin += size)
        if (bytes - begin < equal_bytes ||
            std::memcmp(datagram + begin, datagram, equal_bytes) != 0)
            return bytes;
    return size;
}

// Fragments and frames that the capture has cut are unusable.
packet_error fault_of(const captured_frame& frame)
{
    switch (frame.content) {
    case captured_frame::content_kind::fragment:
        return packet_error::fragment;
    case captured_frame::content_kind::truncated:
        return packet_error::truncated;
    default:
        return packet_error::none;
    }
}

// libpcap passes time stamps of more than 64 bits through.
std::chrono::nanoseconds stamp_of(const timeval& stamp)
{
    constexpr std::int64_t latest = std::int64_t{ 1 } << 33; // year 2242
    return std::chrono::seconds(std::clamp<std::int64_t>(stamp.tv_sec, 0, latest)) +
           std::chrono::nanoseconds(
               std::clamp<std::int64_t>(stamp.tv_usec, 0, 999999999));
}

class capture_file : public datagram_source
{
public:
    capture_file(const std::string& path, const std::string& filter)
        : d_path(path), d_filter_text(filter)
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
        if (!d_datagram || !d_is_dated) {
            result.error = EAGAIN;
            return result;
        }
        const std::string_view sender(
            reinterpret_cast<const char*>(d_datagram->source.data()),
            d_datagram->source.size());
        result.sender_address = d_datagram->source;
        result.destination = d_datagram->destination;
        result.sender = std::hash<std::string_view>()(sender) | 1;
        result.fault = fault_of(*d_datagram);
        if (result.fault == packet_error::none) {
            result.data = buffer;
            result.bytes = std::min(d_datagram->bytes, batch_buffer_bytes);
            std::memcpy(buffer, d_datagram->payload, result.bytes);
            result.datagram_bytes = first_packet_bytes(buffer, result.bytes);
        }
        d_datagram.reset();
        return result;
    }

    std::string name() const override { return d_path; }
    int native_handle() const override { return d_file ? fileno(d_file.get()) : -1; }
    bool is_capture() const override { return true; }

    // Finds the next datagram, whole or not.
    std::optional<std::chrono::nanoseconds> next_capture_time() override
    {
        while (!d_datagram) {
            const auto frame = d_following_frame
                                   ? std::exchange(d_following_frame, std::nullopt)
                                   : read_frame();
            if (!frame)
                return std::nullopt;
            auto dissected =
                dissect(d_link_type, frame->data, frame->captured, frame->length);
            if (dissected.content == captured_frame::content_kind::other) {
                if (d_other_protocol.empty())
                    d_other_protocol = dissected.protocol.empty()
                                           ? "is cut"
                                           : "has " + dissected.protocol;
                continue;
            }
            d_has_datagrams = true;
            d_datagram = dissected;
            note_fault(*frame);
            d_stamp = frame->stamp;
            d_is_dated = false;
        }
        d_is_dated = d_is_dated || set_time();
        return d_is_dated ? std::optional(d_time) : std::nullopt;
    }

    bool awaits_pipe() const override
    {
        return d_pipe && !d_has_ended && !(d_datagram && d_is_dated);
    }
    std::string take_warning() override { return std::exchange(d_warning, {}); }

private:
    struct raw_frame {
        std::chrono::nanoseconds stamp;
        const std::byte* data;
        std::size_t captured, length;
    };
    struct stream_closer {
        void operator()(std::FILE* stream) const { std::fclose(stream); }
    };
    using owned_stream = std::unique_ptr<std::FILE, stream_closer>;

    [[noreturn]] void refuse(const std::string& why) const
    {
        throw std::runtime_error("endpoints = \"" + d_path + "\": " + why);
    }

    // \p first_bytes: the first bytes of the stream
    void open_stream(std::string_view first_bytes, owned_stream stream)
    {
        for (const auto& format : compressions)
            if (first_bytes.substr(0, format.magic.size()) == format.magic)
                refuse("the file is compressed; decompress it first, with \"" +
                       std::string(format.program) + " -dk\"");
        if (!stream)
            refuse(std::strerror(errno));
        std::array<char, PCAP_ERRBUF_SIZE> reason{};
        d_pcap.reset(pcap_fopen_offline_with_tstamp_precision(
            stream.get(), PCAP_TSTAMP_PRECISION_NANO, reason.data()));
        if (!d_pcap)
            refuse(reason.data());
        [[maybe_unused]] const auto* released = stream.release(); // by d_pcap
        d_link_type = pcap_datalink(d_pcap.get());
        if (!is_link_type_supported(d_link_type))
            refuse("its link type " + std::to_string(d_link_type) +
                   " is none of Ethernet, Linux cooked and IP");
        if (!d_filter_text.empty() && pcap_compile(d_pcap.get(),
                                                   &d_filter.program,
                                                   d_filter_text.c_str(),
                                                   1,
                                                   PCAP_NETMASK_UNKNOWN) != 0)
            refuse("the filter \"" + d_filter_text + "\": " + pcap_geterr(d_pcap.get()));
    }

    // The next frame that matches the filter; none at the end, or while a pipe is empty.
    std::optional<raw_frame> read_frame()
    {
        while (!d_has_ended) {
            pcap_pkthdr* header = nullptr;
            const u_char* data = nullptr;
            const int status =
                d_pcap ? pcap_next_ex(d_pcap.get(), &header, &data) : PCAP_ERROR_BREAK;
            if (status == PCAP_ERROR)
                end_with(std::string(pcap_geterr(d_pcap.get())) +
                         "; the rest of the file is ignored");
            if (status != 1) {
                if (continue_at_end())
                    continue;
                break;
            }
            ++d_frames;
            if (!d_filter_text.empty() &&
                !pcap_offline_filter(&d_filter.program, header, data))
                continue;
            d_has_matches = true;
            return raw_frame{ stamp_of(header->ts),
                              reinterpret_cast<const std::byte*>(data),
                              header->caplen,
                              header->len };
        }
        return std::nullopt;
    }

    // Makes the stream continue with what has arrived in the pipe. False if that is
    // nothing, or without a pipe.
    bool continue_at_end()
    {
        if (d_has_ended)
            return false;
        const bool has_more = d_pipe && d_pipe->fill();
        const bool may_continue = d_pipe && !d_pipe->is_closed();
        if (!d_pcap && (has_more || !may_continue)) {
            try {
                open_stream(d_pipe->unread(), owned_stream(d_pipe->open_stream()));
            } catch (const std::runtime_error& error) {
                d_warning = error.what();
                d_has_ended = true;
            }
        } else if (has_more) {
            clearerr(pcap_file(d_pcap.get()));
        } else if (!may_continue) {
            d_has_ended = true;
            note_end();
        }
        return has_more;
    }

    // Sets the time of d_datagram. False if that needs the following frame, and a pipe
    // does not have it yet.
    bool set_time()
    {
        if (d_clock.is_doubtful(d_stamp) && !d_following_frame && !d_has_ended) {
            // libpcap overwrites a frame when it reads the following one
            if (d_datagram->payload != d_payload.data())
                d_payload.assign(d_datagram->payload,
                                 d_datagram->payload + d_datagram->bytes);
            d_datagram->payload = d_payload.data();
            d_following_frame = read_frame();
            if (!d_following_frame && !d_has_ended)
                return false;
        }
        d_time = d_clock.advance(
            d_stamp,
            d_following_frame ? std::optional(d_following_frame->stamp) : std::nullopt);
        return true;
    }

    void end_with(const std::string& reason)
    {
        note(reason);
        d_has_ended = true;
    }

    void note(const std::string& text)
    {
        d_warning += (d_warning.empty() ? "" : "; ") + d_path + ": " + text;
    }

    void note_fault(const raw_frame& frame)
    {
        if (d_datagram->content == captured_frame::content_kind::fragment &&
            !std::exchange(d_has_noted_fragment, true))
            note("IP fragments are not put together: their datagrams are missing; have "
                 "the sender use packets that fit into the MTU");
        if (d_datagram->content == captured_frame::content_kind::truncated &&
            !std::exchange(d_has_noted_truncation, true))
            note("a frame of " + std::to_string(frame.length) + " bytes is cut to " +
                 std::to_string(frame.captured) +
                 ": such packets are missing; capture with tcpdump -s 0");
    }

    // Notes why the file has no datagrams.
    void note_end()
    {
        if (d_has_datagrams)
            return;
        if (!d_frames)
            note("holds no packets");
        else if (!d_has_matches)
            note("none of its " + std::to_string(d_frames) +
                 " packets matches the filter \"" + d_filter_text + "\"");
        else
            note("none of its packets is a UDP datagram; the first one " +
                 d_other_protocol);
    }

    struct compiled_filter {
        compiled_filter() = default;
        compiled_filter(const compiled_filter&) = delete;
        ~compiled_filter() { pcap_freecode(&program); }
        bpf_program program{};
    };
    struct pcap_closer {
        void operator()(pcap_t* pcap) const { pcap_close(pcap); }
    };

    const std::string d_path;
    const std::string d_filter_text;
    owned_stream d_file; // of a pipe
    std::unique_ptr<capture_pipe> d_pipe;
    std::unique_ptr<pcap_t, pcap_closer> d_pcap; // nullptr: nothing has arrived yet
    int d_link_type = 0;
    compiled_filter d_filter;
    capture_clock d_clock;
    std::optional<raw_frame> d_following_frame; // read, but not processed yet
    std::optional<captured_frame> d_datagram;
    std::vector<std::byte> d_payload;   // of d_datagram, if d_following_frame is set
    std::chrono::nanoseconds d_stamp{}; // of d_datagram, as captured
    std::chrono::nanoseconds d_time{};  // of d_datagram, if d_is_dated
    bool d_is_dated = false;
    bool d_has_ended = false;

    // for messages
    std::string d_warning;
    std::uint64_t d_frames = 0;
    bool d_has_matches = false;
    bool d_has_datagrams = false;
    std::string d_other_protocol; // what the first frame of another protocol is
    bool d_has_noted_fragment = false;
    bool d_has_noted_truncation = false;
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
        if (capture->awaits_pipe())
            polled.push_back({ capture->native_handle(), POLLIN, 0 });
    if (!polled.empty())
        poll(polled.data(), polled.size(), static_cast<int>(timeout.count()));
}

} // namespace gr::spead
