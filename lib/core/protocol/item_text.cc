/* -*- c++ -*- */
/*
 * Copyright 2026 The gr-spead authors
 *
 * SPDX-License-Identifier: GPL-3.0-or-later
 */

#include "item_text.h"
#include "support/checks.h"

#include <sstream>

namespace gr::spead {

std::string hexadecimal(std::int64_t id)
{
    std::ostringstream text;
    // show a negative number as it was given
    if (id < 0)
        text << id;
    else
        text << "0x" << std::hex << id;
    return text.str();
}

std::string to_text(const std::vector<std::int64_t>& values)
{
    std::string text;
    for (const auto value : values)
        text += (text.empty() ? "" : ", ") + std::to_string(value);
    return values.size() == 1 ? text : "[" + text + "]";
}

std::string to_text(const item& item)
{
    const std::string content = item.kind == item_kind::samples     ? "samples"
                                : item.kind == item_kind::timestamp ? "timestamp"
                                                                    : "immediate";
    const std::string value =
        item.kind == item_kind::immediate ? ", value=" + to_text(item.values) : "";
    return content + "(id=" + hexadecimal(item.id) + ", name=" + quoted(item.name) +
           value + ")";
}

std::string to_text(const std::vector<item>& items)
{
    std::string text;
    for (const auto& item : items)
        text += (text.empty() ? "" : ", ") + to_text(item);
    return "[" + text + "]";
}

} // namespace gr::spead
