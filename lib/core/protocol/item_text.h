/* -*- c++ -*- */
/*
 * Copyright 2026 The gr-spead authors
 *
 * SPDX-License-Identifier: GPL-3.0-or-later
 */

#ifndef INCLUDED_SPEAD_CORE_ITEM_TEXT_H
#define INCLUDED_SPEAD_CORE_ITEM_TEXT_H

#include <gnuradio/spead/item.h>

#include <cstdint>
#include <string>
#include <vector>

namespace gr::spead {

//! \name Items as text for errors, as users would write them
//! \{

std::string hexadecimal(std::int64_t id);
std::string to_text(const std::vector<std::int64_t>& values);
std::string to_text(const item& item);
std::string to_text(const std::vector<item>& items);

//! \}

} // namespace gr::spead

#endif /* INCLUDED_SPEAD_CORE_ITEM_TEXT_H */
