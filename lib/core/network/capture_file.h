/* -*- c++ -*- */
/*
 * Copyright 2026 The gr-spead authors
 *
 * SPDX-License-Identifier: GPL-3.0-or-later
 */

#ifndef INCLUDED_SPEAD_CORE_CAPTURE_FILE_H
#define INCLUDED_SPEAD_CORE_CAPTURE_FILE_H

#include "datagram_source.h"

#include <memory>
#include <string>

namespace gr::spead {

//! Opens a capture (pcap or pcapng), given as "FILE" or "FILE?FILTER" with a filter of
//! libpcap, such as "stream.pcap?dst host 239.2.1.150". Throws std::runtime_error with
//! the reason if this fails, or without libpcap.
std::unique_ptr<datagram_source> open_capture(const std::string& text);

} // namespace gr::spead

#endif /* INCLUDED_SPEAD_CORE_CAPTURE_FILE_H */
