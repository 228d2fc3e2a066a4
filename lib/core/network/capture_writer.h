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

#include <atomic>
#include <chrono>
#include <cstdio>
#include <memory>
#include <vector>

namespace gr::spead {

/*!
 * \brief Writes packets to a capture (pcap with Ethernet frames) instead of sending them.
 *
 * The times of packets begin when the file is created and advance at the rate. Without a
 * rate, they are the times of writing.
 */
class capture_writer final : public transport
{
public:
    static constexpr std::size_t max_packet_bytes = wire::max_datagram_bytes;

    //! Resolves the hosts and creates the file that the first destination names.
    //! \p rate is in bytes of UDP payload per second; 0: none. Throws parameter_error for
    //! an unknown host, and std::runtime_error if the file cannot be created.
    capture_writer(boost::asio::io_context& io,
                   const std::vector<endpoint>& to,
                   double rate);

    //! The addresses of the destinations, in their order.
    const std::vector<boost::asio::ip::udp::endpoint>& addresses() const
    {
        return d_destinations;
    }

    void set_rate(double bytes_per_second) { d_rate = bytes_per_second; } //!< any thread
    double rate() const { return d_rate; }

    bool sends_segmented() const override { return false; }
    send_result send(const message* messages, std::size_t n) noexcept override;
    //! Completes the file. Returns an errno if that fails, or 0.
    int flush() noexcept;

    // send() does not wait, and nothing stays in flight.
    void async_wait_writable(std::function<void()> /* handler */) override {}
    void async_wait_reports(std::function<void()> /* handler */) override {}
    icmp_errors take_reports() noexcept override { return {}; }

private:
    struct closer {
        void operator()(std::FILE* file) const { std::fclose(file); }
    };

    bool write(const message& packet) noexcept;
    std::chrono::nanoseconds next_time(std::size_t bytes) noexcept;

    std::vector<boost::asio::ip::udp::endpoint> d_destinations;
    std::unique_ptr<std::FILE, closer> d_file;
    std::vector<std::byte> d_buffer; // a packet, with room for the headers in front
    std::atomic<double> d_rate;
    std::chrono::nanoseconds d_time; // of the latest packet, since 1970
    double d_time_fraction = 0;      // ns
    int d_error = 0;                 // errno of the first failure, which ends the file
};

} // namespace gr::spead

#endif /* INCLUDED_SPEAD_CORE_CAPTURE_WRITER_H */
