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
    constexpr std::size_t longest = 200;
    std::string all;
    for (const auto& text : endpoints)
        all += (all.empty() ? "" : "; ") + text;
    if (all.size() <= longest)
        return all;
    auto end = longest;
    while ((all[end] & 0xc0) == 0x80) // inside a UTF-8 character
        --end;
    return all.substr(0, end) + "...";
}

} // namespace gr::spead

#endif /* INCLUDED_SPEAD_CORE_SHORTENED_H */
