/* -*- c++ -*- */
/*
 * Copyright 2026 The gr-spead authors
 *
 * SPDX-License-Identifier: GPL-3.0-or-later
 */

#ifndef INCLUDED_SPEAD_NAMED_ERRORS_H
#define INCLUDED_SPEAD_NAMED_ERRORS_H

#include <new>
#include <stdexcept>
#include <string>

namespace gr::spead {

//! Calls \p call. Prefixes its errors with the name of the block, such as "spead.sink: ".
//! Converts std::bad_alloc to std::runtime_error.
template <typename function>
auto with_error_prefix(const char* block, function&& call)
{
    try {
        return call();
    } catch (const std::invalid_argument& error) {
        throw std::invalid_argument(std::string(block) + ": " + error.what());
    } catch (const std::runtime_error& error) {
        throw std::runtime_error(std::string(block) + ": " + error.what());
    } catch (const std::bad_alloc&) {
        throw std::runtime_error(std::string(block) +
                                 ": not enough memory; raise its limit (ulimit -v), or "
                                 "set a smaller buffer_size");
    }
}

} // namespace gr::spead

#endif /* INCLUDED_SPEAD_NAMED_ERRORS_H */
