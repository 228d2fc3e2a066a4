/* -*- c++ -*- */
/*
 * Copyright 2026 The gr-spead authors
 *
 * SPDX-License-Identifier: GPL-3.0-or-later
 */

#ifndef INCLUDED_SPEAD_CORE_CAPTURE_FILE_H
#define INCLUDED_SPEAD_CORE_CAPTURE_FILE_H

#include "datagram_source.h"

#include <chrono>
#include <memory>
#include <string>
#include <vector>

namespace gr::spead {

//! Opens a capture (pcap or pcapng): a file or a named pipe. \p filter is a filter of
//! libpcap, such as "dst host 239.2.1.150"; "": all packets. Throws std::runtime_error
//! with the reason if this fails, or without libpcap.
std::unique_ptr<datagram_source> open_capture(const std::string& path,
                                              const std::string& filter);

//! Waits, for \p timeout at most, until more arrives in one of the pipes that are empty.
void wait_for_captures(const std::vector<std::unique_ptr<datagram_source>>& captures,
                       std::chrono::milliseconds timeout);

} // namespace gr::spead

#endif /* INCLUDED_SPEAD_CORE_CAPTURE_FILE_H */
