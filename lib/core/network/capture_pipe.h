/* -*- c++ -*- */
/*
 * Copyright 2026 The gr-spead authors
 *
 * SPDX-License-Identifier: GPL-3.0-or-later
 */

#ifndef INCLUDED_SPEAD_CORE_CAPTURE_PIPE_H
#define INCLUDED_SPEAD_CORE_CAPTURE_PIPE_H

#include <string_view>
#include <cstddef>
#include <cstdio>
#include <string>

namespace gr::spead {

/*!
 * \brief Reads a capture (pcap or pcapng) from a pipe without waiting, for libpcap.
 *
 * libpcap waits for the rest of a record, and takes the end of its stream for the end of
 * the capture. So the stream ends where the complete records do, and grows by calls of
 * fill().
 */
class capture_pipe
{
public:
    explicit capture_pipe(int fd) : d_fd(fd) {} //!< non-blocking; does not close it
    capture_pipe(const capture_pipe&) = delete;
    capture_pipe& operator=(const capture_pipe&) = delete;

    //! Reads what has arrived. Returns whether the stream has anything to read: at first,
    //! all that libpcap needs to open the capture.
    bool fill();
    //! Whether the writer has closed the pipe. Then the stream has all that is left.
    bool is_closed() const { return d_is_closed; }
    std::FILE* open_stream(); //!< nullptr if that fails
    //! What has been read from the pipe but not from the stream.
    std::string_view unread() const { return std::string_view(d_data).substr(d_begin); }

private:
    enum class file_format { unknown, pcap, pcapng };

    std::size_t read_stream(char* buffer, std::size_t bytes);
    void find_records();
    bool find_format();
    std::size_t record_bytes();
    std::size_t word_at(std::size_t offset) const;

    const int d_fd;
    std::string d_data;        // read from the pipe
    std::size_t d_begin = 0;   // of the stream: what has not been read from it
    std::size_t d_end = 0;     // of the stream
    std::size_t d_scanned = 0; // begin of the first incomplete record
    file_format d_format = file_format::unknown;
    bool d_is_big_endian = false;
    bool d_has_link_type = false;
    bool d_is_closed = false;
};

} // namespace gr::spead

#endif /* INCLUDED_SPEAD_CORE_CAPTURE_PIPE_H */
