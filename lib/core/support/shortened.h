/* -*- c++ -*- */
/*
 * Copyright 2026 The gr-spead authors
 *
 * SPDX-License-Identifier: GPL-3.0-or-later
 */

#ifndef INCLUDED_SPEAD_CORE_SHORTENED_H
#define INCLUDED_SPEAD_CORE_SHORTENED_H

#include <string>
#include <vector>

namespace gr::spead {

//! The endpoints of a block in one text of bounded length: a log line must not exceed the
//! capacity of a pipe.
inline std::string shortened(const std::vector<std::string>& endpoints)
{
    constexpr std::size_t max_bytes = 200;
    std::string joined;
    for (const auto& endpoint : endpoints)
        joined += (joined.empty() ? "" : "; ") + endpoint;
    if (joined.size() <= max_bytes)
        return joined;
    auto end = max_bytes;
    while ((joined[end] & 0xc0) == 0x80) // inside a UTF-8 character
        --end;
    return joined.substr(0, end) + "...";
}

} // namespace gr::spead

#endif /* INCLUDED_SPEAD_CORE_SHORTENED_H */
