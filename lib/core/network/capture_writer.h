/* -*- c++ -*- */
/*
 * Copyright 2026 The gr-spead authors
 *
 * SPDX-License-Identifier: GPL-3.0-or-later
 */

#ifndef INCLUDED_SPEAD_CORE_CAPTURE_WRITER_H
#define INCLUDED_SPEAD_CORE_CAPTURE_WRITER_H

#include "endpoint.h"
#include "protocol/wire.h"
#include "transport.h"

#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/udp.hpp>
#include <boost/asio/posix/stream_descriptor.hpp>

#include <atomic>
#include <chrono>
#include <string>
#include <vector>

namespace gr::spead {

/*!
 * \brief Writes packets to a capture (pcap with Ethernet frames) instead of sending them.
 *
 * The times of packets begin when the sink is created and advance at the rate. Without a
 * rate, they are the times of writing. A packet counts as sent when the file holds all of
 * it. The file may be a named pipe; packets wait until another program reads it.
 */
class capture_writer final : public transport
{
public:
    //! Resolves the hosts and creates the file that the first destination names.
    //! Throws parameter_error for an unknown host, and std::runtime_error if the file
    //! cannot be created.
    capture_writer(boost::asio::io_context& io,
                   const std::vector<endpoint>& destinations);

    const std::vector<boost::asio::ip::udp::endpoint>& addresses() const override
    {
        return d_addresses;
    }
    bool sends_segmented() const override { return false; }
    bool needs_pacing() const override { return false; }
    void set_rate(double bytes_per_second) override { d_rate = bytes_per_second; }
    send_result send(const message* messages, std::size_t n) noexcept override;
    void async_wait_writable(std::function<void()> handler) override;

    // nothing stays in flight
    void async_wait_reports(std::function<void()> /* handler */) override {}
    icmp_errors take_reports() noexcept override { return {}; }

private:
    int open_file() noexcept;
    int write(const message& packet) noexcept;
    int write_frame() noexcept;
    void close_pipe() noexcept;
    void build_frame(const message& packet) noexcept;
    std::chrono::nanoseconds next_time(std::size_t bytes) noexcept;

    std::vector<boost::asio::ip::udp::endpoint> d_addresses;
    const std::string d_path;
    boost::asio::posix::stream_descriptor d_file; // closed: a pipe that nobody reads
    bool d_has_lost_reader = false;               // of a pipe
    off_t d_file_bytes = 0;                       // up to the latest complete frame
    std::vector<std::byte> d_buffer;    // a packet, with room for the headers in front
    const std::byte* d_frame = nullptr; // in d_buffer
    std::size_t d_frame_bytes = 0;
    std::size_t d_written = 0; // of the frame
    // of the packet in the frame
    std::uint16_t d_ring_index = 0;
    std::uint64_t d_position = no_position;
    std::atomic<double> d_rate{ 0 };
    std::chrono::nanoseconds d_time; // of the next packet, since 1970
    double d_time_fraction = 0;      // ns
};

} // namespace gr::spead

#endif /* INCLUDED_SPEAD_CORE_CAPTURE_WRITER_H */
